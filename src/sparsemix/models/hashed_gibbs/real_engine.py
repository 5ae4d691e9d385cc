"""A chain of real rows: sums are added up anew from the assignment before each sweep, so that no rounding gathers."""

import numpy as np

from sparsemix.models.hashed_gibbs import joint_kernels, real_building, real_hash_kernels, real_kernels
from sparsemix.models.hashed_gibbs.engine import Plan, SeededChain, Visitor
from sparsemix.models.hashed_gibbs.real_signatures import frame_of, signatures_of
from sparsemix.models.hashed_gibbs.real_state import (
    FloatMatrix,
    FloatVector,
    IntVector,
    RealClusters,
    RealPrior,
)
from sparsemix.models.hashed_gibbs.signatures import Frame

REAL_PROPOSALS = ("auto", "exact", "hash")


class RealChain(SeededChain):
    """A chain of real rows.

    Parameters
    ----------
    rows : (n_rows, n_features) float64
    prior : RealPrior
    n_components : int
    plan : Plan
    seed : SeedSequence
    base : RealClusters, optional
        Clusters that hold other rows already, and come first.
    """

    def __init__(
        self,
        rows: FloatMatrix,
        prior: RealPrior,
        n_components: int,
        plan: Plan,
        seed: np.random.SeedSequence,
        base: RealClusters | None = None,
    ) -> None:
        super().__init__(len(rows), n_components, plan, seed)
        self.rows, self.prior, self._base = rows, prior, base
        self._add_all()

    def log_joint(self) -> float:
        """Log joint of rows and assignments, nats, up to a constant."""
        evidence = real_building.log_evidence(self.prior, self.clusters)
        return float(joint_kernels.log_prior(*self.prior.partition, self.clusters.sizes) + evidence.sum())

    def enter_in_order(self, uniforms: FloatVector) -> None:
        """Let all rows enter in their order, each drawn from its full conditional given those before it."""
        self.take_frame()
        order = np.arange(self.assigned.size)
        real_kernels.enter_rows(self.rows, self.prior, self.clusters, order, self.assigned, uniforms)

    def _add_all(self) -> None:
        state = (self.rows, self.prior, self.assigned, self._n_clusters)
        self.clusters: RealClusters = real_building.clusters_of(*state, self._base)

    def _lead(self, order: IntVector) -> None:
        """Real rows hold all features: they enter one after another."""

    def _enter(self, order: IntVector, rng: np.random.Generator) -> None:
        uniforms = rng.random(order.size)
        real_kernels.enter_rows(self.rows, self.prior, self.clusters, order, self.assigned, uniforms)

    def _begin_sweep(self) -> None:
        self._add_all()

    def _frame_now(self) -> Frame:
        return frame_of(self.rows, self.prior, self.clusters, is_raw=self.plan.form.is_raw)

    def _visitor(self, proposal: str, *, adapts: bool) -> Visitor:
        state = (self.rows, self.prior, self.clusters)
        if proposal == "exact":
            return lambda order, uniforms, tally: real_kernels.sweep_exact(
                *state, order, self.assigned, uniforms, tally
            )
        signatures = self._signed(signatures_of, *state, adapts=adapts)
        real_hash_kernels.renew_all(self.prior, self.clusters, signatures)
        return lambda order, uniforms, tally: real_hash_kernels.sweep_hash(
            *state, signatures, order, self.assigned, uniforms, tally
        )

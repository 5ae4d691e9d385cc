"""The public class of collapsed sampling with hashed and indexed proposals."""

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sparsemix.models.hashed_gibbs import checks
from sparsemix.models.hashed_gibbs.engine import Chain
from sparsemix.models.hashed_gibbs.mixture import GibbsMixture
from sparsemix.models.hashed_gibbs.runs import Settings
from sparsemix.models.hashed_gibbs.sampling import ChainMaker
from sparsemix.models.hashed_gibbs.state import Prior, Rows


class HashedGibbsMixture(GibbsMixture):
    """Mixture of very many clusters by collapsed Gibbs sampling, with proposals that look at few of them.

    Weights and profiles are integrated out; each visit to a row proposes another cluster and accepts it by
    Metropolis-Hastings, so that the chain has the exact posterior whatever the proposals (FASTEX, section 3).

    Parameters
    ----------
    n_components : int, default=100
        Clusters; with ``process="dp"`` the most that may have rows at a time.
    family : {"multinomial", "poisson", "bernoulli"}, default="multinomial"
        Words of a text, independent counts, or presence of keywords.
    proposal : {"auto", "index", "hash", "exact"}, default="auto"
        "index" looks at clusters that hold the row's rare features, at a cost that does not grow with `n_components`;
        "hash" at binary signatures of all clusters; "exact" at all clusters in full. "auto" takes "exact" for few
        clusters, else "index".
    process : {"finite", "dp"}, default="finite"
        Symmetric Dirichlet over the clusters, or a Dirichlet process (Pitman-Yor with a `discount`).
    weight_concentration : float, default=1.0
        Pseudo-count of rows in each cluster, of the finite prior.
    concentration, discount : float, default=1.0 and 0.0
        Of the process; a discount lies in [0, 1).
    smoothing : float, default=0.1
        Pseudo-count of every feature in every cluster, multinomial rows.
    prior_mean, prior_strength : "empirical" or float, and float, default="empirical" and 1.0
        Mean of the features' probabilities (Bernoulli) or rates (Poisson), and how many rows it counts for.
    n_sweeps, burn_in, thin : int, default=40, 20, 4
        Visits to all rows; how many come before the first draw is kept; and one draw for how many.
    n_chains : int, default=1
        Independent chains.
    init : {"sequential", "mixed", "random"} or (n_rows,) array of int, default="sequential"
        Rows enter one after another among the rows before them; or a fifth of them starts anywhere, and the others
        enter; or all start anywhere; or in given clusters, such as the `labels_` of another model, where rows with -1
        enter after the others.
    n_bits : int, default=256
        Bits of a signature, for "hash": 64, 128, ... 4096, or less than 64.
    raw : bool, default=False
        Signatures of the parameters as they are, as in the paper; the default takes their common mean away and
        scales the features, without which proposals are next to random.
    miss : float in (0, 1) or None, default=None
        For "hash": how probable it may be that an angle is estimated too large (Theorem 3); None is no such bound.
    tempering : float in (0, 1], default=1.0
        Factor of the log proposal, for "hash"; less is bolder.
    index_budget : int, default=512
        Entries of the index that a proposal looks at, for "index".
    binarize : float >= 0 or None, default=None
        For Bernoulli rows: values above it count as present. None takes zeros and ones only.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
        Go on with a `fit` that was interrupted, to the same bits as without; X and parameters must be the same.
    n_jobs : int or None, default=None
        Threads, each of which runs chains of its own; the answer does not depend on it.
    verbose : int, default=0
        Print a line a sweep.

    Attributes
    ----------
    labels_ : (n_rows,) ndarray of int
        The partition with the least expected variation of information over all draws, largest cluster first.
    draws_ : (n_draws, n_rows) ndarray of int32
        Kept draws, chain after chain; labels mean nothing across draws.
    weights_ : (n_clusters,) ndarray
        Probability that the next row is of each cluster of `labels_`.
    component_ids_ : (n_clusters,) ndarray of int
    log_joint_ : (n_chains, n_sweeps) ndarray
        Log joint of rows and assignments after each sweep, nats, up to a constant.
    n_clusters_ : (n_chains, n_sweeps) ndarray of int
        Clusters with rows.
    acceptance_rate_ : float
        Accepted share of the proposals of another cluster, over all chains.
    moves_ : (n_chains, n_sweeps) ndarray of int
        Rows that changed their cluster.
    is_complete_ : bool
        False after an interrupted `fit`.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    Cost of a visit to a row with f features: "index" O(index_budget + f); "hash" O(n_components n_bits / 64 +
    f n_bits); "exact" O(n_components + entries of the index for its features). Memory: O(nnz + n_components), "hash"
    also O((n_features + n_components) n_bits).

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 30)
    >>> texts = rng.poisson(np.where(truth[:, None] == np.arange(10) // 5, 1.0, 0.05))
    >>> model = sm.HashedGibbsMixture(20, process="dp", random_state=0).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[29]), bool(model.labels_[0] == model.labels_[30])
    (True, False)
    """

    model_kind: ClassVar[str] = "hashed-gibbs-mixture"
    starts: ClassVar[tuple[str, ...]] = ("sequential", "mixed", "random")

    def __init__(
        self,
        n_components: int = 100,
        *,
        family: str = "multinomial",
        proposal: str = "auto",
        process: str = "finite",
        weight_concentration: float = 1.0,
        concentration: float = 1.0,
        discount: float = 0.0,
        smoothing: float = 0.1,
        prior_mean: str | float = "empirical",
        prior_strength: float = 1.0,
        n_sweeps: int = 40,
        burn_in: int = 20,
        thin: int = 4,
        n_chains: int = 1,
        init: str | ArrayLike = "sequential",
        n_bits: int = 256,
        raw: bool = False,
        miss: float | None = None,
        tempering: float = 1.0,
        index_budget: int = 512,
        binarize: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.family = family
        self.proposal = proposal
        self.process = process
        self.weight_concentration = weight_concentration
        self.concentration = concentration
        self.discount = discount
        self.smoothing = smoothing
        self.prior_mean = prior_mean
        self.prior_strength = prior_strength
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.init = init
        self.n_bits = n_bits
        self.raw = raw
        self.miss = miss
        self.tempering = tempering
        self.index_budget = index_budget
        self.binarize = binarize
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_alone(self) -> None:
        checks.plan(self)

    def _chain_maker(self, rows: Rows, prior: Prior, settings: Settings) -> ChainMaker:
        return partial(Chain, rows, prior, settings.n_components, checks.plan(self))

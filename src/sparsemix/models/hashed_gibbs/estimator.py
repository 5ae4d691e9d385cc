"""The public class of collapsed sampling with hashed and indexed proposals."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sparsemix.foundation.checks import at_least
from sparsemix.foundation.errors import parameter_error
from sparsemix.models.hashed_gibbs import checks, entering
from sparsemix.models.hashed_gibbs.engine import Chain
from sparsemix.models.hashed_gibbs.mixture import GibbsMixture
from sparsemix.models.hashed_gibbs.reading import check_sums
from sparsemix.models.hashed_gibbs.real_engine import RealChain
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES, RealPrior
from sparsemix.models.hashed_gibbs.runs import Settings
from sparsemix.models.hashed_gibbs.sampling import ChainMaker
from sparsemix.models.hashed_gibbs.solution import Solution
from sparsemix.models.hashed_gibbs.state import FAMILIES, FloatMatrix


class HashedGibbsMixture(GibbsMixture):
    """Mixture of very many clusters by collapsed Gibbs sampling, with proposals that look at few of them.

    Weights and profiles are integrated out; each visit to a row proposes another cluster and accepts it by
    Metropolis-Hastings, so that the chain has the exact posterior whatever the proposals (FASTEX, section 3).

    Parameters
    ----------
    n_components : int, default=100
        Clusters; with ``process="dp"`` the most that may have rows at a time.
    family : {"multinomial", "poisson", "bernoulli", "gaussian", "gaussian_full"}, default="multinomial"
        Words of a text, independent counts, presence of keywords, or real numbers in dense rows of few features:
        Gaussians of independent features, or with full covariances.
    proposal : {"auto", "index", "hash", "exact"}, default="auto"
        "index" looks at clusters that hold the row's rare features, at a cost that does not grow with `n_components`;
        "hash" at binary signatures of all clusters; "exact" at all clusters in full. Several with commas between them
        take turns, a sweep each: ``"index,index,exact"``. "auto" takes "exact" for up to 500 clusters, for Gaussian
        rows, and where at the start most features are in so many clusters that `index_budget` entries do not hold
        four features of most rows; else "index".
    process : {"finite", "dp"}, default="finite"
        Symmetric Dirichlet over the clusters, or a Dirichlet process (Pitman-Yor with a `discount`).
    weight_concentration : float, default=1.0
        Pseudo-count of rows in each cluster, of the finite prior.
    concentration, discount : float, default=1.0 and 0.0
        Of the process; a discount lies in [0, 1). Without effect on `process="finite"`.
    smoothing : float, default=0.1
        Pseudo-count of every feature in every cluster, multinomial rows; of Gaussian rows the share of the variance of
        the data that is expected inside clusters.
    prior_mean, prior_strength : "empirical" or float, and float, default="empirical" and 1.0
        Mean of the features' probabilities (Bernoulli) or rates (Poisson), and how many rows it counts for.
    n_sweeps, burn_in, thin : int, default=40, 20, 4
        Visits to all rows; how many come before the first draw is kept; and one draw for how many.
    n_chains : int, default=1
        Independent chains.
    init : {"leader", "sequential", "mixed", "random"} or (n_rows,) array of int, default="leader"
        One pass of a leader clustering by rare features, after which rows that it leaves enter one after another; or
        all rows enter so, each among those before it, as Gaussian rows do with "leader", too; or a fifth of them starts
        anywhere, and the others enter; or all start anywhere; or in given clusters, such as the `labels_` of another
        model, where rows with -1 enter after the others.
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
    n_shards : int, default=1
        Rows are visited in so many shards side by side, on the threads of `n_jobs` that chains leave. Shards see each
        other's moves after every 50,000 rows only: an approximation, and its own one for each number. 1 is exact.
        For rows of counts and the proposals "exact" and "index".
    binarize : float >= 0 or None, default=None
        For Bernoulli rows: values above it count as present. None takes zeros and ones only.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
        Go on with a `fit` that was interrupted, to the same bits as without. X and what decides the posterior and the
        draws must be the same; start and seed stay those of that fit, and other proposals hold for sweeps to come.
    n_jobs : int or None, default=None
        Threads, which share chains and, if there are more, shards; the answer does not depend on it.
    verbose : int, default=0
        Print a line a sweep.

    Attributes
    ----------
    labels_ : (n_rows,) ndarray of int
        The partition with the least expected variation of information over all draws, largest cluster first; after
        `partial_fit` the clusters of the rows of that call. A model file has none.
    draws_ : (n_draws, n_rows) ndarray of int32
        Kept draws, chain after chain; labels mean nothing across draws.
    weights_ : (n_clusters,) ndarray
        Probability that the next row is of each cluster of `labels_`.
    component_ids_ : (n_clusters,) ndarray of int
    n_rows_seen_ : int
        Rows of `fit` and `partial_fit`.
    log_joint_ : (n_chains, n_sweeps) ndarray
        Log joint of rows and assignments after each sweep, nats, up to a constant; of clusters with labels, so that
        partitions with different numbers of clusters differ by the ways to label them as well.
    n_clusters_ : (n_chains, n_sweeps) ndarray of int
        Clusters with rows.
    acceptance_rate_ : float
        Accepted share of the proposals of another cluster, over all chains.
    moves_ : (n_chains, n_sweeps) ndarray of int
        Rows that changed their cluster.
    is_complete_ : bool
        False after an interrupted `fit`.
    means_ : (n_clusters, n_features) ndarray
        Posterior means of the features, Gaussian rows only.
    covariances_ : (n_clusters, n_features) or (n_clusters, n_features, n_features) ndarray
        Posterior means of the variances, or of the full covariances; Gaussian rows only.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    Cost of a visit to a row with f features: "index" O(index_budget + f); "hash" O(n_components n_bits / 64 +
    f n_bits); "exact" O(n_components + entries of the index for its features). Memory: O(nnz + n_components), "hash"
    also O((n_features + n_components) n_bits). Gaussian rows: a visit by "exact" is O(n_components p) and one by "hash"
    O(n_components n_bits / 64 + p n_bits), with p parameters of a cluster, twice the features or about half their
    square; memory O((n_rows + n_components) p).

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
    families: ClassVar[tuple[str, ...]] = (*FAMILIES, *REAL_FAMILIES)
    starts: ClassVar[tuple[str, ...]] = ("leader", "sequential", "mixed", "random")

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
        init: str | ArrayLike = "leader",
        n_bits: int = 256,
        raw: bool = False,
        miss: float | None = None,
        tempering: float = 1.0,
        index_budget: int = 512,
        n_shards: int = 1,
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
        self.n_shards = n_shards
        self.binarize = binarize
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def partial_fit(self, X: Any, y: object = None, *, n_sweeps: int = 0) -> Self:  # noqa: ARG002
        """Let new rows enter the clusters one after another; rows that were learnt before stay where they are.

        Each row is drawn from its full conditional given all rows before it, so that it may begin a cluster as long as
        there are less than `n_components`. Clusters keep their numbers. The first call is a `fit`. Afterwards
        `labels_` are the clusters of the new rows alone, so that a model does not grow with the rows.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Columns are matched by name, and those with new names are new features, which no earlier row holds; Gaussian
            rows have the same features as before.
        y : ignored
        n_sweeps : int, default=0
            Visits to the new rows, once all have entered, which put right what the first of them could not know.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` holds values that the family does not know, or other columns without names.

        Notes
        -----
        Cost of a row: O(n_components + cells of its features), with a process O(clusters with rows + cells), Bernoulli
        rows also O(n_features), Gaussian ones as for "exact"; of a sweep, as in `fit`. Draws come from `random_state`
        and the number of rows that were learnt before, so that a model from a file goes on to the same bits.

        Examples
        --------
        >>> import sparsemix as sm
        >>> model = sm.HashedGibbsMixture(20, process="dp", random_state=0).fit([[4, 0], [3, 0], [0, 5]])
        >>> model.labels_.tolist(), model.partial_fit([[6, 0], [0, 4]]).labels_.tolist()
        ([0, 0, 1], [0, 1])
        """
        owner = type(self).__name__
        at_least("n_sweeps", "partial_fit", n_sweeps, 0, most=checks.MOST_SWEEPS)
        if not self.__sklearn_is_fitted__():
            return self.fit(X)
        before, table = self._solution(), self._table(X)
        if self.family != before.hyper.family:
            remedy = "To learn rows of another family call fit, which begins anew."
            raise parameter_error("family", owner, repr(before.hyper.family), self.family, remedy)
        settings, plan = checks.settings_of(self), checks.plan(self, before.hyper.family)
        matrix, features = table.joined(before.features, owner)
        if not table.n_rows:
            return self
        n_clusters = entering.n_places(before, settings.n_components, table.n_rows)
        n_parameters = checks.sums_of(self, n_clusters, before.hyper.family, features.n_features)
        if n_sweeps and "hash" in plan.cycle:
            checks.bits(self, n_clusters, n_parameters)
        if isinstance(before, Solution):
            sums = matrix.sum(axis=0)
            sums[: before.features.n_features] += before.counts.sum(axis=0)
            check_sums(sums, features.names, owner)
        plan = plan._replace(n_threads=settings.n_threads)
        seed = np.random.SeedSequence([settings.seed, self.n_rows_seen_])
        after, labels = entering.enter(before, matrix, features, n_clusters, plan, int(n_sweeps), seed)
        self._run = None  # which has other rows
        self.labels_ = labels
        self._adopt(after)
        return self

    @property
    def takes_real_numbers(self) -> bool:
        """Whether rows are points of real numbers, of which every one has all features."""
        return self.family in REAL_FAMILIES

    @property
    def means_(self) -> FloatMatrix:
        """Posterior means of the features of Gaussian rows."""
        return self._gaussian().means

    @property
    def covariances_(self) -> FloatMatrix:
        """Posterior means of the variances or covariances of Gaussian rows."""
        return self._gaussian().covariances

    def _gaussian(self) -> RealSolution:
        solution = self._opened()
        if not isinstance(solution, RealSolution):
            raise AttributeError(
                f"clusters of the family {solution.hyper.family!r} have no means and covariances"
            )
        return solution

    def _check_alone(self) -> None:
        checks.plan(self, self.family)

    def _chain_maker(self, rows: Any, prior: Any, settings: Settings) -> ChainMaker:
        chain: Any = RealChain if isinstance(prior, RealPrior) else Chain
        plan = checks.plan(self, self.family)._replace(n_threads=settings.threads_of_a_chain())
        return partial(chain, rows, prior, settings.n_components, plan)

"""The public class of collapsed sampling with hashed and indexed proposals."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.foundation.checks import rows_to_draw
from sparsemix.foundation.errors import parameter_error
from sparsemix.models.hashed_gibbs import answers, building, checks, payload
from sparsemix.models.hashed_gibbs.reading import Table
from sparsemix.models.hashed_gibbs.sampling import Progress, sample
from sparsemix.models.hashed_gibbs.solution import (
    Solution,
    log_evidence,
    log_weights,
    responsibilities,
    scores,
    solution_of,
)
from sparsemix.models.hashed_gibbs.state import FloatMatrix, FloatVector, IntVector
from sparsemix.numeric.seeds import generator
from sparsemix.persistence import Payload


class HashedGibbsMixture(ClusterMixin, BaseEstimator):
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
    init : {"sequential", "random"} or (n_rows,) array of int, default="sequential"
        Rows enter one after another among the rows before them; or start anywhere; or in given clusters, such as the
        `labels_` of another model, where rows with -1 enter after the others.
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
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: object = None, *, on_sweep: Callable[[Progress], None] | None = None) -> Self:  # noqa: ARG002
        """Sample the clusters of all rows.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Whole numbers >= 0; zeros and ones for Bernoulli rows.
        y : ignored
        on_sweep : callable, optional
            Told a `Progress` after each sweep; what it raises ends the fit.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows, or holds values that the family does not know, or `init` does not fit.
        """
        if on_sweep is not None and not callable(on_sweep):
            raise parameter_error("on_sweep", type(self).__name__, "callable or None", on_sweep)
        asked = checks.settings_of(self)
        checks.hyperparameters_alone(self)
        plan = checks.plan(self)
        table = Table(X, self.family, self.binarize, type(self).__name__)
        features = table.features(type(self).__name__)
        hyper = checks.hyperparameters(self, table)
        start = checks.start_of(self, table.n_rows)
        settings = checks.size(self, asked, table)
        matrix = table.matrix
        rows = building.rows_of(matrix.indptr, matrix.indices, matrix.data, table.n_features)
        prior = building.prior_of(rows, **hyper._asdict())

        def follow(progress: Progress) -> None:
            if self.verbose:
                of = f"[{type(self).__name__}] chain {progress.chain + 1}, sweep {progress.sweep + 1}"
                print(
                    f"{of}: log joint {progress.result.log_joint:.6g}, {progress.result.n_moved} rows moved"
                )
            if on_sweep is not None:
                on_sweep(progress)

        trace = sample(rows, prior, plan, settings, start, follow)
        self.draws_, self.labels_ = trace.draws, trace.labels
        self.log_joint_ = np.array([[each.log_joint for each in chain] for chain in trace.sweeps])
        self.n_clusters_ = np.array([[each.n_clusters for each in chain] for chain in trace.sweeps])
        self.moves_ = np.array([[each.n_moved for each in chain] for chain in trace.sweeps])
        n_proposed = sum(each.n_proposed for chain in trace.sweeps for each in chain)
        self.acceptance_rate_ = float(self.moves_.sum() / max(n_proposed, 1))
        self._adopt(solution_of(hyper, matrix, trace.labels, features))
        return self

    @property
    def takes_counts(self) -> bool:
        """Whether features share one probability, and count as often as they stand in a row."""
        return self.family == "multinomial"

    @property
    def weights_(self) -> FloatVector:
        """Probability that the next row is of each cluster, (n_clusters,); with a process the rest is for new ones."""
        return np.exp(log_weights(self._opened()))

    @property
    def component_ids_(self) -> IntVector:
        """Ids of the clusters, ``0 .. n_clusters - 1``."""
        return np.arange(self._opened().sizes.size)

    def predict(self, X: Any) -> IntVector:
        """Most probable cluster of each row, the first of equals; (n_rows,)."""
        found = self._ask(X, lambda part: part.argmax(axis=1))
        return np.concatenate([np.empty(0, np.int64), *found])

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Posterior probabilities of the clusters of `labels_`, given the row; (n_rows, n_clusters)."""
        found = self._ask(X, responsibilities)
        return np.vstack([np.empty((0, self._opened().sizes.size)), *found])

    def score_samples(self, X: Any) -> FloatVector:
        """Log probability of each row, nats; (n_rows,). A row's score does not depend on the others.

        Of multinomial rows it is that of the words in their order.
        """
        return np.concatenate([np.empty(0), *self._ask(X, log_evidence)])

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002  (scikit-learn's signature)
        """Mean log probability of the rows, nats."""
        return answers.mean(self.score_samples(X), "score")

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,)."""
        solution = self._solution()
        return np.asarray(self._table(X).known(solution.features, type(self).__name__)[1])

    def top_features(
        self, n: int = 10, *, by: str = "evidence", level: float = 0.95
    ) -> list[ComponentSummary]:
        """The features that stand for each cluster.

        Parameters
        ----------
        n : int, default=10
            Features per cluster.
        by : {"evidence", "mean", "lift"}, default="evidence"
            "evidence" sorts by smoothed count, "mean" by probability, "lift" by the lower end of its interval over the
            probability in all rows.
        level : float in (0, 1), default=0.95
            Mass of the credible intervals.

        Returns
        -------
        list of ComponentSummary
            One for each cluster.
        """
        return answers.top_features(self._solution(), n, by, level)

    def suggest(
        self, accepted: Any, reject: Any = (), *, n: int = 10, level: float | None = 0.95
    ) -> list[Suggestion]:
        """Suggest features that go with those of a row.

        Parameters
        ----------
        accepted, reject : sequence of str or int
            Features that the row holds, and that it shall not hold; all others are not observed.
        n : int, default=10
        level : float in (0, 1) or None, default=0.95
            Mass of the credible intervals; None leaves them out, which is faster.

        Returns
        -------
        list of Suggestion
            Most probable first.

        Raises
        ------
        ParameterError
            If a feature is not known; close matches are named.
        """
        return answers.suggest(self._solution(), accepted, reject, n, level)

    def sample(
        self, n_rows: int = 1, *, random_state: int | np.random.Generator | None = None
    ) -> tuple[Any, IntVector]:
        """Draw rows from the clusters of `labels_` at their posterior means.

        Parameters
        ----------
        n_rows : int, default=1
        random_state : int, Generator or None

        Returns
        -------
        rows : (n_rows, n_features_in_) csr_array
            Rows of a multinomial have Poisson lengths with the mean that was learnt.
        components : (n_rows,) ndarray of int
            The cluster each was drawn from.
        """
        solution = self._solution()
        rows_to_draw(n_rows)
        return answers.sample(solution, int(n_rows), generator(random_state, "sample"))

    def to_payload(self) -> Payload:
        """The exact state for a model file: clusters and their counts, but neither draws nor labels of rows."""
        check_is_fitted(self)
        return payload.pack(self.model_kind, self.get_params(), self._solution())

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**payload.parameters_of(stored, cls))
        model._adopt(payload.unpack(stored))
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_clusters")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.family != "bernoulli"
        return tags

    def _table(self, X: Any) -> Table:
        return Table(X, self._solution().hyper.family, self.binarize, type(self).__name__)

    def _adopt(self, solution: Solution) -> None:
        self._clusters = solution
        self.n_features_in_ = solution.features.n_features
        if hasattr(self, "feature_names_in_"):
            delattr(self, "feature_names_in_")
        if solution.features.names is not None:
            self.feature_names_in_ = solution.features.names

    def _opened(self) -> Solution:
        """The clusters; AttributeError, as Python has it for missing attributes, before there are any."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any rows yet: call fit")
        return self._clusters

    def _solution(self) -> Solution:
        check_is_fitted(self)
        return self._clusters

    def _ask(self, X: Any, question: Callable[[FloatMatrix], Any]) -> list[Any]:
        solution = self._solution()
        table = self._table(X)
        matrix, is_unknown = table.known(solution.features, type(self).__name__)
        if is_unknown.any():
            warn_of_unknown_rows(int(is_unknown.sum()), table.n_rows)
        return list(scores(solution, matrix, question))

"""The public class of clusters in time, by Gibbs sampling."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.time_sensitive import answers, building, checks, payload
from sparsemix.models.time_sensitive.engine import Chain
from sparsemix.models.time_sensitive.reading import Table
from sparsemix.models.time_sensitive.sampling import Progress, Settings, Trace, sample
from sparsemix.models.time_sensitive.solution import (
    Scores,
    Solution,
    log_evidence,
    log_weights,
    new_share,
    responsibilities,
    scores,
    sums_of,
)
from sparsemix.models.time_sensitive.state import FloatMatrix, FloatVector, IntVector
from sparsemix.models.time_sensitive.time_kernels import TimeKernel
from sparsemix.models.time_sensitive.times import times_of
from sparsemix.persistence import Payload


class TimeSensitiveMixture(ClusterMixin, BaseEstimator):
    """Clusters in time: a Dirichlet process mixture in which old rows count less, by collapsed Gibbs sampling.

    A row joins a cluster with a probability that grows with the cluster's recent rows, as weighed by a time kernel, or
    begins a new one (TDPM, eq 5). The number of clusters follows from the data. With the step kernel it is the standard
    Dirichlet process mixture, which knows no time.

    Parameters
    ----------
    concentration : float, default=1.0
        Weight of a new cluster, beside the weight 1 of a row that has just come.
    time_kernel : {"exponential", "step"} or TimeKernel, default="exponential"
    decay_rate, half_life : float per second, and duration such as "3d", default=None
        Of the exponential kernel; give one. Without either the half-life is 7 days.
    strict : bool, default=False
        Whether rows of equal times know nothing of each other, as in the paper. Else the later in `X` sees the earlier.
    family : {"multinomial", "bernoulli"}, default="multinomial"
        Words of a text, or presence of keywords.
    smoothing : float, default=0.1
        Pseudo-count of every feature in every cluster, multinomial rows.
    prior_mean, prior_strength : "empirical" or float, and float, default="empirical" and 1.0
        Mean of the features' probabilities, and how many rows it counts for; Bernoulli rows.
    n_sweeps, burn_in, thin : int, default=60, 20, 4
        Visits to all rows; how many come before the first draw is kept; and one draw for how many.
    split_merge : float >= 0, default=0.2
        Moves for each row in a sweep that propose to cut a cluster in two or to join two.
    n_chains : int, default=1
        Independent chains.
    init : "sequential" or (n_rows,) array of int, default="sequential"
        Rows enter one after another in the order of time; or start in given clusters, and those with -1 enter.
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
        One partition for all draws, largest cluster first: that of the least expected variation of information that a
        search finds; with a kernel of bounded support the best draw.
    draws_ : (n_draws, n_rows) ndarray of int32
        Kept draws, chain after chain; labels mean nothing across draws.
    log_joint_ : (n_chains, n_sweeps) ndarray
        Log probability of rows and partition together after each sweep, nats.
    n_clusters_, moves_, split_merges_ : (n_chains, n_sweeps) ndarray of int
        Clusters after each sweep, rows that changed theirs one by one, and clusters that were cut or joined.
    weights_ : (n_clusters,) ndarray
    component_ids_ : (n_clusters,) ndarray of int
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    A sweep visits rows in the order of time and looks only at clusters that have rows before and after the visited one,
    that are about to begin, or whose history still weighs more than 1e-12 of a new cluster. For a row with f features
    it costs O(those clusters + f times those of them that hold the feature), and with the exponential kernel the
    members that come within its memory; other kernels add up all members within their support. Memory is O(nnz).

    Examples
    --------
    Two threads about the same words, ten days apart:

    >>> import numpy as np
    >>> import sparsemix as sm
    >>> days = np.concatenate([np.arange(6) / 6, 10 + np.arange(6) / 6])
    >>> texts = np.tile([[2, 1, 0], [1, 2, 0]], (6, 1))
    >>> model = sm.TimeSensitiveMixture(half_life="6h", concentration=0.1, random_state=0)
    >>> model.fit(texts, times=days * 86400).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """

    model_kind: ClassVar[str] = "time-sensitive-mixture"

    def __init__(
        self,
        concentration: float = 1.0,
        *,
        time_kernel: str | TimeKernel = "exponential",
        decay_rate: float | None = None,
        half_life: Any = None,
        strict: bool = False,
        family: str = "multinomial",
        smoothing: float = 0.1,
        prior_mean: str | float = "empirical",
        prior_strength: float = 1.0,
        n_sweeps: int = 60,
        burn_in: int = 20,
        thin: int = 4,
        split_merge: float = 0.2,
        n_chains: int = 1,
        init: str | ArrayLike = "sequential",
        binarize: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.concentration = concentration
        self.time_kernel = time_kernel
        self.decay_rate = decay_rate
        self.half_life = half_life
        self.strict = strict
        self.family = family
        self.smoothing = smoothing
        self.prior_mean = prior_mean
        self.prior_strength = prior_strength
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.split_merge = split_merge
        self.n_chains = n_chains
        self.init = init
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002
        *,
        times: Any = None,
        on_sweep: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Sample the clusters of all rows.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Whole numbers >= 0; zeros and ones for Bernoulli rows.
        y : ignored
        times : (n_rows,) ISO texts, seconds since 1970 or datetimes, in any order
            None takes those of a Dataset. The step kernel needs none.
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
            If `X` has no rows, or holds values that the family does not know, or `times` or `init` do not fit.
        """
        owner = type(self).__name__
        if on_sweep is not None and not callable(on_sweep):
            raise parameter_error("on_sweep", owner, "callable or None", on_sweep)
        settings, kernel = checks.settings_of(self), checks.kernel_of(self)
        checks.hyperparameters_alone(self)
        table = Table(X, self.family, self.binarize, owner)
        features = table.features(owner)
        seconds = times_of(X, times, table.n_rows, owner, needed=kernel.kind != "step")
        hyper, start = checks.hyperparameters(self, table), checks.start_of(self, table.n_rows)
        checks.memory(self, settings, table.n_rows)
        order = np.argsort(seconds, kind="stable")
        matrix = table.matrix[order]
        learnt = Solution(hyper, kernel, seconds[order], start[order], matrix, None, features)
        trace = self._sample(learnt, settings, partial(self._follow, on_sweep))
        self._record(trace, order)
        counts = sums_of(matrix, trace.labels)
        self._adopt(learnt._replace(labels=trace.labels, counts=counts))
        return self

    def _sample(self, begun: Solution, settings: Settings, follow: Callable[[Progress], None]) -> Trace:
        hyper, n_rows = begun.hyper, begun.times.size
        rows = building.rows_of(begun.matrix, np.arange(n_rows))
        numbers = (hyper.family, hyper.concentration, hyper.a, hyper.b)
        prior = building.prior_of(rows, begun.features.n_features, *numbers)
        timing = building.timing_of(begun.kernel, begun.times, hyper.concentration, strict=hyper.strict)
        if not building.fill(building.no_clusters(n_rows), timing, begun.labels):
            raise DataError(
                f"'init' of {type(self).__name__} must put no row into a cluster of which nothing weighs any more, but "
                f"this kernel forgets. Set init='sequential'."
            )
        search = bool(np.isinf(timing.support))
        return sample(
            partial(Chain, rows, prior, timing, float(self.split_merge)),
            settings,
            begun.labels,
            follow,
            search=search,
        )

    def _follow(self, on_sweep: Callable[[Progress], None] | None, progress: Progress) -> None:
        if self.verbose:
            of = f"[{type(self).__name__}] chain {progress.chain + 1}, sweep {progress.sweep + 1}"
            print(
                f"{of}: log joint {progress.result.log_joint:.6g}, {progress.result.n_clusters} clusters, "
                f"{progress.result.n_moved} rows moved"
            )
        if on_sweep is not None:
            on_sweep(progress)

    def _record(self, trace: Trace, order: IntVector) -> None:
        self.draws_, self.labels_ = np.empty_like(trace.draws), np.empty_like(trace.labels)
        self.draws_[:, order], self.labels_[order] = trace.draws, trace.labels
        self.log_joint_ = np.array([[each.log_joint for each in chain] for chain in trace.sweeps])
        self.n_clusters_ = np.array([[each.n_clusters for each in chain] for chain in trace.sweeps])
        self.moves_ = np.array([[each.n_moved for each in chain] for chain in trace.sweeps])
        self.split_merges_ = np.array([[each.n_split_merge for each in chain] for chain in trace.sweeps])

    @property
    def takes_counts(self) -> bool:
        """Whether features share one probability, and count as often as they stand in a row."""
        return self.family == "multinomial"

    @property
    def weights_(self) -> FloatVector:
        """Share of the rows in each cluster, (n_clusters,), a little less, since new ones have theirs."""
        return np.exp(log_weights(self._opened()))

    @property
    def component_ids_(self) -> IntVector:
        """Ids of the clusters, ``0 .. n_clusters - 1``."""
        return np.arange(self._opened().counts.shape[0])

    def predict(self, X: Any, *, times: Any = None) -> IntVector:
        """Most probable cluster of each row at its time, the first of equals; (n_rows,)."""
        return np.asarray(self.predict_proba(X, times=times).argmax(axis=1))

    def predict_proba(self, X: Any, *, times: Any = None) -> FloatMatrix:
        """Posterior probabilities of the clusters of `labels_`, given row and time; (n_rows, n_clusters).

        A row is looked at as if it had been among those that were learnt. Rows sum to one; how probable it is that one
        begins a cluster of its own is told by `new_cluster_probability`. Where the time rules out all clusters, it is
        left out.
        """
        ask = lambda found, rows: responsibilities(self._clusters, found, rows)  # noqa: E731
        return np.vstack([np.empty((0, self._solution().counts.shape[0])), *self._ask(X, times, ask)])

    def new_cluster_probability(self, X: Any, *, times: Any = None) -> FloatVector:
        """Probability that a row is in none of the clusters of `labels_`; (n_rows,)."""
        return np.concatenate([np.empty(0), *self._ask(X, times, lambda found, _: new_share(found))])

    def score_samples(self, X: Any, *, times: Any = None) -> FloatVector:
        """Log probability of each row, given its time, nats; (n_rows,). A row's score does not depend on the others.

        Of multinomial rows it is that of the words in their order.
        """
        return np.concatenate([np.empty(0), *self._ask(X, times, lambda found, _: log_evidence(found))])

    def score(self, X: Any, y: object = None, *, times: Any = None) -> float:  # noqa: ARG002
        """Mean log probability of the rows, nats."""
        found = self.score_samples(X, times=times)
        if not found.size:
            raise DataError("'X' of score must have at least one row, but it has none. Add rows.")
        return float(found.mean())

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,)."""
        solution = self._solution()
        return np.asarray(self._table(X).known(solution.features, type(self).__name__)[1])

    def threads(self, n_features: int = 5, *, n_bins: int = 20) -> list[answers.Thread]:
        """Clusters as threads: when they were alive, how much, and about what.

        Parameters
        ----------
        n_features : int, default=5
            Distinctive features of each.
        n_bins : int, default=20
            Parts into which the time of all rows is cut for the timelines.

        Returns
        -------
        list of Thread
            In the order of their first rows.
        """
        return answers.threads(self._solution(), n_features, n_bins)

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
        """Suggest features that go with those of a row, whatever its time.

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

    def to_payload(self) -> Payload:
        """The exact state for a model file: rows, their times and clusters, but no draws.

        ParameterError if the time kernel is a function.
        """
        check_is_fitted(self)
        parameters = self.get_params()
        if not isinstance(self.init, str):
            parameters["init"] = "sequential"
        if not isinstance(self.half_life, str | float | int | None):
            parameters["half_life"] = self.half_life.total_seconds()
        return payload.pack(self.model_kind, parameters, self._clusters)

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

    def _adopt(self, solution: Solution) -> None:
        self._clusters = solution
        self._features = solution.features
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

    def _table(self, X: Any) -> Table:
        checks.binarize(self)
        return Table(X, self._solution().hyper.family, self.binarize, type(self).__name__)

    def _ask(self, X: Any, times: Any, question: Callable[[Scores, Any], Any]) -> list[Any]:
        solution, owner = self._solution(), type(self).__name__
        table = self._table(X)
        matrix, is_unknown = table.known(solution.features, owner)
        seconds = times_of(X, times, table.n_rows, owner, needed=solution.kernel.kind != "step")
        if is_unknown.any():
            warn_of_unknown_rows(int(is_unknown.sum()), table.n_rows)
        step, found = 0, []
        for part in scores(solution, matrix, seconds):
            n = part.log_weight.size
            found.append(question(part, matrix[step : step + n]))
            step += n
        return found

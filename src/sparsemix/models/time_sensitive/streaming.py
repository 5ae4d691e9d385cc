"""The public class of clusters in time, in one pass over a stream."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.clusters import mean_score
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.checks import rows_to_draw, threshold
from sparsemix.models.time_sensitive import checks, drawing, stream_answers, stream_checks, stream_payload
from sparsemix.models.time_sensitive.reading import Table
from sparsemix.models.time_sensitive.solution import Scores, log_evidence, new_share
from sparsemix.models.time_sensitive.state import FAMILIES, FloatMatrix, FloatVector, IntVector
from sparsemix.models.time_sensitive.stream import Stream, stream_rows
from sparsemix.models.time_sensitive.time_kernels import TimeKernel
from sparsemix.models.time_sensitive.times import given_times, times_of
from sparsemix.numeric.seeds import generator
from sparsemix.persistence import Payload
from sparsemix.persistence.unpacking import parameters_of


class StreamingTimeSensitiveMixture(ClusterMixin, BaseEstimator):
    """Clusters in time over a stream that never ends: one pass, and memory for live clusters only.

    Each row goes where the model of `TimeSensitiveMixture` has it with the highest probability, given the rows before
    it: into a live cluster, by the weight of its history times the predictive of the row, or into a new one. A cluster
    ends when its history weighs next to nothing. Ids are never used again.

    Parameters
    ----------
    concentration : float, default=1.0
        Weight of a new cluster, beside the weight 1 of a row that has just come.
    time_kernel : {"exponential", "step"} or such a TimeKernel, default="exponential"
        With "step" clusters never end, and memory grows with them. Other kernels need each row of the past.
    decay_rate, half_life : float per second, and duration such as "3d", default=None
        Of the exponential kernel; give one. Without either the half-life is 7 days.
    family : {"multinomial", "bernoulli"}, default="multinomial"
        Words of a text, or presence of keywords.
    smoothing : float, default=0.1
        Pseudo-count of every feature in every cluster, multinomial rows.
    prior_mean, prior_strength : float, default=0.01 and 1.0
        Mean of the features' probabilities, and how many rows it counts for; Bernoulli rows.
    assignment : {"map", "soft"}, default="map"
        Whether a row goes to its most probable cluster whole, or to several in proportion to their probabilities. Soft
        shares below 0.001 are dropped, and a new cluster begins only where it is the most probable of all.
    window : int, default=0
        The last so many rows are looked at again, each twice while it is among them, and drawn from their conditional
        given all others, so that early mistakes are repaired. 0 leaves every row where it is.
    late : {"error", "clamp"}, default="error"
        What becomes of a row whose time is before that of a row that came earlier: a DataError before anything is
        learnt, or it counts as of the latest time.
    negligible : float in (0, 1], default=1e-12
        A cluster ends when its history weighs less than this share of a new cluster.
    binarize : float >= 0 or None, default=None
        For Bernoulli rows: values above it count as present. None takes zeros and ones only.
    random_state : int, RandomState or None, default=None
        Seed of the draws for the window; nothing else is random.

    Attributes
    ----------
    labels_ : (n_rows,) ndarray of int
        Clusters, by id, of the rows of the last call of `fit` or `partial_fit`, as they stand after it.
    recent_labels_ : (n_recent,) ndarray of int
        Clusters of the last rows of the stream, those that may still move.
    lineage_ : list of Ending
        Clusters that have ended in the last call: id, first time and last, size, and why.
    component_ids_ : (n_live,) ndarray of int
        Ids of the live clusters, in the order in which they began.
    weights_ : (n_live,) ndarray
        Share of the rows of the live clusters that each has, a little less, since new ones have theirs.
    histories_ : (n_live,) ndarray
        Weight of the history of each at the time of the last row.
    n_rows_seen_ : int
    n_features_in_ : int
        Features seen so far; grows with named columns.
    feature_names_in_ : (n_features_in_,) ndarray of str
        Only where columns have names.

    Notes
    -----
    Rows that arrive in any batching give the same bits as all at once, as long as no batch brings new columns: such a
    one changes how probable all others are from there on. A row costs O(live clusters + the cells in the lists of its
    features); a list has a cell for each live cluster that holds the feature. Soft assignment, and Bernoulli rows, add
    what the clusters that learn hold. A window of M rows adds two visits to each row, O(M) each beside that. Memory is
    O(features + cells of the live clusters + entries of the window).

    Examples
    --------
    Two threads about the same words, ten days apart; the first has ended when the second begins:

    >>> import numpy as np
    >>> import sparsemix as sm
    >>> days = np.concatenate([np.arange(6) / 6, 20 + np.arange(6) / 6])
    >>> texts = np.tile([[2, 1, 0], [1, 2, 0]], (6, 1))
    >>> model = sm.StreamingTimeSensitiveMixture(half_life="6h", concentration=0.1)
    >>> model.partial_fit(texts[:6], times=days[:6] * 86400).labels_
    array([0, 0, 0, 0, 0, 0])
    >>> model.partial_fit(texts[6:], times=days[6:] * 86400).labels_
    array([1, 1, 1, 1, 1, 1])
    >>> [(ending.component, ending.size, ending.reason) for ending in model.lineage_]
    [(0, 6.0, 'expired')]
    """

    model_kind: ClassVar[str] = "streaming-time-sensitive-mixture"

    def __init__(
        self,
        concentration: float = 1.0,
        *,
        time_kernel: str | TimeKernel = "exponential",
        decay_rate: float | None = None,
        half_life: Any = None,
        family: str = "multinomial",
        smoothing: float = 0.1,
        prior_mean: float = 0.01,
        prior_strength: float = 1.0,
        assignment: str = "map",
        window: int = 0,
        late: str = "error",
        negligible: float = 1e-12,
        binarize: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.concentration = concentration
        self.time_kernel = time_kernel
        self.decay_rate = decay_rate
        self.half_life = half_life
        self.family = family
        self.smoothing = smoothing
        self.prior_mean = prior_mean
        self.prior_strength = prior_strength
        self.assignment = assignment
        self.window = window
        self.late = late
        self.negligible = negligible
        self.binarize = binarize
        self.random_state = random_state

    @property
    def takes_counts(self) -> bool:
        """Whether features share one probability, and count as often as they stand in a row."""
        return self.family == "multinomial"

    @property
    def component_ids_(self) -> IntVector:
        """Ids of the live clusters."""
        stream = self._opened()
        return stream.clusters.ids[stream.active]

    @property
    def weights_(self) -> FloatVector:
        """Share of the rows in each live cluster, (n_live,), a little less, since new ones have theirs."""
        stream = self._opened()
        sizes = stream.clusters.sizes[stream.active]
        return np.asarray(sizes / (sizes.sum() + stream.rules.concentration))

    @property
    def histories_(self) -> FloatVector:
        """Weight of the history of each live cluster at the time of the last row."""
        stream = self._opened()
        clusters, active = stream.clusters, stream.active
        ages = stream.latest - clusters.last[active]
        return np.asarray(clusters.weight[active] * np.exp(-stream.rules.rate * ages))

    @property
    def recent_labels_(self) -> IntVector:
        """Clusters of the last rows of the stream, those that may still move."""
        stream = self._opened()
        return np.asarray(stream.clusters.ids[stream.recent.slots])

    @property
    def n_rows_seen_(self) -> int:
        """Rows of the stream so far."""
        return self._opened().n_seen

    def fit(self, X: Any, y: object = None, *, times: Any = None) -> Self:  # noqa: ARG002
        """Learn all rows in one pass, from nothing, in the order of their times.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Whole numbers >= 0; zeros and ones for Bernoulli rows.
        y : ignored
        times : (n_rows,) ISO texts, seconds since 1970 or datetimes, in any order
            None takes those of a Dataset. The step kernel needs none.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows, or holds values that the family does not know, or `times` do not fit.
        """
        stream_checks.rules_of(self, 1)
        table = self._read(X, self.family)
        features = table.features(type(self).__name__)
        seconds = self._times(X, times, table)
        order = np.argsort(seconds, kind="stable")
        self._adopt(stream_checks.stream_of(self, table.n_features), features)
        ids = self._learn(table.matrix[order], seconds[order])
        self.labels_ = np.empty_like(ids)
        self.labels_[order] = ids
        return self

    def partial_fit(self, X: Any, y: object = None, *, times: Any = None) -> Self:  # noqa: ARG002
        """Learn more rows of the stream, one after another as they stand in `X`; parameters are as in `fit`.

        Parameters that were changed after the first call have no effect, but for `late` and `binarize`.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            As in `fit`, or if a row comes too late; then nothing of the call has been learnt.
        """
        owner = type(self).__name__
        is_new = not self.__sklearn_is_fitted__()
        if is_new:
            stream_checks.rules_of(self, 1)
        stream_checks.late_of(self)
        table = self._table(X) if not is_new else self._read(X, self.family)
        features, matrix = table.features(owner) if is_new else self._features, table.matrix
        if not is_new:
            matrix, features = table.among(features, owner)
        latest = -np.inf if is_new else self._stream.latest
        seconds = stream_checks.in_order(self._times(X, times, table), latest, self.late, owner)
        stream = stream_checks.stream_of(self, features.n_features) if is_new else self._stream
        stream.know(features.n_features)
        self._adopt(stream, features)
        self.labels_ = self._learn(matrix, seconds)
        return self

    def predict(self, X: Any, *, times: Any = None) -> IntVector:
        """Most probable live cluster of each row at its time, by id, the first of equals; (n_rows,).

        In all questions `times` of None means the time of the last row that was learnt, unless `X` is a Dataset with
        times; a row before that time is asked about as of that time. Columns are matched by name. Nothing is learnt.
        """
        best = self.predict_proba(X, times=times).argmax(axis=1)
        return np.asarray(self.component_ids_[best])

    def predict_proba(self, X: Any, *, times: Any = None) -> FloatMatrix:
        """Posterior probabilities of the live clusters, (n_rows, n_live), columns in the order of `component_ids_`.

        Rows sum to one; how probable it is that one begins a cluster is told by `new_cluster_probability`.
        """
        parts = self._ask(X, times, stream_answers.responsibilities)
        return np.vstack([np.empty((0, self.component_ids_.size)), *parts])

    def new_cluster_probability(self, X: Any, *, times: Any = None) -> FloatVector:
        """Probability that a row is in none of the live clusters; (n_rows,)."""
        return np.concatenate([np.empty(0), *self._ask(X, times, new_share)])

    def score_samples(self, X: Any, *, times: Any = None) -> FloatVector:
        """Log probability of each row as the next of the stream, given its time, nats; (n_rows,)."""
        return np.concatenate([np.empty(0), *self._ask(X, times, log_evidence)])

    def score(self, X: Any, y: object = None, *, times: Any = None) -> float:  # noqa: ARG002
        """Mean log probability of the rows, nats."""
        return mean_score(self.score_samples(X, times=times), "score")

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,)."""
        check_is_fitted(self)
        return np.asarray(self._table(X).known(self._features, type(self).__name__)[1])

    def top_features(
        self, n: int = 10, *, by: str = "evidence", level: float = 0.95
    ) -> list[ComponentSummary]:
        """The features that stand for each live cluster; see `TimeSensitiveMixture.top_features`."""
        check_is_fitted(self)
        return stream_answers.top_features(self._snapshot(), n, by, level)

    def suggest(
        self, accepted: Any, reject: Any = (), *, n: int = 10, level: float | None = 0.95
    ) -> list[Suggestion]:
        """Suggest features that go with those of a row; see `TimeSensitiveMixture.suggest`."""
        check_is_fitted(self)
        return stream_answers.suggest(self._snapshot(), accepted, reject, n, level)

    def sample(
        self,
        n_rows: int = 1,
        *,
        times: Any = None,
        random_state: int | np.random.Generator | None = None,
    ) -> tuple[Any, IntVector]:
        """Draw rows, each as if it alone came next, with the ids of their live clusters, or -1 for a new one.

        See `TimeSensitiveMixture.sample`; times before that of the last row count as that time.
        """
        check_is_fitted(self)
        rows_to_draw(n_rows)
        found, rng = self._snapshot(), generator(random_state, "sample")
        drawing.check_draws(found, int(n_rows))
        seconds = np.full(n_rows, self._stream.latest)
        if times is not None:
            seconds = times_of(None, times, int(n_rows), type(self).__name__, needed=True)
        parts = [
            drawing.draw_components(each, rng) for each in stream_answers.prior_weights(self._stream, seconds)
        ]
        components = np.concatenate([np.empty(0, np.int64), *parts])
        ids = np.append(found.ids, drawing.NEW)[components]
        return drawing.draw_rows(found, components, rng), ids

    def to_payload(self) -> Payload:
        """The exact state for a model file, without `labels_` and `lineage_`."""
        check_is_fitted(self)
        parameters = self.get_params()
        if isinstance(self.time_kernel, TimeKernel):
            parameters |= stream_checks.plain_kernel(self.time_kernel)
        if hasattr(self.half_life, "total_seconds"):
            parameters["half_life"] = self.half_life.total_seconds()
        return stream_payload.pack(self.model_kind, parameters, self._stream, self._features)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**parameters_of(stored, cls))
        model._adopt(*stream_payload.unpack(stored))
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.family != "bernoulli"
        return tags

    def _new_settings(self) -> Stream:
        """Check all parameters, as far as that goes without rows."""
        return stream_checks.stream_of(self, 1)

    def _learn(self, matrix: Any, seconds: FloatVector) -> IntVector:
        ids, ended = self._stream.learn(stream_rows(matrix, seconds))
        self.lineage_ = stream_answers.endings(ended)
        return ids

    def _adopt(self, stream: Stream, features: FeatureNames) -> None:
        self._stream, self._features = stream, features
        features.show_on(self)

    def _opened(self) -> Stream:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"this {type(self).__name__} has not learnt any rows yet: call fit or partial_fit"
            )
        return self._stream

    def _snapshot(self) -> stream_answers.Snapshot:
        return stream_answers.snapshot(self._stream, self._features)

    def _read(self, X: Any, family: str) -> Table:
        threshold(type(self).__name__, self.binarize)
        return Table(X, family, self.binarize, type(self).__name__)

    def _table(self, X: Any) -> Table:
        family = next(name for name, number in FAMILIES.items() if number == self._stream.rules.family)
        return self._read(X, family)

    def _times(self, X: Any, times: Any, table: Table) -> FloatVector:
        if checks.kernel_of(self).kind == "step" and given_times(X, times) is None:
            return np.full(table.n_rows, self._stream.latest if self.__sklearn_is_fitted__() else 0.0)
        return times_of(X, times, table.n_rows, type(self).__name__, needed=True)

    def _ask(self, X: Any, times: Any, question: Callable[[Scores], Any]) -> list[Any]:
        check_is_fitted(self)
        owner, table = type(self).__name__, self._table(X)
        matrix, is_unknown = table.known(self._features, owner)
        seconds = np.full(table.n_rows, self._stream.latest)
        if given_times(X, times) is not None:
            seconds = times_of(X, times, table.n_rows, owner, needed=True)
        if is_unknown.any():
            warn_of_unknown_rows(int(is_unknown.sum()), table.n_rows)
        return [question(found) for found in stream_answers.scores(self._stream, matrix, seconds)]

"""What clusters in time answer once they are there: about rows, times and features."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.clusters import mean_score
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.foundation.checks import rows_to_draw, threshold
from sparsemix.models.time_sensitive import answers, drawing, payload
from sparsemix.models.time_sensitive.reading import Table
from sparsemix.models.time_sensitive.solution import (
    Scores,
    Solution,
    log_evidence,
    log_weights,
    new_share,
    responsibilities,
    scores,
)
from sparsemix.models.time_sensitive.state import FloatMatrix, FloatVector, IntVector
from sparsemix.models.time_sensitive.time_kernels import TimeKernel
from sparsemix.models.time_sensitive.times import times_of
from sparsemix.numeric.seeds import generator
from sparsemix.persistence import Payload


class MixtureInTime(ClusterMixin, BaseEstimator):
    """Base of `TimeSensitiveMixture`: what it answers.

    Questions about rows take `X` and `times` as `fit` does and match columns by name; features that the model does not
    know are left out. They change nothing. All raise NotFittedError before `fit`.
    """

    model_kind: ClassVar[str]
    family: str
    init: Any
    half_life: Any
    binarize: float | None

    @property
    def takes_counts(self) -> bool:
        """Whether features share one probability, and count as often as they stand in a row."""
        return self.family == "multinomial"

    @property
    def weights_(self) -> FloatVector:
        """Share of the rows in each cluster, (n_clusters,), a little less, since new ones have theirs."""
        return np.exp(log_weights(self._opened()))

    @property
    def concentration_(self) -> float:
        """Concentration that was sampled with."""
        return self._opened().hyper.concentration

    @property
    def time_kernel_(self) -> TimeKernel:
        """Time kernel that was sampled with."""
        return self._opened().kernel

    @property
    def decay_rates_(self) -> FloatVector:
        """Decay per second of each cluster, (n_clusters,), for exponential kernels; AttributeError for others."""
        kernel, solution = self.time_kernel_, self._opened()
        if kernel.kind not in ("exponential", "each_cluster"):
            raise AttributeError(f"clusters have no decay rates with the time kernel {kernel.kind!r}")
        return np.array(kernel.rates or (kernel.rate,))[solution.rate]

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
        return mean_score(self.score_samples(X, times=times), "score")

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

    def sample(
        self,
        n_rows: int = 1,
        *,
        times: Any = None,
        random_state: int | np.random.Generator | None = None,
    ) -> tuple[Any, IntVector]:
        """Draw rows at given times, each as if it alone had come to those that were learnt.

        Parameters
        ----------
        n_rows : int, default=1
        times : (n_rows,) ISO texts, seconds since 1970 or datetimes, default=None
            None is the time of the last row that was learnt.
        random_state : int, Generator or None

        Returns
        -------
        rows : (n_rows, n_features_in_) csr_array
            From the predictives of their clusters; rows of a multinomial have Poisson lengths with the mean that was
            learnt.
        components : (n_rows,) ndarray of int
            The cluster of each, drawn by the weights that the clusters have at its time; -1 for a new one, whose
            features come from the prior.

        Examples
        --------
        >>> import numpy as np
        >>> import sparsemix as sm
        >>> model = sm.TimeSensitiveMixture(half_life="1h", random_state=0).fit(np.eye(2, dtype=int), times=[0, 60])
        >>> rows, components = model.sample(3, times=["2024-05-31"] * 3, random_state=0)
        >>> rows.shape, components
        ((3, 2), array([-1, -1, -1]))
        """
        solution = self._solution()
        rows_to_draw(n_rows)
        drawing.check_draws(solution, int(n_rows))
        rng, seconds = generator(random_state, "sample"), np.full(n_rows, solution.times[-1])
        if times is not None:
            seconds = times_of(None, times, int(n_rows), type(self).__name__, needed=True)
        parts = [drawing.draw_components(each, rng) for each in drawing.prior_weights(solution, seconds)]
        components = np.concatenate([np.empty(0, np.int64), *parts])
        return drawing.draw_rows(solution, components, rng), components

    def to_payload(self) -> Payload:
        """The exact state for a model file: rows, their times and clusters, but no draws.

        ParameterError if the time kernel is a function.
        """
        check_is_fitted(self)
        parameters = self.get_params()
        if not isinstance(self.init, str):
            parameters["init"] = "sequential"
        if hasattr(self.half_life, "total_seconds"):
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
        solution.features.show_on(self)

    def _opened(self) -> Solution:
        """The clusters; AttributeError, as Python has it for missing attributes, before there are any."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any rows yet: call fit")
        return self._clusters

    def _solution(self) -> Solution:
        check_is_fitted(self)
        return self._clusters

    def _table(self, X: Any) -> Table:
        threshold(type(self).__name__, self.binarize)
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

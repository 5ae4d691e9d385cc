"""The learner behind the estimator: attributes that are computed from it, and its answers about rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.data.feature_names import FeatureNames, check_distinct
from sparsemix.data.inputs import BinaryRows, RowBlock, as_binary_rows
from sparsemix.foundation.checks import n_threads, threshold
from sparsemix.foundation.errors import DataError
from sparsemix.models.online_profiles import checks
from sparsemix.models.online_profiles.learner import Learner
from sparsemix.models.online_profiles.prediction import View
from sparsemix.models.online_profiles.stream import LineageEvent, Settings
from sparsemix.numeric.seeds import seed_of


class Fitted:
    """Base of the estimator; before the first row the attributes are missing."""

    binarize: float | None
    random_state: int | np.random.RandomState | None
    n_jobs: int | None
    _learner: Learner

    @property
    def component_ids_(self) -> NDArray[np.int64]:
        """Ids of the live components, (n_live,)."""
        return self._view.component_ids.copy()

    @property
    def weights_(self) -> NDArray[np.float64]:
        """Expected share of each live component, (n_live,)."""
        return self._view.weights()

    @property
    def log_evidence_(self) -> float:
        """Log evidence of all rows seen, nats."""
        return self._opened().current_stream().log_evidence

    @property
    def lineage_(self) -> list[LineageEvent]:
        """What happened to the components, in order."""
        return list(self._opened().current_stream().lineage)

    @property
    def n_rows_seen_(self) -> int:
        """Rows learnt or held back so far."""
        return self._opened().n_rows

    @property
    def n_passes_(self) -> int:
        """Passes over the rows that are complete, the first one counted from its begin."""
        stream = self._opened().stream
        return 1 if stream is None else stream.n_passes

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner") and self._learner.n_rows > 0

    def _opened(self) -> Learner:
        """The learner; AttributeError, as Python has it for missing attributes, before the first row."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"this {type(self).__name__} has not learnt any rows yet: call fit or partial_fit"
            )
        return self._learner

    @property
    def _features(self) -> FeatureNames:
        return self._learner.features

    @property
    def _view(self) -> View:
        return self._opened().view()

    def _adopt(self, learner: Learner) -> None:
        self._learner = learner
        self.timings_: dict[str, float] = dict(learner.timings)
        learner.features.show_on(self)

    def _learn(self, rows: BinaryRows, labels: NDArray[np.int64]) -> None:
        self._learner.n_threads = self._n_threads()
        self._learner.learn(rows, labels)
        self._adopt(self._learner)

    def _new_settings(self) -> Settings:
        return checks.resolve(self, seed_of(self.random_state, type(self).__name__))

    def _n_threads(self) -> int:
        return n_threads(self.n_jobs, type(self).__name__)

    def _start(self, settings: Settings, rows: BinaryRows) -> None:
        if not rows.n_features:
            raise DataError("'X' of fit must hold features, but none of its rows has any. Add rows that do.")
        if rows.names is not None:
            check_distinct(rows.names)
        self.__dict__.pop("labels_", None)
        self._adopt(Learner(settings, FeatureNames(rows.n_features, rows.names), type(self).__name__))

    def _rows(self, X: Any) -> BinaryRows:
        threshold(type(self).__name__, self.binarize)
        owner, n_threads = type(self).__name__, self._n_threads()
        return as_binary_rows(X, binarize=self.binarize, owner=owner, n_threads=n_threads)

    def _ask(self, X: Any, question: Callable[[View, RowBlock, int], NDArray[Any]]) -> list[NDArray[Any]]:
        """Answers for the rows, block by block; says once how many rows are unknown, on behalf of the caller."""
        check_is_fitted(self)
        n_threads, rows, answers, n_unknown = self._n_threads(), self._rows(X), [], 0
        for block in self._learner.blocks(rows):
            answers.append(question(self._view, block, n_threads))
            n_unknown += int(block.unknown(self._learner.features.n_features).sum())
        if n_unknown:
            warn_of_unknown_rows(n_unknown, rows.n_rows)
        return answers

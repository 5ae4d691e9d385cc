"""The state behind the estimators: attributes that follow from it, and its answers about rows, part by part."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.em import answers, engine
from sparsemix.models.em.families import FAMILIES, Family
from sparsemix.models.em.reading import Table, as_rows, read
from sparsemix.models.em.state import FloatMatrix, FloatVector, IntVector, Prior, Rows

Answer = TypeVar("Answer")


class Fitted:
    """Base of the estimators; before `fit` the attributes are missing."""

    binarize: float | None = None
    _family_name: ClassVar[str]
    _fit: engine.Fit
    _prior: Prior
    _features: FeatureNames

    @property
    def component_ids_(self) -> IntVector:
        """Ids of the components, ``0 .. n_components - 1``."""
        return np.arange(self._opened().statistics.sizes.size)

    @property
    def weights_(self) -> FloatVector:
        """Mixing weights p(k), (n_components,)."""
        return self._opened().parameters.weights()

    @property
    def profiles_(self) -> FloatMatrix:
        """Probabilities of the features, (n_components, n_features)."""
        return self._family.profiles(self._opened().parameters)

    @property
    def trace_(self) -> FloatVector:
        """Objective after each epoch, nats; it never falls by more than rounding."""
        return np.array(self._opened().trace)

    @property
    def objective_(self) -> str:
        """What `trace_` is."""
        likelihood = "classification log likelihood" if self._opened().is_hard else "log likelihood"
        return likelihood if self._prior.is_flat else f"{likelihood} plus log prior"

    @property
    def log_likelihood_(self) -> float:
        """Log likelihood of the rows that were learnt, weighted, nats."""
        return self._opened().log_likelihood

    @property
    def n_iter_(self) -> int:
        """Epochs of the best start."""
        return len(self._opened().trace)

    @property
    def converged_(self) -> bool:
        """Whether the last epoch raised the objective by less than `tol` a row."""
        return self._opened().is_converged

    @property
    def n_rows_seen_(self) -> int:
        """Rows that the fit has read."""
        return self._opened().n_rows

    @property
    def n_impossible_(self) -> int:
        """Rows that no component can have made; without smoothing there may be some."""
        return self._opened().n_impossible

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")

    @property
    def _family(self) -> Family:
        return FAMILIES[self._family_name]

    def _opened(self) -> engine.Fit:
        """The fit; AttributeError, as Python has it for missing attributes, before there is one."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any rows yet: call fit")
        return self._fit

    def _solution(self) -> answers.Solution:
        check_is_fitted(self)
        return answers.Solution(self._family, self._fit, self._prior, self._features)

    def _adopt(self, fit: engine.Fit, prior: Prior, features: FeatureNames) -> None:
        self._fit, self._prior, self._features = fit, prior, features
        self.__dict__.pop("labels_", None)
        features.show_on(self)

    def _table(self, X: Any) -> Table:
        return as_rows(X, self._family_name, self.binarize, type(self).__name__)

    def _ask(self, X: Any, question: Callable[[Rows, FloatMatrix, FloatVector], Answer]) -> list[Answer]:
        """Answers for parts of the rows, from their responsibilities and log evidence.

        Says once how many rows are unknown, on behalf of whoever called the method that asks.
        """
        check_is_fitted(self)
        table, found, n_unknown = self._table(X), [], 0
        for block, is_unknown in read(table, self._features, owner=type(self).__name__):
            n_unknown += int(is_unknown.sum())
            for rows in engine.pieces(block, self._fit.statistics.sizes.size):
                found.append(question(rows, *engine.responsibilities_of(rows, self._fit.parameters)))
        if n_unknown:
            warn_of_unknown_rows(n_unknown, table.n_rows)
        return found

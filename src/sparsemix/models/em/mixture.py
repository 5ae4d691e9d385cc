"""What both mixtures share: learning, and answers about rows. The public classes only say which family."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.data.feature_names import FeatureNames
from sparsemix.data.labels import known_labels
from sparsemix.foundation.checks import at_least
from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.models.em import answers, checks, engine, learning, payload
from sparsemix.models.em.families import FAMILIES, Family
from sparsemix.models.em.learning import Epoch, OnEpoch
from sparsemix.models.em.reading import Table, as_rows, features_of, read
from sparsemix.models.em.state import FloatMatrix, FloatVector, IntVector, Prior, Rows
from sparsemix.numeric.seeds import generator
from sparsemix.persistence import Payload


class Mixture(ClusterMixin, BaseEstimator):
    """Base of `MultinomialMixture` and `BernoulliMixture`, which document what is public here."""

    model_kind: ClassVar[str]
    _family_name: ClassVar[str]
    binarize: float | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> Self:
        """Learn the components from all rows.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
        y : (n_rows,) array of int, optional
            Component that a row is known to belong to, 0 to ``n_components - 1``, or -1.
        sample_weight : (n_rows,) array of float, optional
            How much a row counts; a weight of 2 is the row twice.
        on_epoch : callable, optional
            Told an `Epoch` after each; what it raises ends the fit. An interrupted fit keeps the best so far.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows or holds values that the family does not know, or `y` or `sample_weight` does not fit.
        """
        settings = checks.resolve(self)
        table = self._table(X)
        learning.check_rows(table.n_rows)
        labels = known_labels(y, table.n_rows, settings.n_components)
        weights = checks.row_weights(sample_weight, table.n_rows)
        weights = np.where(labels >= 0, weights, weights * settings.unlabeled_weight)
        owner = type(self).__name__
        features, _ = features_of([table], owner)

        def blocks() -> Iterable[Rows]:
            return (rows for rows, _ in read(table, features, labels, weights, owner=owner))

        self._learn(blocks, features, settings, on_epoch)
        self.labels_ = engine.assignments(blocks(), self._fit.parameters)
        return self

    def fit_batches(self, batches: Callable[[], Iterable[Any]], *, on_epoch: OnEpoch | None = None) -> Self:
        """Learn from a table that is read anew, batch by batch, in every epoch.

        Parameters
        ----------
        batches : callable
            Returns an iterable of batches, each as `X` of `fit` or a pair ``(X, y)``; the same ones at each call.
            ``lambda: sparsemix.iter_batches(path, rows=100_000)`` does.
        on_epoch : callable, optional
            As in `fit`.

        Returns
        -------
        self
            Without `labels_`; `predict` each batch for those. Memory: one batch, the rows that the start is made
            from, and the statistics.
        """
        settings = checks.resolve(self)
        if not callable(batches):
            raise ParameterError(
                "'batches' of fit_batches must be callable, to read the table once an epoch. "
                "Give lambda: sparsemix.iter_batches(path, rows=100_000)."
            )
        owner = type(self).__name__
        features, n_rows = features_of((table for table, _ in map(self._batch, batches())), owner)
        learning.check_rows(n_rows)

        def blocks() -> Iterable[Rows]:
            for table, y in map(self._batch, batches()):
                labels = known_labels(y, table.n_rows, settings.n_components)
                weights = np.where(labels >= 0, 1.0, settings.unlabeled_weight)
                yield from (rows for rows, _ in read(table, features, labels, weights, owner=owner))

        self._learn(blocks, features, settings, on_epoch)
        if hasattr(self, "labels_"):
            del self.labels_
        return self

    def predict(self, X: Any) -> IntVector:
        """Most probable component of each row, the first of equals; (n_rows,)."""
        return np.concatenate(
            [
                np.empty(0, np.int64),
                *(shares.argmax(axis=1) for shares, _ in self._expected(X)),
            ]
        )

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Responsibilities P(k | row), (n_rows, n_components); a row that no component can make gets the weights."""
        parts = [shares for shares, _ in self._expected(X)]
        return np.vstack([np.empty((0, self.weights_.size)), *parts])

    def score_samples(self, X: Any) -> FloatVector:
        """Log probability of each row, nats; (n_rows,). A row's score does not depend on the others."""
        return np.concatenate([np.empty(0), *(log_evidence for _, log_evidence in self._expected(X))])

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002  (scikit-learn's signature)
        """Mean log probability of the rows, nats."""
        scores = self.score_samples(X)
        if not scores.size:
            raise DataError("'X' of score must have at least one row, but it has none. Add rows.")
        return float(np.mean(scores))

    def score_per_token(self, X: Any) -> float:
        """Log probability of all rows over the sum of their counts, nats; on held-out rows the usual yardstick."""
        check_is_fitted(self)
        blocks = read(self._table(X), self._features, owner=type(self).__name__)
        n_tokens = sum(float(rows.values.sum()) for rows, _ in blocks)
        if not n_tokens:
            raise DataError("'X' of score_per_token must hold a feature that the model knows. Add rows.")
        return float(self.score_samples(X).sum()) / n_tokens

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,)."""
        check_is_fitted(self)
        blocks = read(self._table(X), self._features, owner=type(self).__name__)
        return np.concatenate([np.empty(0, bool), *(is_unknown for _, is_unknown in blocks)])

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on rows: ``-2 log L + parameters log n``; lower is better."""
        scores = self.score_samples(X)
        return float(-2.0 * scores.sum() + self._n_parameters() * np.log(max(scores.size, 1)))

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on rows: ``-2 log L + 2 parameters``; lower is better."""
        return float(-2.0 * self.score_samples(X).sum() + 2.0 * self._n_parameters())

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood: `bic` plus twice the entropy of the responsibilities; lower is better."""
        return self.bic(X) + 2.0 * sum(answers.entropy(shares) for shares, _ in self._expected(X))

    def top_features(
        self, n: int = 10, *, by: str = "evidence", level: float = 0.95
    ) -> list[ComponentSummary]:
        """The features that stand for each component.

        Parameters
        ----------
        n : int, default=10
            Features per component.
        by : {"evidence", "mean", "lift"}, default="evidence"
            "evidence" sorts by smoothed expected count, "mean" by probability, "lift" by the lower end of its interval
            over the probability in all rows.
        level : float in (0, 1), default=0.95
            Mass of the credible intervals.

        Returns
        -------
        list of ComponentSummary
            One for each component.
        """
        check_is_fitted(self)
        return answers.top_features(self._fitted(), n, by, level)

    def distinctive_words(self, n: int = 10, *, offset: float = 10.0) -> list[list[tuple[Any, float]]]:
        """Features by ``p(w|k) / (c(w) + offset)`` (TEXT, section 3.5), for each component `n` pairs (feature, score).

        c(w) is the count of the feature in the rows that were learnt; the offset keeps the rarest from the top.
        """
        check_is_fitted(self)
        return answers.distinctive_words(self._fitted(), n, offset)

    def credible_interval(self, level: float = 0.95) -> tuple[FloatMatrix, FloatMatrix]:
        """Ends of the credible intervals of all feature probabilities, twice (n_components, n_features).

        They take the assignment of rows to components for granted: the Dirichlet or Beta posterior given the expected
        counts, with the smoothing for a prior.
        """
        check_is_fitted(self)
        return answers.credible_interval(self._fitted(), level)

    def suggest(
        self,
        accepted: Any,
        reject: Any = (),
        *,
        n: int = 10,
        level: float | None = 0.95,
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
        check_is_fitted(self)
        return answers.suggest(self._fitted(), accepted, reject, n, level)

    def sample(self, n_rows: int = 1, *, random_state: int | np.random.Generator | None = None) -> Any:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_rows : int, default=1
        random_state : int, Generator or None

        Returns
        -------
        rows : (n_rows, n_features_in_) csr_array
            Rows of a multinomial have Poisson lengths with the mean that was learnt.
        components : (n_rows,) ndarray of int
            The component each was drawn from.
        """
        check_is_fitted(self)
        at_least("n_rows", "sample", n_rows, 0)
        return answers.sample(self._fitted(), n_rows, generator(random_state, "sample"))

    def to_payload(self) -> Payload:
        """The exact state for a model file."""
        check_is_fitted(self)
        return payload.pack(self.model_kind, self.get_params(), self._fit, self._prior, self._features)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**payload.parameters_of(stored, cls))
        fit, prior, features = payload.unpack(stored, FAMILIES[cls._family_name])
        model._adopt(fit, prior, features)
        return model

    @property
    def component_ids_(self) -> IntVector:
        """Ids of the components, ``0 .. n_components - 1``."""
        return np.arange(self._opened().statistics.sizes.size)

    @property
    def weights_(self) -> FloatVector:
        """Mixing weights p(k), (n_components,)."""
        return np.asarray(np.exp(self._opened().parameters.log_weights))

    @property
    def trace_(self) -> FloatVector:
        """Objective after each epoch, nats; it never falls by more than rounding."""
        return np.array(self._opened().trace)

    @property
    def objective_(self) -> str:
        """What `trace_` is."""
        likelihood = "classification log likelihood" if self.algorithm == "hard" else "log likelihood"
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
    def n_impossible_(self) -> int:
        """Rows that no component can have made; without smoothing there may be some."""
        return self._opened().n_impossible

    @property
    def profiles_(self) -> FloatMatrix:
        """Probabilities of the features, (n_components, n_features)."""
        return self._family.profiles(self._opened().parameters)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fit")

    def _expected(self, X: Any) -> Iterator[tuple[FloatMatrix, FloatVector]]:
        """Responsibilities and log evidence, block by block."""
        check_is_fitted(self)
        table, n_unknown = self._table(X), 0
        step = engine.rows_per_block(self.component_ids_.size)
        for block, is_unknown in read(table, self._features, owner=type(self).__name__):
            n_unknown += int(is_unknown.sum())
            for first in range(0, block.n_rows, step):
                part = block.slice(first, min(block.n_rows, first + step))
                yield engine.responsibilities_of(part, self._fit.parameters)
        if n_unknown:
            warn_of_unknown_rows(n_unknown, table.n_rows)

    @property
    def _family(self) -> Family:
        return FAMILIES[self._family_name]

    def _opened(self) -> engine.Fit:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any rows yet: call fit")
        return self._fit

    def _table(self, X: Any) -> Table:
        return as_rows(X, self._family_name, self.binarize, type(self).__name__)

    def _batch(self, batch: Any) -> tuple[Table, Any]:
        X, y = batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
        return self._table(X), y

    def _fitted(self) -> answers.Fitted:
        return answers.Fitted(self._family, self._fit, self._prior, self._features)

    def _n_parameters(self) -> int:
        return self._family.n_parameters(*self._opened().statistics.counts.shape[::-1])

    def _learn(
        self,
        blocks: engine.Blocks,
        features: FeatureNames,
        settings: checks.Settings,
        on_epoch: OnEpoch | None,
    ) -> None:
        owner = type(self).__name__
        pseudo_counts = checks.seeds(
            self.seed_words, self.seed_weight, settings.n_components, features, owner
        )
        prior = Prior(settings.smoothing, settings.class_weight_prior, pseudo_counts)
        task = learning.Task(blocks, features.n_features, settings, self._family, prior, self._init(features))

        def follow(epoch: Epoch) -> None:
            if self.verbose:
                of = f"{settings.n_init}, epoch {epoch.epoch}"
                print(f"[{owner}] start {epoch.restart + 1} of {of}: {self.objective_} {epoch.objective:.6g}")
            if on_epoch is not None:
                on_epoch(epoch)

        learning.learn(task, lambda fit: self._adopt(fit, prior, features), follow)
        learning.warn_about(self._fit, owner)

    def _init(self, features: FeatureNames) -> Any:
        """What to start from: a word, responsibilities, or the statistics of the fit before."""
        if not (self.warm_start and self.__sklearn_is_fitted__()):
            return self.init
        names = [None if one.names is None else list(one.names) for one in (self._features, features)]
        same = self._features.n_features == features.n_features and names[0] == names[1]
        if not same or self._fit.statistics.sizes.size != self.n_components:
            raise ParameterError(
                f"'warm_start' of {type(self).__name__} must go on with the same features and n_components, but they "
                f"have changed. Set warm_start=False to start anew."
            )
        return self._fit.statistics

    def _adopt(self, fit: engine.Fit, prior: Prior, features: FeatureNames) -> None:
        self._fit, self._prior, self._features = fit, prior, features
        self.n_features_in_ = features.n_features
        if features.names is not None:
            self.feature_names_in_ = features.names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

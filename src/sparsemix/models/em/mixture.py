"""What both mixtures share: learning, and answers about rows. The public classes only say which family."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.data.feature_names import FeatureNames
from sparsemix.data.inputs import ROWS_PER_BLOCK
from sparsemix.foundation.checks import callable_or_none, rows_to_draw
from sparsemix.foundation.errors import ParameterError, parameter_error
from sparsemix.models.em import answers, checks, engine, learning, payload
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.fitted import Fitted
from sparsemix.models.em.learning import Epoch, OnEpoch
from sparsemix.models.em.reading import Part, batches_of, coded_rows, part_of, read, survey
from sparsemix.models.em.state import FloatMatrix, FloatVector, IntVector, Prior, Rows, Statistics
from sparsemix.numeric.seeds import generator
from sparsemix.persistence import Payload


class Mixture(Fitted, ClusterMixin, BaseEstimator):
    """Base of `MultinomialMixture` and `BernoulliMixture`: what both can do.

    Questions about rows (`predict`, `predict_proba`, `score` and its kin, `bic`, `aic`, `icl`, `unknown_rows`) take `X`
    as `fit` does and match columns by name; features that the model does not know are left out. They cost
    O(nnz x n_components), need memory for the answer alone, and change nothing. They raise DataError if `X` holds
    values that the family does not know, or no column that the model knows, and warn (`UnknownFeaturesWarning`) of rows
    of which nothing is known. All questions raise NotFittedError before `fit`, and ParameterError if another argument
    breaks its rule.
    """

    model_kind: ClassVar[str]
    takes_counts: ClassVar[bool]
    _new_settings = checks.resolve

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
            Told an `Epoch` after each; what it raises ends the fit. An interrupted fit keeps the best so far, without
            `labels_`.

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
        weights = checks.row_weights(sample_weight, table.n_rows)
        part = part_of(table, y, weights, settings.n_components, settings.unlabeled_weight)
        blocks = self._learn(lambda: [part], settings, on_epoch, is_in_memory=True)
        self.labels_ = engine.assignments(blocks(), self._fit.parameters)
        return self

    def fit_predict(self, X: Any, y: ArrayLike | None = None, **options: Any) -> IntVector:
        """`fit`, which takes the `options` too, and then `labels_`; (n_rows,)."""
        return self.fit(X, y, **options).labels_

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

        Raises
        ------
        ParameterError, DataError
            As in `fit`; also if the batches are not the same at each call.

        Examples
        --------
        >>> import numpy as np
        >>> import sparsemix as sm
        >>> batches = [(np.eye(4)[[0, 1, 2]], [0, -1, -1]), (np.eye(4)[[0, 3, 2]], [-1, 1, -1])]
        >>> model = sm.MultinomialMixture(n_components=2, random_state=0).fit_batches(lambda: batches)
        >>> model.predict(np.eye(4)[[0, 3]])
        array([0, 1])
        """
        settings = checks.resolve(self)

        def as_part(X: Any, y: Any) -> Part:
            table = self._table(X)
            return part_of(table, y, np.ones(table.n_rows), settings.n_components, settings.unlabeled_weight)

        self._learn(lambda: batches_of(batches, as_part), settings, on_epoch)
        return self

    def fit_elsewhere(self, rows: engine.Elsewhere, *, on_epoch: OnEpoch | None = None) -> Self:
        """Learn from rows that others hold; `sparsemix.distributed.fit` calls it.

        Parameters
        ----------
        rows : Elsewhere
            Answers for all rows: with their features, sums over them, and a guess to start from.
        on_epoch : callable, optional
            As in `fit`.

        Returns
        -------
        self
            Without `labels_`.

        Raises
        ------
        ParameterError, DataError
            As in `fit`; also if `init` is an array, which only the rows' order could go with.
        """
        settings = checks.resolve(self)
        checks.init_is_a_word(self)
        if not isinstance(rows, engine.Elsewhere):
            remedy = "Give rows that are here to fit or fit_batches."
            raise parameter_error("rows", "fit_elsewhere", "Elsewhere", rows, remedy)
        self._alternate(rows, rows.survey(self._known_features()), settings, on_epoch)
        return self

    def predict(self, X: Any) -> IntVector:
        """Most probable component of each row, the first of equals; (n_rows,)."""
        found = self._ask(X, lambda _, shares, __: shares.argmax(axis=1))
        return np.concatenate([np.empty(0, np.int64), *found])

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Responsibilities P(k | row), (n_rows, n_components); a row that no component can make gets the weights."""
        found = self._ask(X, lambda _, shares, __: shares)
        return np.vstack([np.empty((0, self.weights_.size)), *found])

    def score_samples(self, X: Any) -> FloatVector:
        """Log probability of each row, nats; (n_rows,). A row's score does not depend on the others."""
        return np.concatenate([np.empty(0), *self._ask(X, lambda _, __, log_evidence: log_evidence)])

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002  (scikit-learn's signature)
        """Mean log probability of the rows, nats; minus infinity if no component can have made one of them."""
        total = answers.total(self._ask(X, answers.totals), "score")
        return total.log_likelihood / total.n_rows

    def score_per_token(self, X: Any) -> float:
        """Log probability of all rows over the sum of their counts, nats; on held-out rows the usual yardstick.

        DataError if no row has a feature that the model knows.
        """
        total = answers.total(self._ask(X, answers.totals), "score_per_token")
        return answers.per_token(total)

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,)."""
        check_is_fitted(self)
        blocks = read(self._table(X), self._features, owner=type(self).__name__)
        return np.concatenate([np.empty(0, bool), *(is_unknown for _, is_unknown in blocks)])

    def bic(self, X: Any) -> float:
        """Bayesian information criterion on rows: ``-2 log L + parameters log n``; lower is better.

        Free parameters are n_components - 1 weights and, for each component, n_features - 1 word probabilities or
        n_features probabilities of presence.
        """
        total = answers.total(self._ask(X, answers.totals), "bic")
        return answers.bic(self._solution(), total)

    def aic(self, X: Any) -> float:
        """Akaike's information criterion on rows: ``-2 log L + 2 parameters``; lower is better."""
        total = answers.total(self._ask(X, answers.totals), "aic")
        return answers.aic(self._solution(), total)

    def icl(self, X: Any) -> float:
        """Integrated completed likelihood: `bic` plus twice the entropy of the responsibilities; lower is better."""
        total = answers.total(self._ask(X, answers.totals_with_entropy), "icl")
        return answers.icl(self._solution(), total)

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
        return answers.top_features(self._solution(), n, by, level)

    def distinctive_words(self, n: int = 10, *, offset: float = 10.0) -> list[list[tuple[Any, float]]]:
        """Features by ``p(w|k) / (c(w) + offset)`` (TEXT, section 3.5), for each component `n` pairs (feature, score).

        c(w) is the count of the feature in the rows that were learnt; the offset, a number > 0, keeps the rarest from
        the top. O(n_components x n_features log n_features).

        Examples
        --------
        >>> import numpy as np
        >>> import sparsemix as sm
        >>> model = sm.MultinomialMixture(n_components=1).fit(np.array([[3, 1], [30, 2]]))
        >>> [[feature for feature, _ in own] for own in model.distinctive_words()]
        [[0, 1]]
        """
        return answers.distinctive_words(self._solution(), n, offset)

    def credible_interval(self, level: float = 0.95) -> tuple[FloatMatrix, FloatMatrix]:
        """Ends of the credible intervals of all feature probabilities, twice (n_components, n_features).

        They take the assignment of rows to components for granted: the Dirichlet or Beta posterior given the expected
        counts, with the smoothing for a prior. `level` is their mass, in (0, 1). O(n_components x n_features).
        """
        return answers.credible_interval(self._solution(), level)

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

        Examples
        --------
        >>> import pandas as pd
        >>> import sparsemix as sm
        >>> ads = pd.DataFrame({"boots": [1, 1, 0, 0], "shoes": [1, 1, 0, 0], "tea": [0, 0, 1, 1]})
        >>> model = sm.BernoulliMixture(n_components=2, random_state=0).fit(ads)
        >>> [suggestion.feature for suggestion in model.suggest(["boots"])]
        ['shoes', 'tea']
        """
        return answers.suggest(self._solution(), accepted, reject, n, level)

    def sample(self, n_rows: int = 1, *, random_state: int | np.random.Generator | None = None) -> Any:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_rows : int, default=1
            At most so many that a hundred million words, or features that are on, are expected.
        random_state : int, Generator or None

        Returns
        -------
        rows : (n_rows, n_features_in_) csr_array
            Rows of a multinomial have Poisson lengths with the mean that was learnt.
        components : (n_rows,) ndarray of int
            The component each was drawn from.

        Examples
        --------
        >>> import numpy as np
        >>> import sparsemix as sm
        >>> model = sm.BernoulliMixture(n_components=1).fit(np.eye(3))
        >>> rows, components = model.sample(5, random_state=0)
        >>> rows.shape, components
        ((5, 3), array([0, 0, 0, 0, 0]))
        """
        solution = self._solution()
        rows_to_draw(n_rows)
        return answers.sample(solution, n_rows, generator(random_state, "sample"))

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._family_name == "multinomial"
        return tags

    def _learn(
        self,
        parts: Callable[[], Iterable[Part]],
        settings: checks.Settings,
        on_epoch: OnEpoch | None,
        *,
        is_in_memory: bool = False,
    ) -> engine.Blocks:
        """Learn from all parts, which can be had again and again; returns their rows, as the engine reads them.

        What is in memory, and no more than a block, is read once for all epochs.
        """
        owner = type(self).__name__
        features, n_rows = survey(parts(), owner, self._known_features())

        def read_blocks() -> Iterable[Rows]:
            return coded_rows(parts(), features, n_rows, settings.n_components, owner)

        kept = list(read_blocks()) if is_in_memory and n_rows <= ROWS_PER_BLOCK else None
        blocks = read_blocks if kept is None else lambda: kept
        self._alternate(blocks, features, settings, on_epoch)
        return blocks

    def _known_features(self) -> FeatureNames | None:
        """Features of the fit that the next one goes on from, if it does."""
        return self._features if self.warm_start and self.__sklearn_is_fitted__() else None

    def _alternate(
        self,
        blocks: engine.Blocks | engine.Elsewhere,
        features: FeatureNames,
        settings: checks.Settings,
        on_epoch: OnEpoch | None,
    ) -> None:
        """Run EM over rows with these features, and keep the best fit."""
        owner, goes_on = type(self).__name__, self._known_features() is not None
        callable_or_none("on_epoch", owner, on_epoch)
        init = self._checked_statistics(features) if goes_on else self.init
        seeds = checks.seeds(self.seed_words, self.seed_weight, settings.n_components, features, owner)
        prior = Prior(settings.smoothing, settings.class_weight_prior, seeds)

        def follow(epoch: Epoch) -> None:
            if self.verbose:
                of = f"{settings.n_init}, epoch {epoch.epoch}"
                print(f"[{owner}] start {epoch.restart + 1} of {of}: {self.objective_} {epoch.objective:.6g}")
            if on_epoch is not None:
                on_epoch(epoch)

        trace = self._fit.trace if goes_on else []
        task = learning.Task(blocks, features.n_features, settings, self._family, prior, init, trace)
        learning.learn(task, lambda fit: self._adopt(fit, prior, features), follow)
        learning.warn_about(self._fit, owner)

    def _checked_statistics(self, features: FeatureNames) -> Statistics:
        """What `warm_start` goes on from; ParameterError unless it has the same features and components."""
        same_features = features.n_features == self._features.n_features
        if not same_features or self._fit.statistics.sizes.size != self.n_components:
            raise ParameterError(
                f"'warm_start' of {type(self).__name__} must go on with the same features and n_components, but they "
                f"have changed. Set warm_start=False to start anew."
            )
        return self._fit.statistics

"""What mixtures by Gibbs sampling share: sampling, and answers about rows. Public classes only say how chains run."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.clusters import mean_score
from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.chains.grouping import by_size
from sparsemix.data.digests import digest_of
from sparsemix.foundation.checks import callable_or_none, rows_to_draw
from sparsemix.models.hashed_gibbs import answers, checks, payload, run_payload
from sparsemix.models.hashed_gibbs.reading import Table
from sparsemix.models.hashed_gibbs.real_reading import RealTable, table_of
from sparsemix.models.hashed_gibbs.runs import Run, Settings, new_run
from sparsemix.models.hashed_gibbs.sampling import ChainMaker, Progress, chosen, sample
from sparsemix.models.hashed_gibbs.solution import (
    AnySolution,
    log_evidence,
    log_weights,
    material_of,
    responsibilities,
    scores,
    solution_of,
)
from sparsemix.models.hashed_gibbs.state import FAMILIES, FloatMatrix, FloatVector, IntVector
from sparsemix.numeric.seeds import generator
from sparsemix.persistence import Payload
from sparsemix.persistence.unfinished import without_run


class GibbsMixture(ClusterMixin, BaseEstimator, ABC):
    """Base of `HashedGibbsMixture` and `UncollapsedGibbsMixture`: what both can do.

    Questions about rows take `X` as `fit` does and match columns by name; features that the model does not know are
    left out. They change nothing. All raise NotFittedError before `fit`.
    """

    model_kind: ClassVar[str]
    families: ClassVar[tuple[str, ...]] = tuple(FAMILIES)
    starts: ClassVar[tuple[str, ...]]  # words that `init` may be, the default first
    family: str
    init: Any
    binarize: float | None
    warm_start: bool
    verbose: int
    _run: Run | None = None  # that was interrupted

    def fit(self, X: Any, y: object = None, *, on_sweep: Callable[[Progress], None] | None = None) -> Self:  # noqa: ARG002
        """Sample the clusters of all rows.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Whole numbers >= 0; zeros and ones for Bernoulli rows; any finite numbers for Gaussian ones.
        y : ignored
        on_sweep : callable, optional
            Told a `Progress` after each sweep; what it raises ends the fit. An interrupted fit keeps what was drawn,
            see `is_complete_`.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows, or holds values that the family does not know, or `init` does not fit, or if a warm
            start is given other rows than the fit that was interrupted.
        """
        callable_or_none("on_sweep", type(self).__name__, on_sweep)
        asked = self._new_settings()
        table = table_of(X, self.family, self.binarize, type(self).__name__)
        features = table.features(type(self).__name__)
        hyper = checks.hyperparameters(self, table)
        start = checks.start_of(self, table.n_rows)._replace(rows=digest_of(table.matrix))
        run = new_run(checks.size(self, asked, table), start)
        if self.warm_start and self._run is not None:
            run = checks.going_on(self, self._run, run.settings, self._clusters, hyper, table)
        matrix = table.matrix
        rows, prior = material_of(hyper, matrix)

        def follow(progress: Progress) -> None:
            if self.verbose:
                of = f"[{type(self).__name__}] chain {progress.chain + 1}, sweep {progress.sweep + 1}"
                print(
                    f"{of}: log joint {progress.result.log_joint:.6g}, {progress.result.n_moved} rows moved"
                )
            if on_sweep is not None:
                on_sweep(progress)

        try:
            sample(self._chain_maker(rows, prior, run.settings), run, follow)
            labels = chosen(run)
        except BaseException:
            if any(run.n_done()):
                labels = by_size(run.latest())
                self._keep(run, labels, solution_of(hyper, matrix, labels, features), is_complete=False)
            raise
        self._keep(run, labels, solution_of(hyper, matrix, labels, features), is_complete=True)
        return self

    @property
    def is_complete_(self) -> bool:
        """Whether all sweeps of `fit` were made; if not, the same `fit` with `warm_start=True` goes on.

        Until then `labels_` is where the rows are in the chain with the highest log joint, `draws_` has the draws so
        far, and `log_joint_` NaN, `moves_` and `n_clusters_` -1 for sweeps to come.
        """
        self._opened()
        return self._run is None

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

    @property
    def n_rows_seen_(self) -> int:
        """Rows that were learnt."""
        return int(self._opened().sizes.sum())

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
        return mean_score(self.score_samples(X), "score")

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
        parameters = self.get_params()
        if not isinstance(self.init, str):
            parameters["init"] = self.starts[0]
        stored = payload.pack(self.model_kind, parameters, self._solution())
        return stored if self._run is None else run_payload.added(stored, self._run, self.labels_)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**payload.parameters_of(stored, cls))
        solution = payload.unpack(without_run(stored), cls.families)
        found = run_payload.unpack(stored, solution)
        if found is None:
            model._adopt(solution)
        else:
            model._keep(*found, solution, is_complete=False)
        return model

    def _new_settings(self) -> Settings:
        """Check all parameters, as far as that goes without rows."""
        asked = checks.settings_of(self)
        checks.hyperparameters_alone(self)
        checks.start_word(self)
        self._check_alone()
        return asked

    def _check_alone(self) -> None:
        """Check what can be checked of the parameters without the data, beyond what all of these models have."""

    @abstractmethod
    def _chain_maker(self, rows: Any, prior: Any, settings: Settings) -> ChainMaker:
        """How to make a chain from a generator of its own."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_clusters")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.family in ("multinomial", "poisson")
        return tags

    def _table(self, X: Any) -> Table | RealTable:
        return table_of(X, self._solution().hyper.family, self.binarize, type(self).__name__)

    def _keep(self, run: Run, labels: IntVector, solution: AnySolution, *, is_complete: bool) -> None:
        """Show what was sampled, and remember the run if it is to go on."""
        self.draws_, self.labels_ = run.kept(), labels
        self.log_joint_, self.n_clusters_, self.moves_ = run.log_joint, run.n_clusters, run.n_moved
        done = run.n_moved >= 0
        self.acceptance_rate_ = float(run.n_moved[done].sum() / max(run.n_proposed[done].sum(), 1))
        self._adopt(solution)
        if not is_complete:
            self._run = run

    def _adopt(self, solution: AnySolution) -> None:
        self._clusters, self._run = solution, None
        solution.features.show_on(self)

    def _opened(self) -> AnySolution:
        """The clusters; AttributeError, as Python has it for missing attributes, before there are any."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"this {type(self).__name__} has not learnt any rows yet: call fit")
        return self._clusters

    def _solution(self) -> AnySolution:
        check_is_fitted(self)
        return self._clusters

    def _ask(self, X: Any, question: Callable[[FloatMatrix], Any]) -> list[Any]:
        solution = self._solution()
        table = self._table(X)
        matrix, is_unknown = table.known(solution.features, type(self).__name__)
        if is_unknown.any():
            warn_of_unknown_rows(int(is_unknown.sum()), table.n_rows)
        return list(scores(solution, matrix, question))

"""What a fitted model answers: clusters of rows, features of clusters and how well they are known, suggestions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from sparsemix.answers import ComponentSummary, Suggestion
from sparsemix.answers.clusters import mean_score
from sparsemix.answers.suggestions import feature_numbers
from sparsemix.foundation.checks import rows_to_draw
from sparsemix.models.online_profiles import sampling, suggest, summaries
from sparsemix.models.online_profiles.fitted import Fitted
from sparsemix.models.online_profiles.prediction import View
from sparsemix.numeric.seeds import generator

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


class Answering(Fitted):
    """The questions that `OnlineBernoulliMixture` answers once it is fitted."""

    def predict(self, X: Any) -> IntVector:
        """Most probable component of each row, by id; (n_rows,).

        Here and in all questions about rows, columns are matched by name where they have names. One that the model
        does not know has the probability that each cluster gives to features it has not met; one that `X` lacks is
        absent from all rows.

        Raises
        ------
        DataError
            If `X` is not as in `fit`, or the model knows none of its columns.

        Warns
        -----
        UnknownFeaturesWarning
            If rows that are not empty hold nothing that the model knows; see `unknown_rows`.
        """
        return np.concatenate([np.empty(0, np.int64), *self._ask(X, View.assignments)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Responsibilities, (n_rows, n_live), columns in the order of `component_ids_`."""
        parts = self._ask(X, View.responsibilities)
        return np.vstack([np.empty((0, self.component_ids_.size)), *parts])

    def score_samples(self, X: Any) -> FloatVector:
        """Log probability of each row, nats; (n_rows,). A row's score does not depend on the others."""
        return np.concatenate([np.empty(0), *self._ask(X, View.log_density)])

    def score(self, X: Any, y: object = None) -> float:  # noqa: ARG002  (scikit-learn's signature)
        """Mean log probability of the rows, nats."""
        return mean_score(np.concatenate([np.empty(0), *self._ask(X, View.log_density)]), "score")

    def unknown_rows(self, X: Any) -> NDArray[np.bool_]:
        """Which rows hold features, but none that the model knows; (n_rows,).

        What the model answers for them is hardly more than a guess. Gives no warning.

        Examples
        --------
        >>> import pandas as pd
        >>> import sparsemix as sm
        >>> ads = pd.DataFrame({"boots": [1, 1, 0, 0], "tea": [0, 0, 1, 1]})
        >>> model = sm.OnlineBernoulliMixture(n_components=2, random_state=0).fit(ads)
        >>> model.unknown_rows(pd.DataFrame({"tea": [1, 0, 0], "coffee": [1, 1, 0]})).tolist()
        [False, True, False]
        """
        check_is_fitted(self)
        blocks = self._learner.blocks(self._rows(X))
        parts = [block.unknown(self._features.n_features) for block in blocks]
        return np.concatenate([np.empty(0, bool), *parts])

    def sample(self, n_rows: int = 1, *, random_state: int | np.random.Generator | None = None) -> Any:
        """Draw rows from the fitted model.

        Parameters
        ----------
        n_rows : int, default=1
        random_state : int, Generator or None

        Returns
        -------
        rows : (n_rows, n_features_in_) csr_array of ones
        components : (n_rows,) ndarray of int
            The component each was drawn from.
        """
        check_is_fitted(self)
        rows_to_draw(n_rows)
        return sampling.draw_rows(self._view, n_rows, generator(random_state, "sample"))

    def top_features(
        self, n: int = 10, *, by: str = "evidence", level: float = 0.95
    ) -> list[ComponentSummary]:
        """The features that stand for each component.

        Parameters
        ----------
        n : int, default=10
            Features per component.
        by : {"evidence", "mean", "lift"}, default="evidence"
            "evidence" sorts by the effective number of rows with the feature, which keeps features seen by chance
            from the top (ADS, Table 3); "mean" by its probability; "lift" by the ratio of that to its probability
            over all rows.
        level : float in (0, 1), default=0.95
            Mass of the credible intervals.

        Returns
        -------
        list of ComponentSummary
            One per live component, in the order of `component_ids_`.
        """
        check_is_fitted(self)
        return summaries.top_features(self._view, self._features, n, by, level)

    def credible_interval(self, level: float = 0.95) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Lower and upper ends of the credible intervals of the explicit feature probabilities.

        Returns
        -------
        low, high : (n_live, n_features_in_) csr_array
            Entries for explicit features only.
        """
        check_is_fitted(self)
        return summaries.credible_interval(self._view, level)

    def suggest(
        self,
        accepted: Any,
        reject: Any = (),
        *,
        n: int = 10,
        level: float | None = 0.95,
        completeness: float = 0.0,
    ) -> list[Suggestion]:
        """Suggest features that go with those of a row (ADS, section 6, eq 6).

        Parameters
        ----------
        accepted : sequence of str or int
            Features that the row holds: names where columns have names, else numbers.
        reject : sequence of str or int, default=()
            Features that the row shall not hold.
        n : int, default=10
        level : float in (0, 1) or None, default=0.95
            Mass of the credible intervals; None leaves them out, which is faster.
        completeness : float in [0, 1], default=0.0
            Share of the row's features that `accepted` is thought to hold. 0 treats all others as not observed, as
            in the paper; near 1 their absence tells as well, which is right for rows that are nearly whole.

        Returns
        -------
        list of Suggestion
            Most probable first: feature, probability, low, high, components.

        Raises
        ------
        ParameterError
            If a feature is not known; close matches are named.
        """
        check_is_fitted(self)
        wanted = feature_numbers(self._features, accepted)
        unwanted = feature_numbers(self._features, reject, "reject")
        return suggest.suggestions(self._view, self._features, wanted, unwanted, n, level, completeness)

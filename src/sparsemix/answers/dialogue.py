"""A dialogue about one row, over any model that suggests."""

from collections.abc import Iterable, Iterator
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sparsemix.answers.suggestions import Suggestion, feature_numbers
from sparsemix.foundation.errors import parameter_error


class KeywordSuggester:
    """A dialogue about one row: accept or reject what is suggested, and ask again.

    Parameters
    ----------
    model : mixture
        Any fitted model with a method `suggest`.
    accepted, rejected : sequence of str or int
        Features that the row holds, and that it shall not hold.

    Raises
    ------
    ParameterError
        If `model` is none that suggests, or a feature is not known; close matches are named.
    sklearn.exceptions.NotFittedError
        If the model has not learnt any rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemix import KeywordSuggester, OnlineBernoulliMixture
    >>> rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 50, axis=0)
    >>> model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> dialogue = KeywordSuggester(model, [0])
    >>> sorted(s.feature for s in dialogue.suggest(2))
    [1, 2]
    >>> [s.feature for s in dialogue.reject(1).suggest(1)]
    [2]
    """

    def __init__(self, model: Any, accepted: Iterable[Any] = (), rejected: Iterable[Any] = ()) -> None:
        if not callable(getattr(model, "suggest", None)) or isinstance(model, type):
            remedy = (
                "Give an OnlineBernoulliMixture, MultinomialMixture or BernoulliMixture that has learnt rows."
            )
            raise parameter_error("model", type(self).__name__, "a mixture that suggests", model, remedy)
        check_is_fitted(model)
        self.model = model
        self.accepted = self._listed(accepted, "accepted")
        self.rejected = self._listed(rejected, "rejected")

    def _listed(self, features: Any, name: str) -> list[Any]:
        if isinstance(features, Iterator):
            features = list(features)
        feature_numbers(self.model._features, features, name)
        return list(features)

    def accept(self, *features: Any) -> "KeywordSuggester":
        """Add features to the row; returns the dialogue."""
        feature_numbers(self.model._features, features)
        self.rejected = [r for r in self.rejected if r not in features]
        self.accepted += [f for f in features if f not in self.accepted]
        return self

    def reject(self, *features: Any) -> "KeywordSuggester":
        """Say which features the row shall not hold; returns the dialogue."""
        feature_numbers(self.model._features, features)
        self.accepted = [a for a in self.accepted if a not in features]
        self.rejected += [f for f in features if f not in self.rejected]
        return self

    def suggest(self, n: int = 10, **options: Any) -> list[Suggestion]:
        """The next suggestions; `options` are those of the model's `suggest`."""
        found: list[Suggestion] = self.model.suggest(self.accepted, self.rejected, n=n, **options)
        return found

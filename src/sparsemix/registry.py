"""The one table that knows every model: the kinds that a model file may name, and their classes."""

from importlib import import_module
from typing import Any, ClassVar, Protocol, Self, cast

from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.persistence import Payload

_HOME = {
    "online-bernoulli-mixture": ("sparsemix.models.online_profiles", "OnlineBernoulliMixture"),
    "multinomial-mixture": ("sparsemix.models.em", "MultinomialMixture"),
    "bernoulli-mixture": ("sparsemix.models.em", "BernoulliMixture"),
    "hashed-gibbs-mixture": ("sparsemix.models.hashed_gibbs", "HashedGibbsMixture"),
    "uncollapsed-gibbs-mixture": ("sparsemix.models.hashed_gibbs", "UncollapsedGibbsMixture"),
    "time-sensitive-mixture": ("sparsemix.models.time_sensitive", "TimeSensitiveMixture"),
    "streaming-time-sensitive-mixture": ("sparsemix.models.time_sensitive", "StreamingTimeSensitiveMixture"),
    "gamma-poisson-factors": ("sparsemix.models.gamma_poisson", "GammaPoissonFactors"),
    "click-rate-model": ("sparsemix.models.gamma_poisson", "ClickRateModel"),
    "bayesian-nmf": ("sparsemix.models.gamma_poisson", "BayesianNMF"),
}


class SavableModel(Protocol):
    """What a model must offer to live in a file."""

    model_kind: ClassVar[str]

    def get_params(self) -> dict[str, Any]:
        """Return the constructor's arguments, as scikit-learn does."""
        ...

    def _new_settings(self) -> object:
        """Raise ParameterError for the first parameter that `fit` would refuse, whatever the data."""
        ...

    def to_payload(self) -> Payload:
        """Return the exact state."""
        ...

    @classmethod
    def from_payload(cls, payload: Payload) -> Self:
        """Build the model with that state, or raise ModelFileError."""
        ...


def model_kinds() -> tuple[str, ...]:
    """Return every kind of model that a file may hold.

    Examples
    --------
    >>> model_kinds()[:3]
    ('online-bernoulli-mixture', 'multinomial-mixture', 'bernoulli-mixture')
    """
    return tuple(_HOME)


def check_parameters(model: SavableModel) -> None:
    """Raise ParameterError for the first parameter that `fit` would refuse, whatever the data.

    Examples
    --------
    >>> from sparsemix import BayesianNMF
    >>> check_parameters(BayesianNMF(thin=0))
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ParameterError: 'thin' of BayesianNMF must be an integer >= 1, but it is 0.
    """
    given = model.get_params()
    if given["random_state"] is None or hasattr(given["random_state"], "randint"):
        given["random_state"] = 0  # else the check would draw from a generator
    type(model)(**given)._new_settings()


def model_class(kind: str) -> type[SavableModel]:
    """Return the class of a kind of model; its module is imported on demand.

    Raises
    ------
    ModelFileError
        When the kind is not in the table.

    Examples
    --------
    >>> model_class("online-bernoulli-mixture").__name__
    'OnlineBernoulliMixture'
    """
    if kind not in _HOME:
        known = ", ".join(_HOME)
        raise ModelFileError(f"it holds an unknown kind of model, {shorten(kind)}. Known kinds: {known}")
    module, name = _HOME[kind]
    found: Any = getattr(import_module(module), name)
    return cast(type[SavableModel], found)

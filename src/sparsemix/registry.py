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

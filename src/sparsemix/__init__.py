"""Cluster large, sparse binary and count data with Bayesian models.

Public names are loaded on first use, so that ``import sparsemix`` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Dataset": "sparsemix.data",
    "iter_batches": "sparsemix.data",
    "read_mailbox": "sparsemix.data",
    "read_table": "sparsemix.data",
    "KeywordSuggester": "sparsemix.answers",
    "BernoulliMixture": "sparsemix.models.em",
    "MultinomialMixture": "sparsemix.models.em",
    "BayesianNMF": "sparsemix.models.gamma_poisson",
    "ClickRateModel": "sparsemix.models.gamma_poisson",
    "GammaPoissonFactors": "sparsemix.models.gamma_poisson",
    "split_events": "sparsemix.models.gamma_poisson",
    "HashedGibbsMixture": "sparsemix.models.hashed_gibbs",
    "UncollapsedGibbsMixture": "sparsemix.models.hashed_gibbs",
    "StreamingTimeSensitiveMixture": "sparsemix.models.time_sensitive",
    "TimeKernel": "sparsemix.models.time_sensitive",
    "TimeSensitiveMixture": "sparsemix.models.time_sensitive",
    "compare_n_components": "sparsemix.models.em",
    "OnlineBernoulliMixture": "sparsemix.models.online_profiles",
    "load_model": "sparsemix.model_io",
    "save_model": "sparsemix.model_io",
    "ClusterError": "sparsemix.foundation.errors",
    "DataError": "sparsemix.foundation.errors",
    "MissingExtraError": "sparsemix.foundation.errors",
    "ModelFileError": "sparsemix.foundation.errors",
    "ParameterError": "sparsemix.foundation.errors",
    "SparsemixError": "sparsemix.foundation.errors",
    "UnknownFeaturesWarning": "sparsemix.foundation.errors",
}
_MODULES = ("chains", "distributed", "metrics")
"""Loaded on first use as well, with the functions in them: ``sparsemix.chains.r_hat``."""

__all__ = [
    "BayesianNMF",
    "BernoulliMixture",
    "ClickRateModel",
    "ClusterError",
    "DataError",
    "Dataset",
    "GammaPoissonFactors",
    "HashedGibbsMixture",
    "KeywordSuggester",
    "MissingExtraError",
    "ModelFileError",
    "MultinomialMixture",
    "OnlineBernoulliMixture",
    "ParameterError",
    "SparsemixError",
    "StreamingTimeSensitiveMixture",
    "TimeKernel",
    "TimeSensitiveMixture",
    "UncollapsedGibbsMixture",
    "UnknownFeaturesWarning",
    "__version__",
    "compare_n_components",
    "iter_batches",
    "load_model",
    "read_mailbox",
    "read_table",
    "save_model",
    "split_events",
]

if TYPE_CHECKING:
    from sparsemix import chains as chains
    from sparsemix import distributed as distributed
    from sparsemix import metrics as metrics
    from sparsemix.answers import KeywordSuggester
    from sparsemix.data import Dataset, iter_batches, read_mailbox, read_table
    from sparsemix.foundation.errors import (
        ClusterError,
        DataError,
        MissingExtraError,
        ModelFileError,
        ParameterError,
        SparsemixError,
        UnknownFeaturesWarning,
    )
    from sparsemix.model_io import load_model, save_model
    from sparsemix.models.em import BernoulliMixture, MultinomialMixture, compare_n_components
    from sparsemix.models.gamma_poisson import (
        BayesianNMF,
        ClickRateModel,
        GammaPoissonFactors,
        split_events,
    )
    from sparsemix.models.hashed_gibbs import HashedGibbsMixture, UncollapsedGibbsMixture
    from sparsemix.models.online_profiles import OnlineBernoulliMixture
    from sparsemix.models.time_sensitive import (
        StreamingTimeSensitiveMixture,
        TimeKernel,
        TimeSensitiveMixture,
    )


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"sparsemix.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'sparsemix' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])

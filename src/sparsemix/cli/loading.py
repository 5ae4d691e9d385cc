"""Load a model for a command about clusters."""

from pathlib import Path
from typing import Any

from sparsemix.foundation.errors import ParameterError
from sparsemix.foundation.wording import kind_of


def load_suggester(path: Path) -> Any:
    """Return the model in a file, which must be one of keywords; raises as `load_mixture`."""
    model = load_mixture(path)
    if getattr(model, "takes_real_numbers", False):
        raise ParameterError(
            f"{str(path)!r} holds a model of real numbers, which knows no keywords to suggest. 'sparsemix assign' "
            f"finds the clusters of rows, 'sparsemix clusters' shows their means."
        )
    return model


def load_mixture(path: Path) -> Any:
    """Return the model in a file, which must be one of clusters.

    Raises
    ------
    ParameterError
        When it has factors, or click rates, in the place of clusters.
    ModelFileError
        When the file cannot be read.
    """
    from sparsemix.model_io import load_model

    model = load_model(path)
    check_mixture(model, path)
    return model


def check_mixture(model: Any, path: Path) -> None:
    """Raise ParameterError for a model, from a file, that has no clusters."""
    if not hasattr(model, "top_features"):
        raise ParameterError(
            f"{str(path)!r} holds {kind_of(model)}, which has no clusters. Give a model of clusters, such as "
            f"'sparsemix fit' makes without --model."
        )


def check_complete(model: Any, path: Path) -> None:
    """Raise ParameterError for a model whose run was interrupted, before it learns anything else."""
    if not getattr(model, "is_complete_", True):
        raise ParameterError(
            f"{str(path)!r} holds a run that was interrupted. Go on with it first: 'sparsemix fit --resume'."
        )

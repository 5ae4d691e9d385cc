"""Libraries that only some installations have."""

from importlib import import_module
from typing import Any

from sparsemix.foundation.errors import MissingExtraError


def plotly(module: str) -> Any:
    """Return a module of Plotly, or raise MissingExtraError."""
    try:
        return import_module(f"plotly.{module}")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "pages with figures need Plotly, which is not installed: pip install 'sparsemix[report]'."
        ) from error

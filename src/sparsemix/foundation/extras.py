"""Libraries that only some installations have."""

from importlib import import_module
from typing import Any

from sparsemix.foundation.errors import MissingExtraError


def plotly(module: str) -> Any:
    """Return a module of Plotly, or raise MissingExtraError."""
    return _module(f"plotly.{module}", "pages with figures need Plotly", "report")


def dask(module: str) -> Any:
    """Return a module of Dask, by its whole name (``distributed`` is one), or raise MissingExtraError."""
    return _module(module, "work on several machines or processes needs Dask", "dask")


def _module(name: str, need: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{need}, which is not installed: pip install 'sparsemix[{extra}]'."
        ) from error

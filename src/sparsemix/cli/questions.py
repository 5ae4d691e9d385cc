"""What commands ask a model about rows, in this process or on workers."""

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from sparsemix.reporting import assign
from sparsemix.reporting.comparison import n_tokens

Arrays = Sequence[NDArray[Any]]
Question = Callable[[Any, Any], tuple[Arrays, float]]
"""Asks a model about rows: answers, each (n_rows,), and a number that adds up over all rows."""


def assignments(model: Any, rows: Any) -> tuple[Arrays, float]:
    """Clusters of rows, their probabilities and entropies; nothing adds up."""
    return assign(model, rows), 0.0


def scores(model: Any, rows: Any) -> tuple[Arrays, float]:
    """Log densities of rows; the number of their keywords adds up."""
    return [model.score_samples(rows)], n_tokens(model, rows)

"""What a worker finds out about the rows of a file, when a command asks a model on several processes."""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.cli.inputs import ROWS_PER_BATCH
from sparsemix.cli.questions import Arrays, Question
from sparsemix.cli.watching import knows_any
from sparsemix.data.dataset import widen
from sparsemix.data.report import ReadReport
from sparsemix.foundation.errors import UnknownFeaturesWarning


class Found(NamedTuple):
    """What is to be known of a file.

    Attributes
    ----------
    row_ids : (n_rows,)
    answers : sequence of (n_rows,)
    total : float
        The sum of what the question adds up.
    n_unknown_rows : int
        Rows that hold keywords, but none that the model knows.
    names : (n_features,) array of str or None
        Keywords of the file, if the model knows none of them.
    report : ReadReport
    """

    row_ids: NDArray[Any]
    answers: Arrays
    total: float
    n_unknown_rows: int
    names: NDArray[np.object_] | None
    report: ReadReport


def ask(model: Any, rows: Any, question: Question) -> Found:
    """Ask about the rows of a file, a part at a time; runs on a worker."""
    names = None if knows_any(model, rows.feature_names) else rows.feature_names
    known = rows if names is None else _with_a_known_feature(model, rows)
    answers, total, n_unknown = [], 0.0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownFeaturesWarning)
        for first in range(0, len(rows), ROWS_PER_BATCH):
            part = known[first : first + ROWS_PER_BATCH]
            found, more = question(model, part)
            answers.append(found)
            total += more
            n_unknown += int(model.unknown_rows(part).sum())
    joined = [np.concatenate(parts) for parts in zip(*answers, strict=True)]
    return Found(rows.row_ids, joined, total, n_unknown, names, rows.report)


def _with_a_known_feature(model: Any, rows: Any) -> Any:
    """The same rows with a feature that they do not hold; models refuse tables of which they know nothing at all."""
    names = np.append(rows.feature_names, model.feature_names_in_[:1])
    return replace(rows, matrix=widen(rows.matrix, names.size), feature_names=names)

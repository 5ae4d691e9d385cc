"""Write assignments row by row as they are found, to Parquet or CSV."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sparsemix.cli.own_files import ASSIGNMENT_COLUMNS
from sparsemix.cli.writing import write_batches

_NONE = (np.empty(0, np.int64), np.empty(0), np.empty(0))


def write_assignments(path: Path, parts: Iterable[tuple[Any, Sequence[Any]]]) -> None:
    """Write row id, cluster, probability and entropy of each row; the file appears when it is whole.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` or, for Parquet, in anything else.
    parts : iterable of (row ids, (clusters, probabilities, entropies))

    Raises
    ------
    OSError
        When the file cannot be written; one that was there is unchanged.
    """
    batches = (_record_batch(row_ids, found) for row_ids, found in parts)
    first = next(batches, None) or _record_batch(np.empty(0, "U1"), _NONE)
    write_batches(path, chain([first], batches))


def _record_batch(row_ids: Any, found: Sequence[Any]) -> Any:
    import pyarrow as pa

    columns = [row_ids, *found]
    return pa.RecordBatch.from_arrays([pa.array(values) for values in columns], ASSIGNMENT_COLUMNS)

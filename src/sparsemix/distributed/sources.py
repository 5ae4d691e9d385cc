"""Rows that lie on disk or on workers, as batches that are loaded where they are needed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sparsemix.data.formats import find_files, is_path
from sparsemix.data.request import OpenTable, Request, open_table
from sparsemix.distributed.batches import NamedLabels
from sparsemix.distributed.wire import call
from sparsemix.foundation.errors import ParameterError, SparsemixError, parameter_error
from sparsemix.foundation.extras import dask

RULE = "files, or a Dask array, data frame, or list of delayed or future batches"


def as_batches(source: Any, y: Any, reading: Mapping[str, Any], owner: str) -> list[Any]:
    """The batches, in order, as delayed objects that give ``X`` or a pair ``(X, y)``.

    Parameters
    ----------
    source : path, list of paths, or Dask collection
        A file is a batch, and so is a block of rows or a partition.
    y : Dask array or None
        Labels of the rows of a collection, cut as it is.
    reading : dict
        Arguments of `read_table`, for files alone.
    owner : str
        Who asks, for messages.

    Raises
    ------
    ParameterError
        If `source` or `y` is something else, or `reading` does not go with it.
    DataError
        If there is no such file.
    """
    if is_path(source) and not (isinstance(source, list | tuple) and not source):
        _refuse(y, "y", owner, "absent where rows come from files", "Name their column of labels: label=.")
        return [call(read_file, *each) for each in files_to_read(source, reading)]
    if reading:
        raise ParameterError(f"'{next(iter(reading))}' of {owner} is for files only. Leave it out.")
    batches = _pieces(source, owner)
    if y is None:
        return batches
    labels = _pieces(y, owner)
    if len(labels) != len(batches):
        rule = f"cut into {len(batches)} pieces, as the rows are"
        raise parameter_error("y", owner, rule, f"{len(labels)} pieces", "Rechunk one of them.")
    return [call(paired, *both) for both in zip(batches, labels, strict=True)]


def files_to_read(source: Any, reading: Mapping[str, Any]) -> list[tuple[Path, dict[str, Any]]]:
    """Each file with the arguments of `read_table` for it; columns are guessed once, for all alike."""
    files, same = find_files(source, reading.get("format")), dict(reading)
    table = open_table(source, Request(**reading))
    if isinstance(table, OpenTable) and files.format != "baskets":
        same |= table.roles.columns
    return [(file, same) for file in files.files]


def read_file(file: Path, reading: Mapping[str, Any]) -> Any:
    """The rows of a file, as `read_table` has them, with their labels if a column has some; runs on a worker."""
    from sparsemix.data import read_table

    try:
        rows = read_table(file, **reading)
        return rows if rows.labels is None else (rows, NamedLabels.of(rows))
    except SparsemixError as error:
        if str(file) in str(error):
            raise
        raise type(error)(f"{file}: {error}") from error


def paired(X: Any, y: Any) -> tuple[Any, Any]:
    """Rows with their labels; runs on a worker."""
    return X, y


def _refuse(value: Any, name: str, owner: str, rule: str, remedy: str) -> None:
    if value is not None:
        raise parameter_error(name, owner, rule, value, remedy)


def _pieces(collection: Any, owner: str) -> list[Any]:
    """Delayed pieces of a collection, row after row."""
    if hasattr(collection, "to_delayed"):
        blocks: tuple[int, ...] = tuple(getattr(collection, "numblocks", ()))
        if len(blocks) == 2 and blocks[1] != 1:
            rule = "cut along its rows alone"
            remedy = "Give rechunk({1: -1}), or build it from blocks that hold all columns."
            raise parameter_error("source", owner, rule, f"{blocks[1]} blocks of columns", remedy)
        pieces = collection.to_delayed()
        return list(pieces.ravel() if hasattr(pieces, "ravel") else pieces)
    delayed, future = dask("dask.delayed").Delayed, dask("distributed").Future
    given = list(collection) if isinstance(collection, Iterable) and not isinstance(collection, str) else []
    if not given or not all(isinstance(each, delayed | future) for each in given):
        remedy = "Tables in memory are for the model's own methods; dask.delayed makes batches of them."
        raise parameter_error("source", owner, RULE, collection, remedy)
    return given

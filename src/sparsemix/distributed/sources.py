"""Rows that lie on disk or on workers, as batches that are loaded where they are needed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sparsemix.data.columns import RECORD_NUMBER, looks_like_list
from sparsemix.data.formats import find_files, is_path
from sparsemix.data.request import OpenTable, Request, open_table
from sparsemix.data.tables import clean_blocks
from sparsemix.distributed.batches import NamedLabels
from sparsemix.distributed.wire import call
from sparsemix.foundation.errors import DataError, ParameterError, SparsemixError, parameter_error
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
        return [call(read_file, *each) for each in files_to_read(source, reading, owner)]
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


def files_to_read(source: Any, reading: Mapping[str, Any], owner: str) -> list[tuple[Path, dict[str, Any]]]:
    """Each file, where all workers look for it, with the arguments of `read_table`; columns are guessed once for all.

    Raises
    ------
    ParameterError, DataError
        As `read_table`; also for several svmlight files.
    """
    files, same = find_files(source, reading.get("format")), dict(reading)
    if files.format == "svmlight" and len(files.files) > 1:
        raise DataError(
            f"{files.description} are svmlight files, of which only all together say whether columns are numbered from "
            f"0 or from 1. Join them into one, or write each as .npz."
        )
    table = open_table(source, Request.of_keywords(owner, reading))
    if isinstance(table, OpenTable) and files.format != "baskets":
        same |= table.roles.columns
        _check_guess(table)
    return [(file.absolute(), same) for file in files.files]


def _check_guess(table: OpenTable) -> None:
    """Let the first records refuse a guess as `read_table` does; workers do not know that it is one."""
    name = table.roles.guessed.get("feature")
    if name is not None and looks_like_list(name) and name not in table.reader.list_columns():
        next(clean_blocks(table), None)


def read_file(file: Path, reading: Mapping[str, Any]) -> Any:
    """The rows of a file, as `read_table` has them, with their labels if a column has some; runs on a worker."""
    from sparsemix.data import read_table

    try:
        rows = read_table(file, **reading)
    except SparsemixError as error:
        if str(file) in str(error):
            raise
        raise type(error)(f"{file}: {error}") from error
    row = rows.report.guessed.get("row", RECORD_NUMBER)
    if row != RECORD_NUMBER:
        raise DataError(
            f"{file} has a column {row!r} of row ids, which other files lack. Name it with row=, or leave it out there."
        )
    return rows if rows.labels is None else (rows, NamedLabels.of(rows))


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

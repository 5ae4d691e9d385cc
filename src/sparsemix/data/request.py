"""What a caller asks for, and the reader that can give it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypedDict

import numpy as np

from sparsemix.data.arrow_tables import ParquetReader, memory_reader
from sparsemix.data.basket_lines import ITEMS, BasketReader
from sparsemix.data.blocks import TableReader
from sparsemix.data.columns import ROLES, Roles, assign_roles
from sparsemix.data.csv_records import Dialect
from sparsemix.data.csv_tables import CsvReader
from sparsemix.data.formats import MATRIX_FORMATS, FileSet, find_files, is_path
from sparsemix.data.headers import difference
from sparsemix.data.json_tables import JsonReader
from sparsemix.data.values import holds_numbers
from sparsemix.foundation.errors import DataError, ParameterError, parameter_error

PathOrTable = Any
"""A path (str or PathLike), a list of paths, or a table in memory."""

SEPARATORS = {"csv": ",", "tsv": "\t"}


class ReadOptions(TypedDict, total=False):
    """Keyword arguments that `read_table` and `iter_batches` share."""

    row: str | None
    feature: str | None
    count: str | None
    time: str | None
    group: str | None
    label: str | None
    delimiter: str | None
    format: str | None
    columns: Sequence[str] | None
    separator: str | None
    quote: str | None


@dataclass(frozen=True)
class Request:
    """The arguments of `read_table`, checked as far as they can be without looking at the data.

    Attributes
    ----------
    row, feature, count, time, group, label, delimiter, format, columns, separator, quote
        As in `read_table`.
    """

    row: str | None = None
    feature: str | None = None
    count: str | None = None
    time: str | None = None
    group: str | None = None
    label: str | None = None
    delimiter: str | None = None
    format: str | None = None
    columns: Sequence[str] | None = None
    separator: str | None = None
    quote: str | None = '"'

    def __post_init__(self) -> None:
        for name in ROLES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise parameter_error(name, "read_table", "the name of a column or None", value)
        if self.delimiter is not None and not (_is_text(self.delimiter) and self.delimiter):
            raise parameter_error(
                "delimiter", "read_table", "a text of at least one character", self.delimiter
            )
        self._check_signs()
        if self.columns is not None and not _are_names(self.columns):
            raise parameter_error("columns", "read_table", "a list of different names or None", self.columns)

    def _check_signs(self) -> None:
        for name in ("separator", "quote"):
            value = getattr(self, name)
            is_sign = isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\0\r\n"
            if value is not None and not is_sign:
                rule = "None or one ASCII character that ends no line"
                raise parameter_error(name, "read_table", rule, value)

    @classmethod
    def of_keywords(cls, function: str, keywords: Mapping[str, Any]) -> Self:
        """The request that keyword arguments of a function make; TypeError, as Python's own, if it has no such."""
        for name in keywords:
            if name not in ReadOptions.__annotations__:
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
        return cls(**keywords)

    @property
    def named_columns(self) -> dict[str, str]:
        """Role to column, for the roles that were named."""
        return {role: getattr(self, role) for role in ROLES if getattr(self, role) is not None}


@dataclass(frozen=True)
class OpenTable:
    """A source of records and the roles of its columns."""

    reader: TableReader
    roles: Roles
    delimiter: str | None


def open_table(source: PathOrTable, request: Request) -> OpenTable | FileSet:
    """Find the reader for a source and settle the roles; matrix files have no columns and stay files.

    Raises
    ------
    ParameterError
        If an argument does not fit the source, a column does not exist, or there is no obvious choice.
    DataError
        If there is no such file.
    """
    if not is_path(source):
        return _assigned(_memory_reader(source, request), request)
    files = find_files(source, request.format)
    if files.format not in SEPARATORS:
        _refuse(request, ("columns", "separator"), files.format)
    if files.format in MATRIX_FORMATS:
        _refuse(request, (*ROLES, "delimiter"), files.format)
        return files
    if files.format == "baskets":
        _refuse(request, ROLES, files.format)
        return OpenTable(file_reader(files, request), Roles({"feature": ITEMS}, {}), None)
    return _assigned(file_reader(files, request), request)


def _assigned(reader: TableReader, request: Request) -> OpenTable:
    named = request.named_columns
    names = reader.column_names(tuple(named.values()))
    candidates = [request.feature] if request.feature is not None else names
    lists = reader.list_columns()
    may_be_baskets = request.delimiter is not None or not lists.isdisjoint(candidates)
    try:
        roles = assign_roles(named, names, may_be_baskets)
    except ParameterError as error:
        headers = reader.headers() if isinstance(reader, CsvReader | ParquetReader) else {}
        raise ParameterError(f"{error} {difference(headers)}".rstrip()) from error
    if request.delimiter is not None or roles.columns["feature"] in lists:
        roles = replace(roles, unused_counts=())  # a record of many features has no count for each
    return OpenTable(reader, _with_guessed_count(reader, roles), request.delimiter)


def _with_guessed_count(reader: TableReader, roles: Roles) -> Roles:
    """Take the column of counts where it is the one obvious choice and the caller left others to be guessed."""
    if len(roles.unused_counts) == 1 and roles.guessed:
        [name] = roles.unused_counts
        if _begins_with_numbers(reader, {"feature": roles.columns["feature"], "count": name}):
            return roles.with_count(name)
    return roles


def _begins_with_numbers(reader: TableReader, columns: dict[str, str]) -> bool:
    """Whether the column of counts is one of numbers; good or bad ones, for reading it tells a bad one's place."""
    if columns["count"] in reader.list_columns():
        return False
    try:
        first = next(reader.blocks(columns), None)
    except DataError:
        return True  # reading meets the same error, and then it is raised
    return first is not None and holds_numbers(first.columns["count"])


def _memory_reader(source: PathOrTable, request: Request) -> TableReader:
    _refuse(request, ("format", "columns", "separator"), "a table in memory")
    reader = memory_reader(source)
    if reader is None:
        raise ParameterError(
            f"'path_or_table' of read_table must be a path, a list of paths, or a pandas, polars or Arrow "
            f"table, but it is {type(source).__name__}. A matrix becomes a data set with Dataset.from_matrix."
        )
    return reader


def file_reader(files: FileSet, request: Request) -> TableReader:
    """Return the reader of a format."""
    if files.format == "parquet":
        return ParquetReader(files.files, files.description)
    if files.format == "jsonl":
        return JsonReader(files.files, files.description)
    if files.format == "baskets":
        return BasketReader(files.files, files.description, request.delimiter, files.is_explicit)
    dialect = Dialect(request.separator or SEPARATORS[files.format], request.quote)
    if dialect.quote == dialect.separator:
        remedy = "Pass quote=None if the values have no quotation marks."
        raise parameter_error(
            "quote", "read_table", "another character than the separator", dialect.quote, remedy
        )
    return CsvReader(files.files, files.description, dialect, request.columns)


def _are_names(value: Any) -> bool:
    is_list = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return is_list and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_text(value: object) -> bool:
    """Whether a value is text that can be written, which a surrogate alone cannot."""
    return isinstance(value, str) and value == value.encode("utf-8", "replace").decode()


def _refuse(request: Request, names: Sequence[str], what: str) -> None:
    for name in names:
        value = getattr(request, name)
        if value is not None:
            raise parameter_error(name, "read_table", f"None for {what}", value)

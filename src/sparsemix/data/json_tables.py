"""JSON lines as blocks of records; DuckDB takes the wanted keys out of each line."""

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparsemix.data.arrow_numpy import one_array, to_numpy
from sparsemix.data.blocks import Block
from sparsemix.data.byte_stream import TextPiece, decode_lines, line_pieces
from sparsemix.data.duck import open_duckdb
from sparsemix.data.values import Column, whole_texts
from sparsemix.foundation.errors import DataError, shorten

ID_ROLES = ("row", "feature", "group", "label")
PEEKED_LINES = 1_000


class JsonReader:
    """Files with one JSON object a line; blank lines are skipped, a missing key is a null.

    Parameters
    ----------
    files : tuple of Path
    description : str
    """

    def __init__(self, files: tuple[Path, ...], description: str) -> None:
        self._files = files
        self._lists: set[str] | None = None
        self.description = description

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:
        """Return the keys in order of first appearance, from as many lines as it takes to see all `wanted`.

        At least the first piece of the first file is looked at.
        """
        names: dict[str, None] = {}
        with open_duckdb() as connection:
            for lines in self._lines(connection):
                names.update(dict.fromkeys(lines.keys()))
                self._lists = lines.keys_of_arrays() if self._lists is None else self._lists
                if all(name in names for name in wanted):
                    break
        return list(names)

    def list_columns(self) -> set[str]:
        """Keys that hold an array somewhere in the first lines of the first file."""
        if self._lists is None:
            self.column_names()
        return self._lists or set()

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:
        """Yield the records in order."""
        with open_duckdb() as connection:
            for lines in self._lines(connection):
                yield _block(lines, columns)

    def _lines(self, connection: Any) -> "Iterator[_Lines]":
        for file in self._files:
            for piece in line_pieces(file):
                lines = _Lines(piece, file, connection)
                if lines.numbers.size:
                    yield lines


class _Lines:
    """Lines that are not blank, with their numbers in the file; DuckDB sees them as the table ``lines``.

    Raises
    ------
    DataError
        If a line is no JSON object.
    """

    def __init__(self, piece: TextPiece, file: Path, connection: Any) -> None:
        texts = pa.array(decode_lines(piece, file), pa.large_string())
        is_filled = pc.not_equal(pc.ascii_trim_whitespace(texts), "")
        self.texts = texts.filter(is_filled)
        self.numbers = piece.first_line + np.flatnonzero(to_numpy(is_filled, False))
        self._file = file
        self._connection = connection
        connection.register("lines", pa.table({"line": self.texts}))
        self._check()

    def place(self, record: int) -> str:
        """Return words for the place of a record."""
        return f"{self._file}, line {self.numbers[record]}"

    def table(self, query: str) -> Any:
        """Return the result of a query as an Arrow table."""
        return self._connection.sql(query).to_arrow_table()

    def keys(self) -> list[str]:
        """Return the keys in order of first appearance."""
        found = self.table("SELECT unnest(json_keys(line)) AS key FROM lines")
        names: list[str] = pc.unique(found["key"]).to_pylist()
        return names

    def keys_of_arrays(self) -> set[str]:
        """Return the keys that hold an array in the first lines."""
        few = f"SELECT line, unnest(json_keys(line)) AS key FROM (FROM lines LIMIT {PEEKED_LINES})"
        pointer = "'/' || replace(replace(key, '~', '~0'), '/', '~1')"
        found = self.table(f"SELECT DISTINCT key FROM ({few}) WHERE json_type(line, {pointer}) = 'ARRAY'")
        return set(found["key"].to_pylist())

    def _check(self) -> None:
        try:
            found = self.table("SELECT json_type(line) AS kind, json_keys(line) AS keys FROM lines")
        except duckdb.InvalidInputException as error:
            valid = self.table("SELECT json_valid(line) AS valid FROM lines")["valid"]
            raise self._no_object(int(np.argmin(to_numpy(valid, False)))) from error
        is_object = to_numpy(pc.equal(found["kind"], "OBJECT"), False)
        if not is_object.all():
            raise self._no_object(int(np.argmin(is_object)))
        record = _first_with_repeats(one_array(found["keys"]))
        if record is not None:
            raise self._repeated_key(record)

    def _no_object(self, record: int) -> DataError:
        text = self.texts[record].as_py()
        half = _half_character(text)
        if half is not None:
            return DataError(
                f"{self.place(record)}: the text must be Unicode, but \\u{ord(half):04x} is only half of a character "
                f"(a surrogate alone). Write the whole character."
            )
        return DataError(
            f"{self.place(record)}: the line must be a JSON object, but it is {shorten(text)}. "
            "Write one object with the names of the columns on each line."
        )

    def _repeated_key(self, record: int) -> DataError:
        names = [name for name, _ in json.loads(self.texts[record].as_py(), object_pairs_hook=list)]
        twice = next(name for name in names if names.count(name) > 1)
        return DataError(
            f"{self.place(record)}: the line must hold each key once, but {shorten(twice)} stands twice. "
            f"Several features of a row are an array."
        )


def _first_with_repeats(lists: Any) -> int | None:
    """The first list that holds a value twice."""
    codes = pc.list_flatten(lists).dictionary_encode()
    size = len(codes.dictionary)
    pairs = np.sort(
        pc.list_parent_indices(lists).to_numpy().astype(np.int64) * size + codes.indices.to_numpy()
    )
    repeats = np.flatnonzero(pairs[1:] == pairs[:-1])
    return int(pairs[repeats[0]]) // size if repeats.size else None


def _half_character(text: str) -> str | None:
    """The first surrogate without its other half in an otherwise valid line."""
    try:
        whole = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    found = re.search("[\ud800-\udfff]", whole)
    return None if found is None else found[0]


def _block(lines: _Lines, columns: dict[str, str]) -> Block:
    """Take the wanted keys out of some lines: scalars as text, arrays of features as lists."""
    pointers = ", ".join(_pointer(name) for name in columns.values())
    parts = ", ".join(
        f"json_extract_string(found[{i}], '$') AS {role}_text, json_type(found[{i}]) AS {role}_type"
        for i, role in enumerate(columns, start=1)
    )
    table = lines.table(f"SELECT {parts} FROM (SELECT json_extract(line, [{pointers}]) AS found FROM lines)")
    found = {}
    text_roles = set()
    for role, name in columns.items():
        kinds = one_array(table.column(f"{role}_type"))
        seen = pc.unique(kinds).to_pylist()
        _check_scalar(lines, role, kinds, seen)
        if "VARCHAR" in seen:
            text_roles.add(role)
        found[role] = one_array(table.column(f"{role}_text"))
        if role in ID_ROLES and "DOUBLE" in seen:
            found[role] = _whole_numbers(lines, role, found[role], pc.equal(kinds, "DOUBLE"))
        if "ARRAY" in seen:
            found[role] = _lists(lines, name)
    return Block(found, len(lines.texts), lines.place, text_roles, untyped=True)


def _check_scalar(lines: _Lines, role: str, kinds: Any, seen: list[str | None]) -> None:
    for nested in {"OBJECT", "ARRAY"}.intersection(seen):
        if nested == "OBJECT" or role != "feature":
            record = int(np.argmax(to_numpy(pc.equal(kinds, nested), False)))
            rule = "text, a number, or (for features) an array of those"
            raise Column(kinds, role, lines.place).error(record, rule, lines.texts[record].as_py())


def _whole_numbers(lines: _Lines, role: str, texts: Any, is_double: Any) -> Any:
    """Write 3.0 as 3, as a table of floats would; a fraction is no name."""
    mask = pc.fill_null(is_double, fill_value=False)
    records = np.flatnonzero(to_numpy(mask, False))
    numbers = pa.array([float(text) for text in texts.filter(mask).to_pylist()])
    column = Column(numbers, role, lambda record: lines.place(int(records[record])))
    return pc.replace_with_mask(texts, mask, whole_texts(column).cast(texts.type))


def _lists(lines: _Lines, name: str) -> Any:
    """Arrays as lists of text; a scalar is a list of one."""
    found = f"SELECT json_extract(line, {_pointer(name)}) AS found FROM lines"
    wrapped = "CASE json_type(found) WHEN 'ARRAY' THEN found ELSE json_array(found) END AS items"
    table = lines.table(
        f"SELECT CAST(items AS VARCHAR[]) AS items, json_structure(items) AS shape "
        f"FROM (SELECT {wrapped} FROM ({found}))"
    )
    shapes = one_array(table.column("shape"))
    is_nested = to_numpy(pc.match_substring_regex(shapes, r"^\[[\[{]"), False)
    if is_nested.any():
        record = int(np.argmax(is_nested))
        rule = "an array of text or numbers"
        raise Column(shapes, "feature", lines.place).error(record, rule, lines.texts[record].as_py())
    return one_array(table.column("items"))


def _pointer(name: str) -> str:
    """Return a key as an SQL literal of a JSON pointer."""
    escaped = name.replace("~", "~0").replace("/", "~1").replace("'", "''")
    return f"'/{escaped}'"

"""Clean blocks on disk, brought into row order by DuckDB: for tables that do not fit in memory.

Only the vocabulary and one block or batch at a time are in memory; DuckDB sorts on disk beyond its memory
limit.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparsemix.data.clean import ATTRIBUTE_ROLES, Attribute, CleanBlock
from sparsemix.data.duck import interruptible, open_duckdb
from sparsemix.data.report import ReadReport
from sparsemix.data.scratch import scratch_folder
from sparsemix.data.vocabulary import Vocabulary
from sparsemix.foundation.errors import DataError, parameter_error

VALUE_TYPES = {"group": "VARCHAR", "time": "DOUBLE", "label": "VARCHAR"}


class Stage:
    """Tables of one reading.

    ``appearances`` (rows of each block with their attributes) and ``pairs`` are filled block by block;
    `arrange` turns them into ``rows`` and ``cells``, which stand in row order.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    roles : collection of str
        Roles that have a column.
    report : ReadReport
        To start the counters from.
    """

    def __init__(self, connection: Any, roles: Collection[str], report: ReadReport) -> None:
        self.connection = connection
        self.attributes = [role for role in ATTRIBUTE_ROLES if role in roles]
        self.has_counts = "count" in roles
        self.features = Vocabulary()
        self.text_roles: set[str] = set()
        self.report = report
        values = "".join(
            f", {role}_value {VALUE_TYPES[role]}, {role}_conflict BOOLEAN" for role in self.attributes
        )
        count = ", n DOUBLE" if self.has_counts else ""
        connection.execute(f"CREATE TABLE appearances (row_id VARCHAR, record BIGINT{values})")
        connection.execute(f"CREATE TABLE pairs (row_id VARCHAR, feature INTEGER{count})")

    def add(self, block: CleanBlock) -> None:
        """Take a block."""
        appearances = {"row_id": block.rows, "record": block.first_records}
        for role in self.attributes:
            attribute = block.attributes[role]
            appearances[f"{role}_value"] = _values(attribute)
            appearances[f"{role}_conflict"] = attribute.conflicts
            self._note_text(role, attribute.is_text)
        self._note_text("row", block.row_is_text)
        features = self.features.encode(block.features).astype(np.int32)
        pairs = {
            "row_id": pa.DictionaryArray.from_arrays(pa.array(block.pair_rows), block.rows),
            "feature": features[block.pair_features],
        }
        if block.pair_counts is not None:
            pairs["n"] = block.pair_counts
        self._insert("appearances", appearances)
        self._insert("pairs", pairs)
        self.report += block.report

    def arrange(self) -> None:
        """Put the rows in order of first appearance, and the pairs in the order of their rows."""
        chosen = "".join(
            f", arg_min({role}_value, record) FILTER (WHERE {role}_value IS NOT NULL) AS {role}_value"
            f", bool_or({role}_conflict) OR coalesce(min({role}_value) <> max({role}_value), false)"
            f" AS {role}_conflict"
            for role in self.attributes
        )
        self._run(
            f"CREATE TABLE rows AS "
            f"SELECT row_number() OVER (ORDER BY record) - 1 AS number, * EXCLUDE (record) "
            f"FROM (SELECT row_id, min(record) AS record{chosen} FROM appearances GROUP BY row_id) "
            f"ORDER BY number"
        )
        self._run("DROP TABLE appearances")
        self._run(
            "CREATE TABLE cells AS SELECT * EXCLUDE (line) FROM (SELECT number, pairs.* EXCLUDE (row_id), "
            "pairs.rowid AS line FROM pairs JOIN rows USING (row_id)) "
            "ORDER BY number, line"
        )
        self._run("DROP TABLE pairs")

    def feature_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the features in order of first appearance, row by row, and the first row of each."""
        query = "SELECT feature, min(rowid) AS place, min(number) AS number FROM cells GROUP BY feature"
        found = self.table(f"{query} ORDER BY place")
        return found["feature"].to_numpy().astype(np.int64), found["number"].to_numpy()

    def table(self, query: str) -> Any:
        """Return the result of a query as an Arrow table."""
        return interruptible(self.connection, lambda: self.connection.sql(query).to_arrow_table())

    def _run(self, query: str) -> None:
        interruptible(self.connection, lambda: self.connection.execute(query))

    def _note_text(self, role: str, is_text: bool) -> None:
        if is_text:
            self.text_roles.add(role)

    def _insert(self, table: str, columns: dict[str, Any]) -> None:
        self.connection.register("incoming", pa.table(columns))
        self.connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")
        self.connection.unregister("incoming")


@contextmanager
def open_stage(roles: Collection[str], report: ReadReport, memory_limit: str) -> Iterator[Stage]:
    """Give a stage in a temporary folder, which is removed afterwards.

    Raises
    ------
    ParameterError
        If DuckDB does not understand `memory_limit`.
    DataError
        If the memory or the disk does not suffice.
    """
    with scratch_folder() as folder:
        try:
            with open_duckdb(folder / "stage.duckdb", temp_folder=folder) as connection:
                _limit_memory(connection, memory_limit)
                yield Stage(connection, roles, report)
        except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
            raise DataError(
                f"The table cannot be sorted in {memory_limit} of memory and the space in {folder}: {error}. "
                f"Pass a larger memory_limit=, or let TMPDIR name a larger disk."
            ) from error


def _limit_memory(connection: Any, memory_limit: str) -> None:
    quoted = str(memory_limit).replace("'", "''")
    try:
        connection.execute(f"SET memory_limit = '{quoted}'")
    except duckdb.Error as error:
        raise parameter_error("memory_limit", "iter_batches", "a size such as '1GB'", memory_limit) from error


def _values(attribute: Attribute) -> Any:
    """Values of the rows of a block, null where there is none."""
    if attribute.values is None:
        return pa.array(attribute.numbers, mask=np.isnan(attribute.numbers))
    codes = pa.array(attribute.numbers, mask=attribute.numbers < 0)
    return attribute.values.take(codes)

"""Read any table in batches of rows, in memory that does not grow with it."""

from collections.abc import Iterator
from typing import Unpack

from sparsemix.data.dataset import Dataset, concatenate
from sparsemix.data.formats import FileSet
from sparsemix.data.matrix_files import matrix_pieces
from sparsemix.data.request import OpenTable, PathOrTable, ReadOptions, Request, open_table
from sparsemix.data.staged_batches import StagedBatches
from sparsemix.data.staging import open_stage
from sparsemix.data.tables import clean_blocks, start_report
from sparsemix.foundation.checks import at_least
from sparsemix.foundation.errors import DataError, parameter_error

VOCABULARIES = ("growing", "two-pass")


def iter_batches(
    path_or_table: PathOrTable,
    *,
    rows: int = 50_000,
    vocabulary: str = "growing",
    skip_rows: int = 0,
    memory_limit: str = "1GB",
    **options: Unpack[ReadOptions],
) -> Iterator[Dataset]:
    """Read a table in batches of whole rows; joined they equal what `read_table` gives.

    Records of a row may stand anywhere in the table: they are brought together on disk first, in a temporary
    folder (``TMPDIR``). In memory are one batch, the vocabulary, and what `memory_limit` allows for sorting.
    Matrix files have their columns fixed, and ``.npz`` and ``.mtx`` are held in memory whole.

    Parameters
    ----------
    path_or_table : str, PathLike, list of those, or table
        As in `read_table`.
    rows : int, default 50000
        Rows of a batch; the last one may have fewer.
    vocabulary : {"growing", "two-pass"}, default "growing"
        Columns of a batch: the features seen so far, each batch keeping the columns of the one before; or all
        features of the table from the start.
    skip_rows : int, default 0
        Rows to leave out at the start, to go on where an earlier reading stopped; the columns are the same as
        if they had been read.
    memory_limit : str, default "1GB"
        Memory for sorting.
    **options
        The other arguments of `read_table`: ``row``, ``feature``, ``count``, ``time``, ``group``, ``label``,
        ``delimiter``, ``format``, ``columns``, ``separator``, ``quote``.

    Yields
    ------
    Dataset
        The report of the first batch has the counters of the whole reading; repeated pairs and conflicts are
        counted in the batch of their row. Added up the reports give that of `read_table`.

    Raises
    ------
    DataError, ParameterError
        As `read_table`; also if `skip_rows` is more than there is. Arguments and columns are checked at the
        call, the records when the first batch is taken.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"ad": [1, 2, 1, 3], "keyword": ["red", "blue", "green", "red"]})
    >>> [batch.feature_names.tolist() for batch in iter_batches(table, rows=1)]
    [['red', 'green'], ['red', 'green', 'blue'], ['red', 'green', 'blue']]
    """
    at_least("rows", "iter_batches", rows, 1)
    at_least("skip_rows", "iter_batches", skip_rows, 0)
    rows, skip_rows = int(rows), int(skip_rows)
    if not isinstance(vocabulary, str) or vocabulary not in VOCABULARIES:
        raise parameter_error("vocabulary", "iter_batches", f"one of {', '.join(VOCABULARIES)}", vocabulary)
    table = open_table(path_or_table, Request.of_keywords("iter_batches", options))
    if isinstance(table, FileSet):
        return _matrix_batches(table, rows, skip_rows)
    return _table_batches(table, rows, vocabulary == "growing", skip_rows, memory_limit)


def _table_batches(
    table: OpenTable, rows: int, growing: bool, skip_rows: int, memory_limit: str
) -> Iterator[Dataset]:
    with open_stage(table.roles.columns, start_report(table), memory_limit) as stage:
        for block in clean_blocks(table):
            stage.add(block)
        stage.arrange()
        batches = StagedBatches(stage, growing)
        _check_skip(skip_rows, batches.n_rows)
        for start in range(skip_rows, batches.n_rows, rows):
            yield batches.batch(start, min(start + rows, batches.n_rows), is_first=start == skip_rows)


def _check_skip(skip_rows: int, n_rows: int) -> None:
    if skip_rows > n_rows:
        raise DataError(f"'skip_rows' of iter_batches is {skip_rows}, but the table has only {n_rows} rows.")


def _matrix_batches(files: FileSet, rows: int, skip_rows: int) -> Iterator[Dataset]:
    n_rows = 0
    held: list[Dataset] = []
    for piece in matrix_pieces(files):
        kept = piece[max(skip_rows - n_rows, 0) :]
        n_rows += len(piece)
        held = [*held, kept] if len(kept) else held
        while sum(map(len, held)) >= rows:
            joined = concatenate(held)
            yield joined[:rows]
            held = [joined[rows:]] if len(joined) > rows else []
    _check_skip(skip_rows, n_rows)
    if held:
        yield concatenate(held)

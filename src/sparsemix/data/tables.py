"""Read any table, whole."""

from collections.abc import Iterator, Sequence

from sparsemix.data.assemble import Assembler
from sparsemix.data.clean import CleanBlock, clean_block
from sparsemix.data.columns import RECORD_NUMBER, looks_like_list
from sparsemix.data.dataset import Dataset
from sparsemix.data.formats import FileSet
from sparsemix.data.matrix_files import read_matrix_file
from sparsemix.data.pairs import is_list
from sparsemix.data.report import ReadReport
from sparsemix.data.request import OpenTable, PathOrTable, Request, open_table
from sparsemix.foundation.errors import ParameterError, shorten


def read_table(
    path_or_table: PathOrTable,
    *,
    row: str | None = None,
    feature: str | None = None,
    count: str | None = None,
    time: str | None = None,
    group: str | None = None,
    label: str | None = None,
    delimiter: str | None = None,
    format: str | None = None,
    columns: Sequence[str] | None = None,
    separator: str | None = None,
    quote: str | None = '"',
) -> Dataset:
    """Read a table of rows and features into a sparse matrix.

    Long form (one record per row and feature) and basket form (one record per row, with a list of features or
    a text that `delimiter` splits) give the same result, and so does every format.

    Parameters
    ----------
    path_or_table : str, PathLike, list of those, or table
        Parquet, CSV, TSV or JSON lines (each also gzipped), a folder or glob pattern of them; svmlight, FIMI
        ``.dat``, SciPy ``.npz`` or Matrix Market ``.mtx`` files; a pandas, polars or Arrow table.
    row, feature : str, optional
        Columns of the row ids and of the features. If they are not given they are guessed where there is one
        obvious choice, and the report says so. In basket form without such a column each record is a row.
    count : str, optional
        Column of counts, whole numbers >= 0; counts of repeated pairs are summed. It is guessed only where
        `row` or `feature` is, in long form, and from then on every value must be a count. Without it a feature
        is present or not, however often the pair is repeated.
    time, group, label : str, optional
        Columns with one value a row; the first that a row has is kept, and rows with several are counted.
    delimiter : str, optional
        What separates the features in a cell of the basket form; blanks around a feature are cut off.
    format : str, optional
        ``"parquet"``, ``"csv"``, ``"tsv"``, ``"jsonl"``, ``"baskets"`` (a basket a line, items separated by
        blanks or `delimiter`), ``"svmlight"``, ``"npz"`` or ``"mtx"``, where the suffix does not say it.
    columns : sequence of str, optional
        Names of the columns of a CSV or TSV file that has no header.
    separator : str, optional
        What separates the values of a CSV file; the default is a comma, for TSV a tab.
    quote : str or None, default '"'
        Quotation mark of CSV and TSV files; None if they have none and the character is like any other.

    Returns
    -------
    Dataset
        Rows in order of first appearance; features in order of first appearance when the table is read row by
        row.

    Raises
    ------
    DataError
        If there is no such file, it is empty or damaged, or a record cannot be read; the message names file
        and line.
    ParameterError
        If a column does not exist or there is no obvious choice (the message lists the columns), or an argument
        does not fit the source.

    See Also
    --------
    iter_batches : The same for tables that do not fit in memory.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"ad": [7, 7, 9], "keyword": ["red shoes", "boots", "boots"]})
    >>> read_table(table, row="ad", feature="keyword")
    Dataset: 2 rows x 2 features, 3 non-zeros
      7: red shoes, boots
      9: boots
    """
    request = Request(row, feature, count, time, group, label, delimiter, format, columns, separator, quote)
    table = open_table(path_or_table, request)
    if isinstance(table, FileSet):
        return read_matrix_file(table)
    assembler = Assembler(start_report(table), table.roles.columns)
    for block in clean_blocks(table):
        assembler.add(block)
    return assembler.finish()


def guess_columns(path_or_table: PathOrTable) -> dict[str, str]:
    """Guess which columns hold the row ids, the features and the counts.

    Parameters
    ----------
    path_or_table : str, PathLike, list of those, or table
        As in `read_table`.

    Returns
    -------
    dict of str to str
        ``{"row": ..., "feature": ...}``, without a row where each record is one (lists of features, and no
        column that looks like an id), and with ``"count"`` where one column has a name for counts and begins
        with numbers; empty for files that have no columns.

    Raises
    ------
    ParameterError
        If there is no one obvious choice; the message lists the columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> guess_columns(pa.table({"ad_id": [1], "advertiser": ["A"], "keyword": ["boots"]}))
    {'row': 'ad_id', 'feature': 'keyword'}
    """
    table = open_table(path_or_table, Request())
    guessed = {} if isinstance(table, FileSet) else table.roles.guessed
    return {role: name for role, name in guessed.items() if name != RECORD_NUMBER}


def start_report(table: OpenTable) -> ReadReport:
    """Return the report before the first record."""
    roles = table.roles
    return ReadReport(
        source=table.reader.description, guessed=roles.guessed, unused_counts=roles.unused_counts
    )


def clean_blocks(table: OpenTable) -> Iterator[CleanBlock]:
    """Read a table block by block and apply the rules."""
    n_records = 0
    for block in table.reader.blocks(table.roles.columns):
        if n_records == 0:
            _check_guessed_feature(table, is_list(block.columns["feature"].type))
        yield clean_block(block, n_records, table.delimiter)
        n_records += block.n_records


def _check_guessed_feature(table: OpenTable, holds_lists: bool) -> None:
    name = table.roles.guessed.get("feature")
    if name is not None and looks_like_list(name) and not holds_lists and table.delimiter is None:
        raise ParameterError(
            f"Column {shorten(name)} was guessed as feature=, but its name is a plural and it holds text. "
            f"If a cell holds several features pass delimiter=, else name the column with feature=."
        )

"""Reading tables of rows and features, from any common form, into one sparse data set.

Names are loaded on first use: only reading a file or a table loads Arrow and DuckDB.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Dataset": "sparsemix.data.dataset",
    "DatasetProfile": "sparsemix.data.profile",
    "FilterReport": "sparsemix.data.report",
    "Mailbox": "sparsemix.data.mailbox",
    "MailboxReport": "sparsemix.data.report",
    "ReadReport": "sparsemix.data.report",
    "guess_columns": "sparsemix.data.tables",
    "iter_batches": "sparsemix.data.stream",
    "read_mailbox": "sparsemix.data.mailbox",
    "read_table": "sparsemix.data.tables",
}

__all__ = [
    "Dataset",
    "DatasetProfile",
    "FilterReport",
    "Mailbox",
    "MailboxReport",
    "ReadReport",
    "guess_columns",
    "iter_batches",
    "read_mailbox",
    "read_table",
]

if TYPE_CHECKING:
    from sparsemix.data.dataset import Dataset
    from sparsemix.data.mailbox import Mailbox, read_mailbox
    from sparsemix.data.profile import DatasetProfile
    from sparsemix.data.report import FilterReport, MailboxReport, ReadReport
    from sparsemix.data.stream import iter_batches
    from sparsemix.data.tables import guess_columns, read_table


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'sparsemix.data' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)

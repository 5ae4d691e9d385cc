"""Settle how the files of a table are read, before workers read them, and say what was guessed."""

from typing import NamedTuple

from sparsemix.cli.inputs import Source
from sparsemix.data.report import ReadReport
from sparsemix.data.request import OpenTable, Request, open_table
from sparsemix.data.tables import start_report


class Settled(NamedTuple):
    """What is known before the first record is read.

    has_ids : whether a column has the row ids; else the records are numbered.
    report : with the guesses.
    """

    has_ids: bool
    report: ReadReport


def settle(source: Source) -> Settled:
    """Find out and say which columns will be read; raises as `read_table`."""
    table = open_table(source.path, Request(**source.reading))
    if not isinstance(table, OpenTable):
        return Settled(False, ReadReport())
    report = start_report(table)
    source.say_guesses(report)
    return Settled("row" in table.roles.columns, report)

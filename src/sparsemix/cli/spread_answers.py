"""Ask a model about a table on several processes or machines; the answers are those of this process."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.cli.console import note
from sparsemix.cli.inputs import ROWS_PER_BATCH, Source
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.questions import Question
from sparsemix.cli.settling import settle
from sparsemix.cli.spool import Spool
from sparsemix.cli.table_options import columns_by_option
from sparsemix.cli.times import check_times
from sparsemix.cli.watching import check_any_known
from sparsemix.cli.worker_answers import Found, ask
from sparsemix.cli.workers import opened_client
from sparsemix.data.scratch import scratch_folder
from sparsemix.foundation.errors import DataError
from sparsemix.foundation.wording import counted


class SpreadAnswers:
    """Answers about the files of a table, in the order of the rows.

    Parameters
    ----------
    model : fitted mixture
    source : Source
        Each of its files holds its rows whole.
    cluster : dict
        ``workers`` or ``dask``, as `takes_cluster` gives them.
    question : Question
    title : str
        Of the progress bar.

    Attributes
    ----------
    n_rows, n_unknown_rows : int
        As in `WatchedBatches`.
    total : float
        The sum of what the question adds up.
    """

    def __init__(
        self, model: Any, source: Source, cluster: Mapping[str, Any], question: Question, title: str
    ) -> None:
        check_times(model, source.reading)
        self._model, self._source, self._cluster = model, source, cluster
        self._question, self._title = question, title
        self.n_rows = self.n_unknown_rows = 0
        self.total = 0.0

    def __iter__(self) -> Iterator[tuple[NDArray[Any], list[NDArray[Any]]]]:
        """Yield row ids and answers, as many rows at a time as one process reads.

        Raises
        ------
        DataError
            When the model knows none of the keywords, or records of a row lie in several files.
        """
        with scratch_folder() as folder:
            with closing(Spool(folder)) as spool:
                has_ids = self._gather(spool)
            if has_ids and self._n_files > 1:
                _check_whole(spool.repeated_row())
            yield from spool.parts(ROWS_PER_BATCH)

    def _gather(self, spool: Spool) -> bool:
        """Let workers answer about all files; return whether the rows have ids of their own."""
        has_ids, report = settle(self._source)
        unknown: list[str] | None = []
        for found in self._found():
            if len(found.row_ids):
                spool.add(found.row_ids if has_ids else found.row_ids + report.n_records, found.answers)
            report += found.report
            self.n_rows += len(found.row_ids)
            self.n_unknown_rows += found.n_unknown_rows
            self.total += found.total
            unknown = None if unknown is None or found.names is None else [*unknown, *found.names]
        if unknown:
            check_any_known(self._model, np.array(list(dict.fromkeys(unknown)), object))
        self._source.say_losses(report)
        return has_ids

    def _found(self) -> Iterator[Found]:
        """What workers find out, file by file."""
        from sparsemix.distributed import answers

        quiet, question = self._source.quiet, partial(ask, question=self._question)
        address = self._cluster.get("dask")
        with (
            opened_client(workers=self._n_workers(), dask_address=address, quiet=quiet) as client,
            rows_progress(self._title, None, quiet=quiet) as advance,
            columns_by_option(self._source.reading),
        ):
            reading = self._source.reading
            for found in answers(self._model, self._source.path, question, client=client, **reading):
                yield found
                advance(len(found.row_ids))

    def _n_workers(self) -> int | None:
        """Processes to start; no more than there is work for."""
        wanted, n_files = self._cluster.get("workers"), self._n_files
        if wanted is None or wanted <= n_files:
            return wanted
        note(f"{counted(n_files, 'file')}, so {counted(n_files, 'worker')}.", quiet=self._source.quiet)
        return n_files

    @cached_property
    def _n_files(self) -> int:
        return len(self._source.files())


def _check_whole(row: str | None) -> None:
    if row is not None:
        raise DataError(
            f"records of row {row!r} lie in several files, but workers take each file by itself. Bring the records of "
            f"a row into one file, or leave --workers and --dask out."
        )

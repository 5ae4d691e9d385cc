"""Ask a model about all rows of a table, in this process or on others."""

from collections.abc import Iterator, Mapping
from typing import Any

from sparsemix.cli.inputs import Source
from sparsemix.cli.numbers import source_for
from sparsemix.cli.progress import with_progress
from sparsemix.cli.questions import Arrays, Question
from sparsemix.cli.watching import WatchedBatches
from sparsemix.foundation.errors import ParameterError
from sparsemix.foundation.wording import kind_of


class Answers:
    """Answers about the rows of a table, in their order, from this process.

    Parameters
    ----------
    model : fitted mixture
    batches : WatchedBatches
    question : Question
    title : str
        Of the progress bar.
    quiet : bool

    Attributes
    ----------
    total : float
        The sum of what the question adds up, so far.
    """

    def __init__(
        self, model: Any, batches: WatchedBatches, question: Question, title: str, *, quiet: bool = False
    ) -> None:
        self._model, self._batches, self._question = model, batches, question
        self._title, self._quiet = title, quiet
        self.total = 0.0

    def __iter__(self) -> Iterator[tuple[Any, Arrays]]:
        """Yield row ids and answers."""
        for batch in with_progress(self._title, self._batches, quiet=self._quiet):
            answers, more = self._question(self._model, batch)
            self.total += more
            yield batch.row_ids, answers

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return self._batches.n_rows

    @property
    def n_unknown_rows(self) -> int:
        """Those that hold keywords, but none that the model knows."""
        return self._batches.n_unknown_rows


def check_for_workers(model: Any, batch_rows: int | None, cluster: Mapping[str, Any]) -> None:
    """Raise ParameterError for a model or an option that is not for workers, where there is a cluster."""
    if cluster and (not hasattr(model, "top_features") or getattr(model, "takes_real_numbers", False)):
        what = "of real numbers" if hasattr(model, "top_features") else "without clusters"
        raise ParameterError(
            f"--workers and --dask are for clusters of keywords, not for {kind_of(model)} {what}. "
            f"Leave them out."
        )
    if cluster and batch_rows is not None:
        raise ParameterError(
            "--batch-rows is not for --workers and --dask, where each file is a batch. Leave it out."
        )


def asked(
    model: Any,
    source: Source,
    question: Question,
    title: str,
    *,
    batch_rows: int | None,
    cluster: Mapping[str, Any],
) -> Any:
    """Return the answers about a table, `Answers` or, where there is a cluster, `SpreadAnswers`.

    Parameters
    ----------
    model : fitted mixture
    source : Source
    question : Question
    title : str
        Of the progress bar.
    batch_rows : int or None
        Rows at a time.
    cluster : dict
        Who does the work, as `takes_cluster` gives it; empty for this process.

    Raises
    ------
    ParameterError
        When the model needs times and no column of them was named.
    """
    if not cluster:
        batches = source_for(model, source).asked(model, batch_rows)
        return Answers(model, batches, question, title, quiet=source.quiet)
    from sparsemix.cli.spread_answers import SpreadAnswers

    return SpreadAnswers(model, source, cluster, question, title)

"""Learn from all rows in epochs: progress, and an orderly stop."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from sparsemix.cli.console import note
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.learning import check_labels, stop_saved
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.stopping import stop_between_blocks
from sparsemix.foundation.wording import counted


def learn_in_epochs(
    model: Any,
    source: Source,
    output: Path,
    *,
    batch_rows: int | None,
    labelled: bool,
    resume: bool,
    quiet: bool = False,
    **filters: int | None,
) -> None:
    """Fit a model that reads all rows in every epoch; when the user stops it, the best so far is saved.

    Parameters
    ----------
    model : MultinomialMixture or BernoulliMixture
        Changed in place.
    source : Source
    output : Path
        Where to save the model when the user stops it.
    batch_rows : int or None
        Read the table from disk in every epoch, so many rows at a time.
    labelled : bool
        Whether labels of rows are clusters that they are known to belong to.
    resume : bool
        Go on from where the model stands.
    quiet : bool
    **filters : int or None
        Arguments for `Dataset.filter`.

    Raises
    ------
    StoppedError
        When the user stops it and the model is saved.
    ParameterError
        When there are more labels than clusters.
    """
    fit = _reader(model, source, batch_rows, labelled, filters)
    say_if_compiling(quiet=quiet)
    model.set_params(warm_start=resume and hasattr(model, "weights_"))
    most = model.n_init * model.max_iter
    with (
        stop_between_blocks() as stop,
        rows_progress("Learning", most, quiet=quiet, unit="epochs") as advance,
    ):

        def follow(_epoch: Any) -> None:
            advance(1)
            if stop.wanted:
                raise KeyboardInterrupt

        try:
            fit(follow)
        except KeyboardInterrupt:
            if not stop.wanted or not hasattr(model, "weights_"):
                raise
        finally:
            model.set_params(warm_start=False)
    if stop.wanted:
        stop_saved(model, output, after=counted(model.n_iter_, "epoch"))


def _reader(
    model: Any, source: Source, batch_rows: int | None, labelled: bool, filters: dict[str, int | None]
) -> Callable[[Any], Any]:
    """What fits the model, given whom to tell of epochs."""
    table = source.table(batch_rows, 0, **filters)
    if batch_rows is None:
        (rows,) = table.batches
        if labelled:
            check_labels(model, rows)
            _say_labels(rows, quiet=source.quiet)
        return lambda follow: model.fit(rows, rows.labels if labelled else None, on_epoch=follow)
    passes = chain([source], repeat(replace(source, quiet=True)))  # what was guessed is said once

    def batches() -> Iterable[Any]:
        for batch in next(passes).stream(batch_rows, vocabulary="two-pass"):
            if labelled:
                check_labels(model, batch)
            yield (batch, batch.labels) if labelled else batch

    return lambda follow: model.fit_batches(batches, on_epoch=follow)


def _say_labels(rows: Any, *, quiet: bool) -> None:
    names = [str(name) for name in rows.label_names]
    shown = ", ".join(f"{k} {name}" for k, name in enumerate(names[:10]))
    note(f"Clusters of known rows: {shown}{', ...' if len(names) > 10 else ''}.", quiet=quiet)

"""Find the threads of a mailbox, write their page and show them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.options import Kind
from sparsemix.cli.outputs import check_model_output, check_page_output
from sparsemix.cli.progress import waiting
from sparsemix.cli.starting import new_model
from sparsemix.cli.tables import threads_table
from sparsemix.cli.times import check_parameters, sample
from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.foundation.extras import plotly
from sparsemix.foundation.wording import counted

if TYPE_CHECKING:
    from sparsemix.data.report import MailboxReport

_SHORT = 12  # threads that the table shows


@dataclass(frozen=True)
class Wish:
    """What was asked for.

    Attributes
    ----------
    reading : dict
        Arguments for `read_mailbox`.
    sampling : dict
        Parameters of the model.
    title : str
    n_words, most_threads : int
        Of the page.
    """

    reading: dict[str, Any]
    sampling: dict[str, Any]
    title: str
    n_words: int
    most_threads: int


def cluster_mailbox(
    file: Path, wish: Wish, output: Path, save: Path | None, *, json: bool, quiet: bool
) -> None:
    """Read a mailbox, sample its threads, write the page, and with `save` the model.

    Parameters
    ----------
    file : Path
        In mbox form.
    wish : Wish
    output : Path
        The page.
    save : Path or None
        The model file.
    json, quiet : bool

    Raises
    ------
    DataError
        If the file is no mailbox.
    ParameterError
        If a parameter breaks its rule, or a file may not be written.
    MissingExtraError
        If Plotly is not installed.
    """
    from sparsemix import read_mailbox, save_model
    from sparsemix.reporting import summarize_threads, write_timeline

    plotly("graph_objects")
    check_page_output(output)
    if save is not None:
        check_model_output(save)
        if save.resolve() == output.resolve():
            raise ParameterError(f"--save must be another file than --output, but both are {str(save)!r}.")
    model = new_model(Kind.TIME_SENSITIVE, wish.sampling)
    check_parameters(model)
    with waiting(f"Reading {file}", quiet=quiet):
        mailbox = read_mailbox(file, **wish.reading)
    for sentence in str(mailbox.report).splitlines()[1:]:
        note(f"{sentence[0].upper()}{sentence[1:]}.", quiet=quiet)
    if not mailbox.dataset.matrix.shape[1]:
        raise _no_words(file, mailbox.report)
    say_if_compiling([model], quiet=quiet)
    sample(model, mailbox.dataset, quiet=quiet)
    summary = summarize_threads(
        model, mailbox, title=wish.title, n_words=wish.n_words, most_threads=wish.most_threads
    )
    write_timeline(output, summary)
    if save is not None:
        save_model(model, save)
    _show(summary, output, json=json, quiet=quiet)


def _no_words(file: Path, report: "MailboxReport") -> DataError:
    remedy = "Raise --max-share." if report.n_common_words else "Lower --min-messages."
    return DataError(
        f"{file} must hold words that several messages have and not too many, but there are none. {remedy}"
    )


def _show(summary: dict[str, Any], output: Path, *, json: bool, quiet: bool) -> None:
    if json:
        show_json({"output": str(output), **summary})
        return
    largest = sorted(summary["threads"], key=lambda each: -each["n_messages"])[:_SHORT]
    shown = sorted(largest, key=lambda each: (each["first"], each["component"]))
    more = summary["n_threads"] - len(shown)
    messages, threads = counted(summary["n_messages"], "message"), counted(summary["n_threads"], "thread")
    show(
        f"{messages} in {threads}. The largest:" if more else f"{messages} in {threads}:",
        "",
        threads_table(shown),
        *([f"... and {counted(more, 'smaller one')}."] if more else []),
    )
    note(f"Wrote the page to {output}. Open it in a browser.", quiet=quiet)

"""``sparsemix mailbox``: the threads of a mailbox, as a timeline."""

from pathlib import Path
from typing import Annotated

import typer

from sparsemix.cli import options

EXAMPLES = (
    "sparsemix mailbox mail.mbox -o threads.html\n\n"
    "sparsemix mailbox mail.mbox.gz -o threads.html --half-life 1d --save threads.smx\n\n"
    "sparsemix mailbox list.mbox -o threads.html --learn -n 8 --max-share 0.1"
)

_WORDS, _SAMPLING = "Words", "Sampling"


def mailbox(
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", readable=False, help="A mailbox in mbox form, also gzipped.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PAGE", readable=False, help="Where to write the page; by custom .html."
        ),
    ],
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="MODEL", readable=False, help="Where to write the model as well."),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the page.")] = "Threads",
    n: Annotated[int, typer.Option("-n", min=1, help="Words for each thread.")] = 5,
    most_threads: Annotated[
        int, typer.Option("--most-threads", metavar="N", min=1, help="Threads on the page; the largest stay.")
    ] = 200,
    subjects: Annotated[
        bool, typer.Option("--subjects/--no-subjects", help="Whether subjects count.", rich_help_panel=_WORDS)
    ] = True,
    min_messages: Annotated[
        int,
        typer.Option(
            "--min-messages", metavar="N", min=1, help="Drop words of fewer messages.", rich_help_panel=_WORDS
        ),
    ] = 2,
    max_share: Annotated[
        float,
        typer.Option(
            "--max-share",
            metavar="P",
            min=0.0,
            max=1.0,
            help="Drop words of more messages.",
            rich_help_panel=_WORDS,
        ),
    ] = 0.05,
    half_life: Annotated[
        str,
        typer.Option(
            "--half-life",
            metavar="TIME",
            help="Age at which a message weighs half, such as 12h, 3d or 2w.",
            rich_help_panel=_SAMPLING,
        ),
    ] = "3d",
    concentration: Annotated[
        float,
        typer.Option(
            "--concentration",
            metavar="X",
            help="Appetite for new threads.",
            rich_help_panel=_SAMPLING,
        ),
    ] = 10.0,
    learn: Annotated[
        bool,
        typer.Option(
            "--learn/--no-learn",
            help="Learn half-life and appetite from the mail.",
            rich_help_panel=_SAMPLING,
        ),
    ] = False,
    n_sweeps: Annotated[
        int,
        typer.Option(
            "--n-sweeps", metavar="N", min=1, help="Visits to all messages.", rich_help_panel=_SAMPLING
        ),
    ] = 30,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, max=options.LARGEST_SEED, help="Seed of the start.", rich_help_panel=_SAMPLING
        ),
    ] = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the threads of a mailbox by words and time, and write a page that shows them along a line of time."""
    from sparsemix.cli.mailing import Wish, cluster_mailbox

    reading = {"subjects": subjects, "min_messages": min_messages, "max_share": max_share}
    sampling = {"half_life": half_life, "concentration": concentration, "learn": learn, "n_sweeps": n_sweeps}
    wish = Wish(reading, {**sampling, "random_state": seed}, title, n, most_threads)
    cluster_mailbox(file, wish, output, save, json=json, quiet=quiet)

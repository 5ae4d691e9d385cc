"""The options of clusters in time, under the names that the models have for them."""

from typing import Annotated, Any

import typer

_PANEL = "Only with --model time-sensitive"

LATE = Annotated[
    str | None,
    typer.Option(
        "--late",
        metavar="WHAT",
        help="What streams of clusters in time do from here on with rows from before their last: 'error' refuses them, "
        "'clamp' counts them as if they came just now; 'error' at first.",
    ),
]
TIME_OPTIONS: dict[str, Any] = {
    "half_life": Annotated[
        str | None,
        typer.Option(
            "--half-life",
            metavar="TIME",
            help="Age at which a row weighs half, such as 90s, 15m, 12h, 3d or 2w; 7d by default.",
            rich_help_panel=_PANEL,
        ),
    ],
    "stream": Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="One pass in the order of time, with clusters that end, instead of sampling.",
            rich_help_panel=_PANEL,
        ),
    ],
    "window": Annotated[
        int | None,
        typer.Option(
            "--window",
            metavar="ROWS",
            min=0,
            help="Last rows of a stream that are drawn again, with --stream; 0 by default.",
            rich_help_panel=_PANEL,
        ),
    ],
    "learn": Annotated[
        bool | None,
        typer.Option(
            "--learn/--no-learn",
            help="Learn concentration and half-life as well, without --stream.",
            rich_help_panel=_PANEL,
        ),
    ],
}

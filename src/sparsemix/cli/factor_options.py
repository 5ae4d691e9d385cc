"""The options of factor models and click rates, and the columns of tables of events."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from sparsemix.cli.gathering import gathers, what_was_given

_FACTORS = "Only with --model gamma-poisson or click-rate"
_EVENTS = "Columns of events, only with --model click-rate"


class Solver(StrEnum):
    """How factors are found."""

    ML = "ml"
    MAP = "map"
    GIBBS = "gibbs"


class RankedBy(StrEnum):
    """What ads are sorted by."""

    RATE = "rate"
    LOWER = "lower"


FACTOR_OPTIONS: dict[str, Any] = {
    "solver": Annotated[
        Solver | None,
        typer.Option(
            "--solver",
            help="Likelihood, posterior mode, or sampling, which also takes --n-sweeps, --burn-in, --thin and "
            "--n-chains; map by default.",
            rich_help_panel=_FACTORS,
        ),
    ],
    "shape": Annotated[
        float | None,
        typer.Option(
            "--shape",
            metavar="X",
            help="Of the prior of users' factors; 1.1 by default.",
            rich_help_panel=_FACTORS,
        ),
    ],
    "rate": Annotated[
        float | None,
        typer.Option(
            "--rate",
            metavar="X",
            help="Of the same prior, with mean shape / rate; 0.01 by default.",
            rich_help_panel=_FACTORS,
        ),
    ],
    "feature_smoothing": Annotated[
        float | None,
        typer.Option(
            "--feature-smoothing",
            metavar="X",
            help="Count added to each keyword in each factor, with --model gamma-poisson and --solver map; 0 by "
            "default.",
            rich_help_panel=_FACTORS,
        ),
    ],
    "feature_concentration": Annotated[
        float | None,
        typer.Option(
            "--feature-concentration",
            metavar="X",
            help="Pseudo-count of each keyword in each factor, with --solver gibbs; 0.1 by default.",
            rich_help_panel=_FACTORS,
        ),
    ],
}
"""Their names, as the models have them."""


def _column(option: str, explanation: str) -> Any:
    return Annotated[
        str | None, typer.Option(option, metavar="COLUMN", help=explanation, rich_help_panel=_EVENTS)
    ]


EVENT_OPTIONS: dict[str, Any] = {
    "user": _column("--user", "The user; a column 'user' by default."),
    "ad": _column("--ad", "The ad; a column 'ad' by default."),
    "event": _column("--event", "impression, click or conversion; a column 'event' by default."),
}

takes_events = gathers("events", EVENT_OPTIONS, what_was_given)
"""Decorator of a command that takes `events`, a dict of the columns that were named."""

"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sparsemix.foundation.errors import ParameterError


class Order(StrEnum):
    """How the keywords of a cluster can be ordered."""

    EVIDENCE = "evidence"
    MEAN = "mean"
    LIFT = "lift"


class Algorithm(StrEnum):
    """The two forms of EM."""

    SOFT = "soft"
    HARD = "hard"


class Kind(StrEnum):
    """The models that the command line can fit."""

    ONLINE = "online"
    MULTINOMIAL = "multinomial"
    BERNOULLI_EM = "bernoulli-em"
    HASHED_GIBBS = "hashed-gibbs"
    TIME_SENSITIVE = "time-sensitive"
    GAMMA_POISSON = "gamma-poisson"
    CLICK_RATE = "click-rate"


class Compared(StrEnum):
    """The models that the command line can compare with each other."""

    ONLINE = "online"
    MULTINOMIAL = "multinomial"
    BERNOULLI_EM = "bernoulli-em"
    HASHED_GIBBS = "hashed-gibbs"


class Paper(StrEnum):
    """The papers whose experiments can be run."""

    ADS = "ads"
    FASTEX = "fastex"
    GAP = "gap"
    TDPM = "tdpm"


class Family(StrEnum):
    """What the rows of a mixture by sampling hold."""

    MULTINOMIAL = "multinomial"
    POISSON = "poisson"
    BERNOULLI = "bernoulli"
    GAUSSIAN = "gaussian"
    GAUSSIAN_FULL = "gaussian_full"


class Process(StrEnum):
    """Priors of the clusters of a mixture by sampling."""

    FINITE = "finite"
    DP = "dp"


class Init(StrEnum):
    """Where chains start."""

    LEADER = "leader"
    SEQUENTIAL = "sequential"
    MIXED = "mixed"
    RANDOM = "random"


def share_inside(option: typer.CallbackParam, value: float) -> float:
    """Return a share that is above 0 and below 1, or raise ParameterError with the option's name."""
    if not 0.0 < value < 1.0:
        raise ParameterError(f"{option.opts[0]} must be above 0 and below 1, but it is {value}.")
    return value


LARGEST_SEED = 2**32 - 1

_COLUMNS = "Columns of INPUT (guessed when there is one obvious choice)"
_FORM = "Form of INPUT"
_TABLES = "a file, folder or glob: Parquet, CSV, TSV, JSONL (also gzipped), svmlight, FIMI, .npz, .mtx."

Input = Annotated[str, typer.Argument(metavar="INPUT", help=f"The table: {_TABLES}")]
OptionalInput = Annotated[
    str | None, typer.Argument(metavar="INPUT", help=f"Rows to assign to the clusters: {_TABLES}")
]
Model = Annotated[
    Path,
    typer.Argument(metavar="MODEL", readable=False, help="A model file that 'sparsemix fit' has written."),
]

Row = Annotated[
    str | None,
    typer.Option("--row", metavar="COLUMN", help="The ad, document or user.", rich_help_panel=_COLUMNS),
]
Feature = Annotated[
    str | None,
    typer.Option(
        "--feature",
        metavar="COLUMN",
        help="The keyword: one in each line, or all of a row's in one cell. Of real numbers the columns to take, with "
        "commas between them; all by default.",
        rich_help_panel=_COLUMNS,
    ),
]
Count = Annotated[
    str | None,
    typer.Option(
        "--count",
        metavar="COLUMN",
        help="How often; multinomial models take it, models of presence ask only whether it is above 0.",
        rich_help_panel=_COLUMNS,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="COLUMN", help="The advertiser or other owner.", rich_help_panel=_COLUMNS
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="When the row came: ISO dates, or seconds since 1970; --model time-sensitive needs it.",
        rich_help_panel=_COLUMNS,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", "--labels", metavar="COLUMN", help="A known class of the row.", rich_help_panel=_COLUMNS
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="TEXT",
        help="What stands between the keywords of one cell.",
        rich_help_panel=_FORM,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="parquet, csv, tsv, jsonl, baskets (one a line, no header), svmlight, npz or mtx; "
        "by default what the file's name says.",
        rich_help_panel=_FORM,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="Names for the columns of CSV or TSV without a header, with commas between them.",
        rich_help_panel=_FORM,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="What stands between the values of a CSV line; a comma by default.",
        rich_help_panel=_FORM,
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(
        "--quote",
        metavar="CHARACTER",
        help="Quotation mark of CSV and TSV, or 'none'; \" by default.",
        rich_help_panel=_FORM,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no notes.")]
By = Annotated[
    Order,
    typer.Option(
        "--by", help="Order of a cluster's keywords: rows behind it, probability, or how special it is."
    ),
]
Level = Annotated[
    float,
    typer.Option(
        "--level",
        metavar="P",
        callback=share_inside,
        help="Mass of the credible intervals, above 0 and below 1.",
    ),
]
BatchRows = Annotated[
    int | None,
    typer.Option(
        "--batch-rows", metavar="ROWS", min=1, help="Stream INPUT from disk, this many rows at a time."
    ),
]

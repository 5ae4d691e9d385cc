"""Arguments and options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Order(StrEnum):
    """How the keywords of a cluster can be ordered."""

    EVIDENCE = "evidence"
    MEAN = "mean"
    LIFT = "lift"


_COLUMNS = "Columns of INPUT (guessed when there is one obvious choice)"

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A file, folder or glob: Parquet, CSV, TSV, JSONL (also gzipped), svmlight, FIMI, .npz, .mtx.",
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model file that 'sparsemix fit' has written.")
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
        help="The keyword: one in each line, or all of a row's in one cell.",
        rich_help_panel=_COLUMNS,
    ),
]
Count = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", help="How often; default once.", rich_help_panel=_COLUMNS),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group", metavar="COLUMN", help="The advertiser or other owner.", rich_help_panel=_COLUMNS
    ),
]
Label = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="A known class of the row.", rich_help_panel=_COLUMNS),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="TEXT",
        help="What stands between the keywords of one cell.",
        rich_help_panel=_COLUMNS,
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
Level = Annotated[float, typer.Option("--level", min=0.0, max=1.0, help="Mass of the credible intervals.")]
BatchRows = Annotated[
    int | None,
    typer.Option(
        "--batch-rows", metavar="ROWS", min=1, help="Stream INPUT from disk, this many rows at a time."
    ),
]

"""The options that become parameters of a model, under the names that the models have for them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from sparsemix.cli.factor_options import FACTOR_OPTIONS
from sparsemix.cli.gathering import gathers, what_was_given
from sparsemix.cli.options import LARGEST_SEED, Algorithm
from sparsemix.cli.sampling_options import SAMPLING_OPTIONS
from sparsemix.cli.time_options import TIME_OPTIONS

AUTO = "auto"
_ALL, _ONLINE, _EM = "The model", "Only with --model online", "Only with --model multinomial or bernoulli-em"
_NOT_ONLINE = "Not with --model online"
_CLIMBING = "Not with --model online, hashed-gibbs or time-sensitive"


def number_or_auto(value: str) -> int | str:
    """Return a number of clusters, or "auto".

    Examples
    --------
    >>> number_or_auto("12"), number_or_auto("auto")
    (12, 'auto')
    """
    if value == AUTO:
        return AUTO
    if not value.isdecimal() or int(value) < 1:
        raise typer.BadParameter(f"{value!r} is neither 'auto' nor an integer from 1 on.")
    return int(value)


MODEL_OPTIONS: dict[str, Any] = {
    "n_components": Annotated[
        Any,
        typer.Option(
            "--n-components",
            "-k",
            metavar="N",
            parser=number_or_auto,
            help="How many clusters, with --model online at most, and 'auto' finds their number; 50 by default. Or "
            "factors; 10 by default.",
            rich_help_panel=_ALL,
        ),
    ],
    "random_state": Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            max=LARGEST_SEED,
            help="Seed of the random start; 0 by default.",
            rich_help_panel=_ALL,
        ),
    ],
    "binarize": Annotated[
        float | None,
        typer.Option(
            "--binarize",
            metavar="X",
            min=0.0,
            help="A count above this means present; 0 by default. Not with multinomial models, which count.",
            rich_help_panel=_ALL,
        ),
    ],
    "clutter": Annotated[
        bool | None,
        typer.Option(
            "--clutter/--no-clutter",
            help="Keep a cluster for rows that fit nowhere.",
            rich_help_panel=_ONLINE,
        ),
    ],
    "priming_rows": Annotated[
        int | None,
        typer.Option(
            "--priming-rows",
            metavar="ROWS",
            min=1,
            help="Rows from which the first clusters are found.",
            rich_help_panel=_ONLINE,
        ),
    ],
    "reservoir_rows": Annotated[
        int | None,
        typer.Option(
            "--reservoir-rows",
            metavar="ROWS",
            min=0,
            help="Most rows that wait because they fit no cluster; 0 learns each at once, without later clusters.",
            rich_help_panel=_ONLINE,
        ),
    ],
    "half_life_rows": Annotated[
        float | None,
        typer.Option(
            "--half-life-rows",
            metavar="ROWS",
            min=1.0,
            help="Rows after which a row counts half; none are forgotten by default.",
            rich_help_panel=_ONLINE,
        ),
    ],
    "n_passes": Annotated[
        int | None,
        typer.Option(
            "--n-passes",
            metavar="N",
            min=1,
            help="How often the rows are read; 1 by default.",
            rich_help_panel=_ONLINE,
        ),
    ],
    "algorithm": Annotated[
        Algorithm | None,
        typer.Option(
            "--algorithm",
            help="Whether a row may be of several clusters; soft by default.",
            rich_help_panel=_EM,
        ),
    ],
    "smoothing": Annotated[
        float | None,
        typer.Option(
            "--smoothing",
            metavar="X",
            min=0.0,
            help="Pseudo-count of each keyword in each cluster; of real numbers the share of the variance inside "
            "clusters; with --model click-rate impressions that an ad's own rate counts for.",
            rich_help_panel=_NOT_ONLINE,
        ),
    ],
    "unlabeled_weight": Annotated[
        float | None,
        typer.Option(
            "--unlabeled-weight",
            metavar="X",
            min=0.0,
            max=1.0,
            help="How much a row without a label counts beside one with a label; 1 by default.",
            rich_help_panel=_EM,
        ),
    ],
    "n_init": Annotated[
        int | None,
        typer.Option(
            "--n-init",
            metavar="N",
            min=1,
            help="Starts, of which the best stays; 1 by default. Not with --model click-rate.",
            rich_help_panel=_CLIMBING,
        ),
    ],
    "max_iter": Annotated[
        int | None,
        typer.Option(
            "--max-iter",
            metavar="N",
            min=1,
            help="Most epochs of a start, and of a run that --resume goes on with; 100 by default. Factors: most "
            "sweeps; 200, for click rates 500.",
            rich_help_panel=_CLIMBING,
        ),
    ],
    "n_jobs": Annotated[
        int | None,
        typer.Option(
            "--n-jobs",
            metavar="N",
            help="Threads; 1 by default, -1 for all cores.",
            rich_help_panel=_ALL,
        ),
    ],
    **SAMPLING_OPTIONS,
    **TIME_OPTIONS,
    **FACTOR_OPTIONS,
}
"""Their names, as the models have them."""


def model_parameters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that were given, as plain values.

    Examples
    --------
    >>> model_parameters({"n_components": 5, "algorithm": Algorithm.HARD, "smoothing": None})
    {'n_components': 5, 'algorithm': 'hard'}
    """
    return {
        name: str(value) if isinstance(value, StrEnum) else value
        for name, value in what_was_given(given).items()
    }


takes_parameters = gathers("parameters", MODEL_OPTIONS, model_parameters)
"""Decorator of a command that takes `parameters`, a dict of those that were given."""

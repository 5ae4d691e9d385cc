"""The options that let several processes or machines do the work."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from sparsemix.cli.gathering import gathers, what_was_given
from sparsemix.foundation.errors import ParameterError

_PANEL = "Several processes or machines (needs the extra dask)"

CLUSTER_OPTIONS: dict[str, Any] = {
    "workers": Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="Let so many processes of this machine read the files of INPUT and work on them.",
            rich_help_panel=_PANEL,
        ),
    ],
    "dask": Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Let the workers of a Dask scheduler do it, such as tcp://10.0.0.5:8786; they must see the files.",
            rich_help_panel=_PANEL,
        ),
    ],
}


def cluster_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of these options; ParameterError if it is both.

    Examples
    --------
    >>> cluster_arguments({"workers": 4, "dask": None})
    {'workers': 4}
    """
    found = what_was_given(given)
    if len(found) > 1:
        raise ParameterError(
            "--workers makes a cluster on this machine and --dask names another. Leave one out."
        )
    return found


takes_cluster = gathers("cluster", CLUSTER_OPTIONS, cluster_arguments)
"""Decorator of a command that takes `cluster`, a dict that is empty if this process is to do the work."""

"""The options of Gibbs sampling, under the names that the model has for them."""

from typing import Annotated, Any

import typer

from sparsemix.cli.options import Family, Init, Process

_PANEL = "Only with --model hashed-gibbs, and in part time-sensitive"


def _option(kind: Any, name: str, explanation: str, **more: Any) -> Any:
    if kind in (int, float):
        more.setdefault("metavar", "N" if kind is int else "X")
    return Annotated[kind | None, typer.Option(name, help=explanation, rich_help_panel=_PANEL, **more)]


SAMPLING_OPTIONS: dict[str, Any] = {
    "family": _option(
        Family,
        "--family",
        "What rows hold: multinomial, by default, poisson or bernoulli; or, with hashed-gibbs, real numbers, one in "
        "each column.",
    ),
    "proposal": _option(
        str,
        "--proposal",
        "Which clusters a visit to a row looks at: auto (the default), exact, index or hash; several with commas take "
        "turns, a sweep each.",
        metavar="NAME",
    ),
    "process": _option(
        Process, "--process", "Prior of the clusters: finite by default, or dp, where their number is open."
    ),
    "weight_concentration": _option(
        float, "--weight-concentration", "Pseudo-count of rows in each cluster, finite; 1 by default."
    ),
    "concentration": _option(float, "--concentration", "Appetite for new clusters, dp; 1 by default."),
    "discount": _option(float, "--discount", "Of a Pitman-Yor process, dp, below 1; 0 by default."),
    "prior_mean": _option(
        float,
        "--prior-mean",
        "Mean probability or rate of keywords, poisson and bernoulli; by default the table's.",
    ),
    "prior_strength": _option(
        float, "--prior-strength", "How many rows that mean counts for, likewise; 1 by default."
    ),
    "n_sweeps": _option(int, "--n-sweeps", "Visits to all rows; 40 by default.", min=1),
    "burn_in": _option(
        int, "--burn-in", "Sweeps before the first draw is kept; half of all by default.", min=0
    ),
    "thin": _option(int, "--thin", "Sweeps for one draw; 4 by default.", min=1),
    "n_chains": _option(int, "--n-chains", "Independent chains; 1 by default.", min=1),
    "init": _option(Init, "--init", "Where chains start; leader by default."),
    "n_bits": _option(int, "--n-bits", "Bits of a signature, with --proposal hash; 256 by default.", min=1),
    "raw": _option(bool, "--raw/--no-raw", "Signatures as in the paper, with --proposal hash."),
    "miss": _option(
        float, "--miss", "How probable too large an angle may be, with --proposal hash; no bound by default."
    ),
    "tempering": _option(
        float, "--tempering", "Factor of the log proposal up to 1, with --proposal hash; 1 by default."
    ),
    "index_budget": _option(
        int, "--index-budget", "Entries that a visit looks at, with --proposal index; 512 by default.", min=1
    ),
    "n_shards": _option(
        int,
        "--n-shards",
        "Shards of rows side by side, on --n-jobs threads; 1, which is exact, by default.",
        min=1,
    ),
}

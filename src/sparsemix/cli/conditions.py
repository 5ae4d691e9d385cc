"""What options of a model depend on others, so that those without effect are refused."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sparsemix.cli.factor_options import Solver
from sparsemix.cli.options import Family, Kind, Process
from sparsemix.foundation.errors import ParameterError


class Condition(NamedTuple):
    """Options that have an effect with some values of another one only.

    given : the options. by : the other one. values : those with which they have an effect; one of them is enough where
    several are given with commas. remedy : what may be chosen.
    """

    given: tuple[str, ...]
    by: str
    values: tuple[str, ...]
    remedy: str


def _by_family(names: tuple[str, ...], *values: Family) -> Condition:
    return Condition(names, "family", values, "another --family")


def _by_solver(names: tuple[str, ...], *values: Solver) -> Condition:
    return Condition(names, "solver", values, "another --solver")


def _by_proposal(names: tuple[str, ...], *values: str) -> Condition:
    return Condition(names, "proposal", values, f"--proposal {values[0]}")


_ROWS = (
    Condition(("binarize",), "family", (Family.BERNOULLI,), "--family bernoulli"),
    _by_family(("smoothing",), Family.MULTINOMIAL, Family.GAUSSIAN, Family.GAUSSIAN_FULL),
    _by_family(("prior_mean", "prior_strength"), Family.POISSON, Family.BERNOULLI),
)
_FACTORS = (
    _by_solver(("shape", "rate"), Solver.MAP, Solver.GIBBS),
    _by_solver(("n_sweeps", "burn_in", "thin", "n_chains", "feature_concentration"), Solver.GIBBS),
)
CONDITIONS: dict[Kind, tuple[Condition, ...]] = {
    Kind.HASHED_GIBBS: (
        *_ROWS,
        Condition(("concentration", "discount"), "process", (Process.DP,), "--process dp"),
        Condition(("weight_concentration",), "process", (Process.FINITE,), "--process finite"),
        _by_proposal(("n_bits", "raw", "miss", "tempering"), "hash"),
        _by_proposal(("index_budget",), "index", "auto"),
        _by_family(("index_budget",), Family.MULTINOMIAL, Family.POISSON, Family.BERNOULLI),
    ),
    Kind.TIME_SENSITIVE: _ROWS,
    Kind.GAMMA_POISSON: (
        *_FACTORS,
        _by_solver(("feature_smoothing",), Solver.MAP),
        _by_solver(("n_init", "max_iter"), Solver.ML, Solver.MAP),
    ),
    Kind.CLICK_RATE: _FACTORS,
}
"""Of each kind of model; those that are not there have none."""


def check_effects(kind: Kind, parameters: Mapping[str, Any], model: Any) -> None:
    """Raise ParameterError for an option that was given and has no effect beside the others.

    Parameters
    ----------
    kind : Kind
    parameters : dict
        What was asked for.
    model : estimator
        New, with these parameters, or the one to go on with.

    Examples
    --------
    >>> from sparsemix import HashedGibbsMixture
    >>> check_effects(Kind.HASHED_GIBBS, {"discount": 0.1}, HashedGibbsMixture(process="dp"))
    >>> check_effects(Kind.HASHED_GIBBS, {"raw": True}, HashedGibbsMixture(proposal="index,exact"))
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ParameterError: --raw with --model hashed-gibbs is not for --proposal index,exact. \
Leave it out, or choose --proposal hash.
    """
    for condition in CONDITIONS.get(kind, ()):
        chosen = str(getattr(model, condition.by))
        if {each.strip() for each in chosen.split(",")} & set(condition.values):
            continue
        for name in condition.given:
            if name in parameters:
                raise ParameterError(
                    f"--{name.replace('_', '-')} with --model {kind} is not for --{condition.by} {chosen}. "
                    f"Leave it out, or choose {condition.remedy}."
                )

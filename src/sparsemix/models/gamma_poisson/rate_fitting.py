"""Learn click rates: choose how much an ad's own rate counts for, then fit the factors. Either may be interrupted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparsemix.foundation.checks import one_of, pseudo_count, truth_value
from sparsemix.foundation.errors import DataError
from sparsemix.models.gamma_poisson import checks, reading
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.estimator import GammaPoissonFactors
from sparsemix.models.gamma_poisson.events import Cells, Vocabulary
from sparsemix.models.gamma_poisson.learning import OnSweep
from sparsemix.models.gamma_poisson.rates import (
    STRENGTHS,
    Rates,
    ad_rates,
    best_smoothing,
    draws_of,
    prior_of,
)
from sparsemix.models.gamma_poisson.state import Draws, Factors
from sparsemix.numeric.seeds import seed_of

FREE = {
    "user",
    "ad",
    "event",
    "count",
    "max_iter",
    "random_state",
    "n_jobs",
    "warm_start",
}  # may be others later
OWNER = "ClickRateModel"
HELD_OUT = 0.2  # of the cells, to choose the smoothing


class Seen(NamedTuple):
    """The events to learn from."""

    users: Vocabulary
    ads: Vocabulary
    cells: Cells

    def table(self, cells: Cells) -> Any:
        """Counts of some cells, users x (three events of each ad)."""
        return cells.factor_table(len(self.users), len(self.ads))


@dataclass
class Run:
    """A fit between two sweeps, changed in place.

    seed : of all that is random. parameters : of the estimator.
    smoothing : as given or chosen, None while it is being chosen; n_before : sweeps that the choice took.
    factors : of the events that are left for the choice, or of all; None between the two, and before.
    """

    seed: int
    parameters: dict[str, Any]
    smoothing: float | None
    n_before: int = 0
    factors: GammaPoissonFactors | None = None

    def n_sweeps(self) -> int:
        """Sweeps made so far."""
        return self.n_before + (0 if self.factors is None else self.factors.n_sweeps_done_)

    def has_begun(self) -> bool:
        """Whether there are factors to answer with."""
        return self.factors is not None and self.factors.__sklearn_is_fitted__()


def check_alone(model: Any) -> None:
    """Check the parameters that only click rates have, but for the columns of events."""
    if not isinstance(model.smoothing, str):
        pseudo_count("smoothing", OWNER, model.smoothing, "'held-out' or ")
    else:
        one_of("smoothing", OWNER, model.smoothing, ("held-out",))
    truth_value("warm_start", OWNER, model.warm_start)


def run_of(model: Any, interrupted: Run | None, learnt: Rates | None, seen: Seen) -> Run:
    """A new run; with a warm start that of the fit that was interrupted.

    ParameterError or DataError unless all that it depends on is the same; see `checks.run_of` on what is left of that.
    """
    owner, parameters = OWNER, model.get_params()
    if interrupted is None or learnt is None or not model.warm_start:
        smoothing = None if isinstance(model.smoothing, str) else float(model.smoothing)
        return Run(seed_of(model.random_state, owner), parameters, smoothing)
    for known, now in ((learnt.users, seen.users), (learnt.ads, seen.ads)):
        if not np.array_equal(known.ids, now.ids):
            raise DataError(
                f"'events' of {owner} must be of the {len(learnt.users)} users and {len(learnt.ads)} ads of the fit "
                f"that was interrupted. {checks.START_ANEW}"
            )
    for name in parameters.keys() - FREE:
        checks.same(name, interrupted.parameters[name], parameters[name], owner)
    return replace(interrupted, parameters=parameters)


NewFactors = Callable[[str], GammaPoissonFactors]


def learn(seen: Seen, run: Run, new_factors: NewFactors, on_sweep: OnSweep | None) -> Rates:
    """Fit, or go on with what is left of a fit; `run` is changed in place.

    Parameters
    ----------
    seen : Seen
    run : Run
    new_factors : callable
        Makes unfitted factors for a solver, whatever their seed.
    on_sweep : callable, optional
        What it raises ends the fit; `run` then has all sweeps that have ended.
    """
    solver, table = run.parameters["solver"], seen.table(seen.cells)
    _check(new_factors(solver), table, OWNER)
    if run.smoothing is None:
        run.smoothing = _choose(seen, run, new_factors, on_sweep)
    factors = _fit(run, new_factors(solver), table, on_sweep)
    return _rates(seen, run.seed, run.smoothing, factors)


def so_far(seen: Seen, run: Run) -> Rates:
    """What an interrupted fit leaves to answer with; while the smoothing is being chosen, that which is best now."""
    assert run.factors is not None
    smoothing = run.smoothing
    if smoothing is None:
        smoothing = _best(seen, *_set_aside(seen.cells, run.seed), run.factors)
    return _rates(seen, run.seed, smoothing, run.factors)


def _check(factors: GammaPoissonFactors, table: Any, owner: str) -> None:
    """Raise ParameterError or DataError now rather than after the choice of the smoothing."""
    rows, features = reading.read_new(table, owner)
    checks.fits_memory(checks.settings_of(factors), Table(rows, features.n_features), owner)


def _fit(run: Run, new: GammaPoissonFactors, table: Any, on_sweep: OnSweep | None) -> GammaPoissonFactors:
    """Fitted factors, new or those that were interrupted; until then they are in the run."""
    factors = new if run.factors is None else run.factors.set_params(max_iter=new.max_iter, n_jobs=new.n_jobs)
    run.factors = factors.set_params(warm_start=True, random_state=run.seed)
    factors.fit(table, on_sweep=on_sweep)
    run.factors = None
    return factors


def _choose(seen: Seen, run: Run, new_factors: NewFactors, on_sweep: OnSweep | None) -> float:
    """The smoothing that predicts cells best which are set aside; the largest there is if nothing can be."""
    rest, aside = _set_aside(seen.cells, run.seed)
    if not rest.impressions.any() or not aside.impressions.any():
        return STRENGTHS[-1]
    solver = run.parameters["solver"]
    factors = _fit(run, new_factors("map" if solver == "gibbs" else solver), seen.table(rest), on_sweep)
    run.n_before = factors.n_iter_
    return _best(seen, rest, aside, factors)


def _set_aside(cells: Cells, seed: int) -> tuple[Cells, Cells]:
    is_held_out = np.random.default_rng([seed, 1]).random(cells.user.size) < HELD_OUT
    return cells.take(~is_held_out), cells.take(is_held_out)


def _best(seen: Seen, rest: Cells, aside: Cells, factors: GammaPoissonFactors) -> float:
    own = ad_rates(rest, len(seen.ads), prior_of(rest, len(seen.ads)))
    return best_smoothing(aside, _learnt(factors), own)


def _learnt(factors: GammaPoissonFactors) -> Factors:
    return factors._opened().factors


def _rates(seen: Seen, seed: int, smoothing: float, factors: GammaPoissonFactors) -> Rates:
    users, ads, cells = seen
    prior, draws = prior_of(cells, len(ads)), None
    if factors.solver == "gibbs":
        drawn = Draws(factors._drawn("users"), np.ascontiguousarray(factors._drawn("features")))
        draws = draws_of(drawn, cells, len(ads), prior, seed)
    own = ad_rates(cells, len(ads), prior)
    return Rates(users, ads, prior, own, float(smoothing), _learnt(factors), cells.n_mended, draws)

"""An interrupted fit of click rates as plain arrays beside the rates, and back, with everything checked."""

from typing import Any

from sparsemix.foundation.errors import ModelFileError
from sparsemix.models.gamma_poisson.estimator import GammaPoissonFactors
from sparsemix.models.gamma_poisson.rate_fitting import Run
from sparsemix.models.gamma_poisson.rates import Rates
from sparsemix.persistence import Payload
from sparsemix.persistence.unfinished import run_in, with_run
from sparsemix.persistence.unpacking import MOST_ROWS, check_names, whole_number

_NUMBERS = {"seed": 2**32 - 1, "n_before": MOST_ROWS}


def added(stored: Payload, run: Run) -> Payload:
    """The payload of a model with the run that is to go on: its factors are a payload of their own inside."""
    assert run.factors is not None
    factors = run.factors.to_payload()
    metadata = {
        "seed": run.seed,
        "n_before": run.n_before,
        "is_choosing": run.smoothing is None,
        "parameters": factors.parameters,
        "metadata": factors.metadata,
    }
    return with_run(stored, metadata, factors.arrays)


def unpack(stored: Payload, parameters: dict[str, Any], rates: Rates) -> Run | None:
    """The run that `added` has put there, None if there is none; ModelFileError if it does not fit."""
    parts = run_in(stored)
    if parts is None:
        return None
    found, arrays = parts
    check_names(found, {*_NUMBERS, "is_choosing", "parameters", "metadata"}, "run")
    numbers = {name: whole_number(found, name, most) for name, most in _NUMBERS.items()}
    is_choosing, inside = found["is_choosing"], (found["parameters"], found["metadata"])
    if not isinstance(is_choosing, bool) or not all(isinstance(each, dict) for each in inside):
        raise ModelFileError("its run does not say how it stands")
    factors = GammaPoissonFactors.from_payload(Payload(GammaPoissonFactors.model_kind, *inside, arrays))
    _check(factors, parameters, rates, is_choosing=is_choosing)
    smoothing = None if is_choosing else rates.smoothing
    return Run(numbers["seed"], parameters, smoothing, numbers["n_before"], factors)


def _check(
    factors: GammaPoissonFactors, parameters: dict[str, Any], rates: Rates, *, is_choosing: bool
) -> None:
    """Raise ModelFileError unless the factors can be what such a fit has so far."""
    solver = parameters["solver"]
    wanted = "map" if solver == "gibbs" and is_choosing else solver
    own, known = factors._opened().factors, rates.factors
    fits = [one.shape == other.shape for one, other in zip(own, known, strict=True)]
    may_choose = isinstance(parameters["smoothing"], str) or not is_choosing
    if factors.is_complete_ or factors.solver != wanted or not all(fits) or not may_choose:
        raise ModelFileError("it holds a run that cannot be")

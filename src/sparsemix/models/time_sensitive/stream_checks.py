"""Rules of the streaming estimator's parameters, and of times that come too late."""

from typing import Any

import numpy as np

from sparsemix.foundation import checks
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.time_sensitive.checks import kernel_of, negligible, pseudo_counts
from sparsemix.models.time_sensitive.state import FAMILIES, FloatVector
from sparsemix.models.time_sensitive.stream import Stream
from sparsemix.models.time_sensitive.stream_state import MAP, SOFT, StreamRules
from sparsemix.models.time_sensitive.time_kernels import TimeKernel
from sparsemix.numeric.seeds import seed_of

ASSIGNMENTS = {"map": MAP, "soft": SOFT}
LATE = ("error", "clamp")
MOST_WINDOW = 100_000
KINDS = ("exponential", "step")


def stream_of(model: Any, n_features: int) -> Stream:
    """Check all parameters and begin a stream."""
    rules = rules_of(model, n_features)
    return Stream(rules, int(model.window), seed_of(model.random_state, type(model).__name__))


def rules_of(model: Any, n_features: int) -> StreamRules:
    """Check the parameters; ParameterError for the first that breaks its rule."""
    owner, kernel = type(model).__name__, kernel_of(model)
    if kernel.kind not in KINDS:
        rule = "exponential or step for a stream, where a cluster is remembered by one number"
        remedy = "TimeSensitiveMixture samples with every kernel."
        raise parameter_error("time_kernel", owner, rule, kernel.kind, remedy)
    checks.one_of("family", owner, model.family, tuple(FAMILIES))
    pseudo_counts(model)
    checks.inside(
        "prior_mean", owner, model.prior_mean, f"a number from {SMALLEST} to below 1", SMALLEST, 1.0
    )
    negligible(model)
    checks.threshold(owner, model.binarize)
    late_of(model)
    checks.one_of("assignment", owner, model.assignment, tuple(ASSIGNMENTS))
    checks.at_least("window", owner, model.window, 0, f"an integer from 0 to {MOST_WINDOW:,}", MOST_WINDOW)
    if model.window and model.assignment == "soft":
        raise parameter_error(
            "window", owner, "0 with assignment='soft'", model.window, "Set assignment='map'."
        )
    a, b = _pseudo_counts(model)
    concentration = float(model.concentration)
    log_least = float(np.log(float(model.negligible)) + np.log(concentration))
    numbers = (FAMILIES[model.family], concentration, a, b, n_features, kernel.rate, log_least)
    return StreamRules(*numbers, ASSIGNMENTS[model.assignment], int(model.window > 0))


def plain_kernel(kernel: TimeKernel) -> dict[str, Any]:
    """The parameters that say the same as a kernel that can stream, in words and numbers."""
    rate = kernel.rate if kernel.kind == "exponential" else None
    return {"time_kernel": kernel.kind, "decay_rate": rate, "half_life": None}


def late_of(model: Any) -> None:
    """Check what is done with rows that come too late."""
    checks.one_of("late", type(model).__name__, model.late, LATE)


def in_order(times: FloatVector, latest: float, late: str, owner: str) -> FloatVector:
    """Times that do not go back, after the latest so far; DataError where they do, unless they are to be moved up."""
    reached = np.maximum.accumulate(np.maximum(times, latest))
    if late == "error" and np.any(reached > times):
        row = int(np.argmax(reached > times))
        raise DataError(
            f"'times' of {owner} must not go back, but row {row} is {reached[row] - times[row]:g} seconds before one "
            f"that came earlier. Sort the rows, or set late='clamp' to count them as if they came just now."
        )
    return reached


def _pseudo_counts(model: Any) -> tuple[float, float]:
    if model.family == "multinomial":
        return float(model.smoothing), 1.0
    mean, strength = float(model.prior_mean), float(model.prior_strength)
    a, b = mean * strength, (1.0 - mean) * strength
    if not all(SMALLEST <= each <= LARGEST for each in (a, b)):
        rule = f"such that the pseudo-counts, here {a:.3g} and {b:.3g}, are from {SMALLEST} to {LARGEST}"
        raise parameter_error("prior_strength", type(model).__name__, rule, model.prior_strength)
    return a, b

"""Time kernels: how much a row still weighs when it has a certain age."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.checks import LARGEST, SMALLEST, inside, is_number, one_of
from sparsemix.foundation.errors import ParameterError, parameter_error

FloatArray = NDArray[np.float64]
Duration = str | float | timedelta

STEP, EXPONENTIAL, WINDOW, PERIODIC, POWER_LAW, FUNCTION, EACH_CLUSTER = range(7)
KINDS = {
    "step": STEP,
    "exponential": EXPONENTIAL,
    "window": WINDOW,
    "periodic": PERIODIC,
    "power_law": POWER_LAW,
    "function": FUNCTION,
    "each_cluster": EACH_CLUSTER,
}
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
DURATION_RULE = (
    f"a duration from {SMALLEST} to {LARGEST} seconds, as a number, a timedelta, or text such as '90s', '15m', '12h', "
    f"'3d' or '2w'"
)
_OWNER = "TimeKernel"
MOST_RATES, LEAST_SHARE = 32, 1e-6
_PARTS = {
    "step": (),
    "exponential": ("rate",),
    "window": ("support",),
    "periodic": ("rate", "period", "width", "support"),
    "power_law": ("rate", "exponent", "support"),
    "function": ("support", "function"),
    "each_cluster": ("rate", "rates", "shares"),
}
_ENDLESS = ("periodic", "power_law")
_UNUSED: dict[str, Any] = {
    "rate": 0.0, "period": 0.0, "width": 0.0, "exponent": 0.0, "support": np.inf, "function": None, "rates": (),
    "shares": (),
}  # fmt: skip


@dataclass(frozen=True)
class TimeKernel:
    """How much a row still weighs in the history of its cluster when it has a certain age.

    Made by one of its class methods; ParameterError if what it is made of does not fit. Every kernel is 1 at age 0.
    Durations are seconds, `timedelta`, or text such as ``"90s"``, ``"15m"``, ``"12h"``, ``"3d"`` or ``"2w"``.

    Attributes
    ----------
    kind : {"step", "exponential", "window", "periodic", "power_law", "function", "each_cluster"}
    rate : float
        Per second: of the decay, of several the slowest; for a power law one over its scale.
    period, width : float
        Of a periodic kernel: seconds, and share of the period.
    exponent : float
        Of a power law.
    support : float
        Seconds; older rows weigh nothing.
    function : callable or None
    rates, shares : tuple of float
        Where each cluster has a rate of its own: those that it may have, per second, the slowest first, and how
        probable each is for a new cluster.

    Examples
    --------
    >>> kernel = TimeKernel.exponential(half_life="3d")
    >>> kernel.weights([0, 3 * 86400]).round(6)
    array([1. , 0.5])
    """

    kind: str
    rate: float = 0.0
    period: float = 0.0
    width: float = 0.0
    exponent: float = 0.0
    support: float = np.inf
    function: Callable[[FloatArray], Any] | None = None
    rates: tuple[float, ...] = ()
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        one_of("kind", _OWNER, self.kind, tuple(KINDS))
        for name, default in _UNUSED.items():
            given = getattr(self, name)
            if name not in _PARTS[self.kind] and (isinstance(given, np.ndarray) or given != default):
                raise parameter_error(name, _OWNER, f"{default!r} for the kind {self.kind!r}", given)
        _check_parts(self)

    @classmethod
    def step(cls) -> "TimeKernel":
        """Every row weighs 1 for ever: the standard Dirichlet process mixture."""
        return cls("step")

    @classmethod
    def exponential(
        cls, decay_rate: float | None = None, *, half_life: Duration | None = None
    ) -> "TimeKernel":
        """``exp(-decay_rate * age)``; give the rate per second, or the age at which a half is left."""
        return cls("exponential", rate=rate_of(decay_rate, half_life, _OWNER))

    @classmethod
    def window(cls, length: Duration) -> "TimeKernel":
        """1 up to the age `length`, and 0 beyond."""
        return cls("window", support=seconds_of("length", _OWNER, length))

    @classmethod
    def periodic(
        cls,
        period: Duration,
        width: float = 0.5,
        *,
        half_life: Duration | None = None,
        support: Duration | None = None,
    ) -> "TimeKernel":
        """``exp(-2 sin^2(pi age / period) / width^2)``, for what comes back weekly, say; it may decay as well."""
        inside("width", _OWNER, width, "a number from 0.05 to 1000", 0.05, np.nextafter(1000.0, np.inf))
        rate = 0.0 if half_life is None else rate_of(None, half_life, _OWNER)
        seconds = seconds_of("period", _OWNER, period)
        return cls("periodic", rate=rate, period=seconds, width=float(width), support=_support(support))

    @classmethod
    def power_law(
        cls, scale: Duration, exponent: float = 1.0, *, support: Duration | None = None
    ) -> "TimeKernel":
        """``(1 + age / scale) ** -exponent``."""
        inside("exponent", _OWNER, exponent, "a number in (0, 100)", 0.0, 100.0, open_low=True)
        seconds = seconds_of("scale", _OWNER, scale)
        return cls("power_law", rate=1.0 / seconds, exponent=float(exponent), support=_support(support))

    @classmethod
    def of_function(cls, function: Callable[[FloatArray], Any], *, support: Duration) -> "TimeKernel":
        """Any function of an array of ages in seconds, with values from 0 to 1; it is not asked beyond `support`."""
        if not callable(function):
            raise parameter_error("function", _OWNER, "a function of an array of ages", function)
        return cls("function", support=seconds_of("support", _OWNER, support), function=function)

    @classmethod
    def each_cluster(
        cls, half_lives: Sequence[Duration], shares: Sequence[float] | None = None
    ) -> "TimeKernel":
        """Exponential, with a half-life for each cluster out of some; a new cluster has each with its share.

        Which one a cluster has is sampled with everything else, so that some threads may live for hours and others for
        months.

        Parameters
        ----------
        half_lives : sequence of durations
            From 2 to 32, all different.
        shares : sequence of float, optional
            Prior probabilities, each at least 1e-6; they are scaled to the sum one. None for equal ones.
        """
        return cls("each_cluster", **_rates(half_lives, shares))

    def weights(self, ages: Any) -> FloatArray:
        """Weights at some ages >= 0 in seconds, of any shape; the mean over new clusters where each has its own.

        Raises
        ------
        ParameterError
            If the ages are no such numbers, or a function returns something else than a number from 0 to 1 for each.
        """
        return np.asarray(np.exp(self.log_weights(ages)))

    def log_weights(self, ages: Any) -> FloatArray:
        """Logarithms of the weights; minus infinity where a row weighs nothing.

        Raises
        ------
        ParameterError
            If the ages are no such numbers, or a function returns something else than a number from 0 to 1 for each.
        """
        age = _ages(ages)
        found = self._log_shape(age)
        return np.where(age == 0.0, 0.0, np.where(age <= self.support, found, -np.inf))

    def _log_shape(self, age: FloatArray) -> FloatArray:
        if self.kind == "periodic":
            sine = np.sin(np.pi * age / self.period) / self.width
            return -self.rate * age - 2.0 * sine * sine
        if self.kind == "power_law":
            return -self.exponent * np.log1p(self.rate * age)
        if self.kind == "each_cluster":
            return np.asarray(np.log(np.exp(-np.multiply.outer(age, self.rates)) @ np.array(self.shares)))
        if self.function is not None:
            return self._log_values(self.function, age)
        return -self.rate * age  # zero for a step or a window

    def _log_values(self, function: Callable[[FloatArray], Any], age: FloatArray) -> FloatArray:
        asked = (age > 0.0) & (age <= self.support)
        found = np.full(age.shape, -np.inf)
        values = np.asarray(function(age[asked]))
        fits = values.shape == (int(asked.sum()),) and values.dtype.kind in "biuf"
        if not fits or not np.all((values >= 0.0) & (values <= 1.0)):
            raise parameter_error(
                "function", _OWNER, "a function with a number from 0 to 1 for each age", values
            )
        with np.errstate(divide="ignore"):
            found[asked] = np.log(values.astype(np.float64))
        return found


def seconds_of(name: str, owner: str, value: Any) -> float:
    """A duration in seconds; ParameterError if it is none.

    Examples
    --------
    >>> seconds_of("half_life", "the model", "1.5h")
    5400.0
    """
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
    elif isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smhdw])\s*", value)
        seconds = float(found[1]) * UNITS[found[2]] if found else np.nan
    else:
        plain = value.item() if isinstance(value, np.generic) else value
        seconds = float(plain) if is_number(plain) and abs(plain) <= LARGEST else np.nan
    if not SMALLEST <= seconds <= LARGEST:
        lacks_unit = isinstance(value, str) and re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*", value)
        remedy = ""
        if lacks_unit and SMALLEST <= float(value) <= LARGEST:
            remedy = f"Say which unit: {value.strip()}s, {value.strip()}h or {value.strip()}d."
        raise parameter_error(name, owner, DURATION_RULE, value, remedy)
    return seconds


def rate_of(decay_rate: Any, half_life: Any, owner: str) -> float:
    """Decay per second, from itself or from the half-life; ParameterError unless exactly one is given."""
    if (decay_rate is None) == (half_life is None):
        raise ParameterError(
            f"'decay_rate' and 'half_life' of {owner} must not be {'missing' if half_life is None else 'given'} both. "
            f"Give one, such as half_life='3d'."
        )
    if half_life is not None:
        return float(np.log(2.0)) / seconds_of("half_life", owner, half_life)
    rule = f"a number > 0 per second, from {SMALLEST} to {LARGEST}"
    inside("decay_rate", owner, decay_rate, rule, SMALLEST, np.nextafter(LARGEST, np.inf))
    return float(decay_rate)


def _ages(ages: Any) -> FloatArray:
    rule = "numbers of seconds >= 0"
    try:
        found = np.asarray(ages)
    except ValueError as error:
        raise parameter_error("ages", _OWNER, rule, ages) from error
    if found.dtype.kind not in "iuf" or not np.all(found >= 0):
        raise parameter_error("ages", _OWNER, rule, ages)
    return found.astype(np.float64)


def _check_parts(kernel: TimeKernel) -> None:
    """Check the numbers that a kernel is made of; a support may be endless where the weights fall by themselves."""
    for name in _PARTS[kernel.kind]:
        value = getattr(kernel, name)
        if name == "function":
            if not callable(value):
                raise parameter_error(name, _OWNER, "a function of an array of ages", value)
        elif name in ("rates", "shares"):
            continue
        elif name == "width":
            inside(name, _OWNER, value, "a number from 0.05 to 1000", 0.05, np.nextafter(1000.0, np.inf))
        elif name == "exponent":
            inside(name, _OWNER, value, "a number in (0, 100)", 0.0, 100.0, open_low=True)
        elif not (name == "support" and kernel.kind in _ENDLESS and value == np.inf):
            least = 0.0 if (kernel.kind, name) == ("periodic", "rate") else SMALLEST
            rule = f"a number from {least} to {LARGEST}"
            inside(name, _OWNER, value, rule, least, np.nextafter(LARGEST, np.inf))
    if kernel.kind == "each_cluster":
        _check_rates(kernel)


def _check_rates(kernel: TimeKernel) -> None:
    rule = f"from 2 to {MOST_RATES} different numbers per second, the slowest first and equal to `rate`"
    rates, shares = kernel.rates, kernel.shares
    fit = isinstance(rates, tuple) and all(is_number(each) and SMALLEST <= each <= LARGEST for each in rates)
    if (
        not fit
        or not 2 <= len(rates) <= MOST_RATES
        or list(rates) != sorted(set(rates))
        or rates[0] != kernel.rate
    ):
        raise parameter_error("rates", _OWNER, rule, rates)
    if not isinstance(shares, tuple) or abs(_shares(shares, len(rates)).sum() - sum(shares)) > 1e-9:
        raise parameter_error("shares", _OWNER, f"{len(rates)} probabilities with the sum one", shares)


def _support(value: Any) -> float:
    return np.inf if value is None else seconds_of("support", _OWNER, value)


def _rates(half_lives: Any, shares: Any) -> dict[str, Any]:
    """Rate, rates and shares of a kernel by cluster, the slowest first."""
    rule = f"from 2 to {MOST_RATES} different durations, such as ['6h', '3d']"
    given = [] if isinstance(half_lives, str) or not np.iterable(half_lives) else list(half_lives)
    seconds = [seconds_of("half_lives", _OWNER, each) for each in given]
    if not 2 <= len(seconds) <= MOST_RATES or len(set(seconds)) < len(seconds):
        raise parameter_error("half_lives", _OWNER, rule, half_lives)
    weights = _shares(shares, len(seconds))
    order = np.argsort(seconds)[::-1]
    rates = tuple(float(np.log(2.0) / seconds[at]) for at in order)
    return {"rate": rates[0], "rates": rates, "shares": tuple(float(weights[at]) for at in order)}


def _shares(shares: Any, n: int) -> FloatArray:
    if shares is None:
        return np.full(n, 1.0 / n)
    rule = f"{n} numbers > 0, one for each half-life, none below {LEAST_SHARE} of their sum"
    given = [] if isinstance(shares, str) or not np.iterable(shares) else list(shares)
    if len(given) != n or not all(is_number(each) and 0.0 < each <= LARGEST for each in given):
        raise parameter_error("shares", _OWNER, rule, shares)
    found = np.array(given, np.float64) / np.sum(given)
    if found.min() < LEAST_SHARE:
        raise parameter_error("shares", _OWNER, rule, shares)
    return np.asarray(found)

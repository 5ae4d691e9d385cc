"""The one compile policy: nothing else in the package but `lanes`, `shares` and `prefetch` mentions Numba.

Fast-math never includes ``nnan`` or ``ninf``: minus infinity means "impossible" in log space. ``reassoc`` is left
out of `kernel` as well, so that compiled and plain Python agree; `reordering_kernel` grants it to sums whose last
digits may move. Edits in *other* files do not invalidate Numba's disk cache: ``just clean`` empties it.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from llvmlite import ir
from numba.extending import intrinsic, overload

F = TypeVar("F", bound=Callable[..., Any])

_MATH = {"nsz", "arcp", "contract", "afn"}
_BORROWING = {"_nrt": False, "no_cfunc_wrapper": True}
_INNER = _BORROWING | {"no_cpython_wrapper": True}


def kernel(function: F) -> F:
    """Compile `function` on first call, cached on disk, without the interpreter lock."""
    return _compiled(function, _MATH)


def borrowing_kernel(function: F) -> F:
    """Compile `function` as `kernel` does, if it makes no arrays: to those that it is handed no references are counted.

    Counting takes time for each array of each tuple, wherever it is handed over or one is taken out, and so does
    compiling that.
    """
    return _compiled(function, _MATH, **_BORROWING)


def inner_kernel(function: F) -> F:
    """Compile `function` as `borrowing_kernel` does, for other kernels alone: Python cannot call what comes out.

    The entry from Python takes each array of each tuple apart, and compiling that takes longer than a small kernel.
    """
    return _compiled(function, _MATH, **_INNER)


def inner_exact_kernel(function: F) -> F:
    """Compile `function` as `inner_kernel` does, without reciprocals in the place of divisions.

    Where these are used depends on what surrounds the copy of a kernel in its callers, and so would the last digits.
    """
    return _compiled(function, _MATH - {"arcp"}, **_INNER)


def spliced_kernel(function: F) -> F:
    """Copy `function`, which makes no arrays, into its callers before these are compiled; for those with one or two.

    That takes less time than to compile it by itself, with all that it calls, and to hand over tuples of arrays.
    """
    return _compiled(function, _MATH, inline="always", **_BORROWING)


def inner_inlined_kernel(function: F) -> F:
    """Compile `function` as `inner_kernel` does, and into its callers: for loops that are hot and small."""
    return _compiled(function, _MATH, forceinline=True, **_INNER)


def reordering_kernel(function: F) -> F:
    """Compile `function` as `kernel` does and let its sums be reordered for speed."""
    return _compiled(function, _MATH | {"reassoc"})


def _compiled(function: F, math: set[str], **further: bool | str) -> F:
    # Whether references are counted is said for each: a kernel that does not say it takes it from its first caller.
    options: dict[str, Any] = {
        "fastmath": math,
        "error_model": "numpy",
        "nogil": True,
        "_nrt": True,
        **further,
    }
    try:
        return cast(F, numba.njit(cache=True, **options)(function))
    except (
        RuntimeError
    ):  # neither the package's folder nor the user's can be written: compile anew in each process
        return cast(F, numba.njit(**options)(function))


def popcount(bits: Any) -> int:
    """Number of ones in 64 bits.

    Examples
    --------
    >>> popcount(0b1011)
    3
    """
    return int(bits).bit_count()


@intrinsic
def _ones(_context: Any, bits: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        (value,) = values
        count = builder.module.declare_intrinsic("llvm.ctpop", [ir.IntType(64)])
        return builder.call(count, [value])

    return numba.types.int64(bits), generate


@overload(popcount, strict=False)
def _compiled_popcount(bits: Any) -> Any:  # noqa: ARG001
    return lambda bits: _ones(bits)  # type: ignore[call-arg]  # noqa: PLW0108

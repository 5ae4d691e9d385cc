"""Ask the processor for memory that will be needed soon."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def prefetch(array: Any, index: Any) -> None:
    """Ask for the line of memory that holds ``array[index]``; without effect on any result.

    Examples
    --------
    >>> import numpy as np
    >>> prefetch(np.zeros(4), 2)
    """


def _prefetch(_context: Any, address: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        place, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place, flag, flag, flag])
        insert: Any = cgutils.get_or_insert_function
        ask = insert(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [builder.inttoptr(values[0], place), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(types.intp), generate


_prefetch_address: Any = intrinsic(_prefetch)


@overload(prefetch, jit_options={"forceinline": True})
def _compiled_prefetch(array: Any, index: Any) -> Any:  # noqa: ARG001
    def compiled(array: Any, index: Any) -> None:
        _prefetch_address(array.ctypes.data + np.int64(index) * array.itemsize)

    return compiled

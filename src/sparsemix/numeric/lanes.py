"""Rows of tables, looked up by codes and added up, 8 or 16 numbers at a time.

Numba leaves short inner loops over two arrays that might overlap to checks and single numbers; here the processor's
wide registers are named outright. Each function has its plain twin, and runs as that where nothing is compiled.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

LANES = 8  # float64 in a line of the processor's cache

_INT, _CODE = ir.IntType(64), ir.IntType(8)
_SIGNATURE = types.void(*[types.intp] * 6)


def padded(width: int) -> int:
    """The width of tables with room for so many columns: the next multiple of `LANES`.

    Examples
    --------
    >>> padded(10)
    16
    """
    return -(-width // LANES) * LANES


def zeros(n_tables: int, width: int) -> NDArray[np.float64]:
    """Tables of zeros, (n_tables, 256, padded width), see `rows_of_zeros`.

    Examples
    --------
    >>> zeros(2, 10).shape
    (2, 256, 16)
    """
    return rows_of_zeros(n_tables * 256, width).reshape(n_tables, 256, padded(width))


def rows_of_zeros(n_rows: int, width: int) -> NDArray[np.float64]:
    """A table of zeros, (n_rows, padded width), that begins where the processor fetches two lines at once.

    Examples
    --------
    >>> rows_of_zeros(3, 10).shape
    (3, 16)
    """
    size = n_rows * padded(width)
    room = np.zeros(size + 2 * LANES)
    first = -(room.ctypes.data // room.itemsize) % (2 * LANES)
    return room[first : first + size].reshape(n_rows, padded(width))


def add_looked_up(tables: Any, codes: Any, i: Any, row: Any) -> None:
    """Add row ``codes[i, g]`` of each table ``g`` to the given row, in place.

    Parameters
    ----------
    tables : (n_tables, 256, width) float64, contiguous; the width is a multiple of `LANES`
    codes : (n, n_tables) uint8
    i : below n
    row : (width,) float64, contiguous

    Examples
    --------
    >>> import numpy as np
    >>> tables, total = np.arange(2 * 256 * 8.0).reshape(2, 256, 8), np.zeros(8)
    >>> add_looked_up(tables, np.array([[0, 1]], np.uint8), 0, total)
    >>> total[:3]
    array([2056., 2058., 2060.])
    """
    for group in range(codes.shape[1]):
        row += tables[group, codes[i, group]]


def add_to_looked_up(tables: Any, codes: Any, i: Any, row: Any) -> None:
    """Add the given row to row ``codes[i, g]`` of each table ``g``, in place.

    Parameters
    ----------
    tables : (n_tables, 256, width) float64, contiguous; the width is a multiple of `LANES`
    codes : (n, n_tables) uint8
    i : below n
    row : (width,) float64, contiguous

    Examples
    --------
    >>> import numpy as np
    >>> tables = np.zeros((2, 256, 8))
    >>> add_to_looked_up(tables, np.array([[0, 1]], np.uint8), 0, np.ones(8))
    >>> tables[:, :2, 0]
    array([[1., 0.],
           [0., 1.]])
    """
    for group in range(codes.shape[1]):
        tables[group, codes[i, group]] += row


def _pointer(builder: Any, address: Any, lanes: int) -> Any:
    return builder.inttoptr(address, ir.VectorType(ir.DoubleType(), lanes).as_pointer())


def _load(builder: Any, place: Any) -> Any:
    return builder.load(place, align=8)


def _looked_up(builder: Any, values: Any, group: Any, lanes: int) -> Any:
    """Where the looked-up row of a table lies."""
    tables, step, codes, stride, *_ = values
    code = builder.inttoptr(builder.add(codes, builder.mul(group, stride)), _CODE.as_pointer())
    row = builder.add(builder.mul(group, _INT(256)), builder.zext(builder.load(code), _INT))
    return _pointer(builder, builder.add(tables, builder.mul(row, step)), lanes)


def _sum(builder: Any, values: Any, lanes: int) -> None:
    """`add_looked_up` for some columns; the sum stays in registers."""
    *_, n_tables, address = values
    out = _pointer(builder, address, lanes)
    before, first = builder.basic_block, _load(builder, out)
    head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    group, so_far = builder.phi(_INT), builder.phi(first.type)
    builder.cbranch(builder.icmp_signed("<", group, n_tables), body, end)
    builder.position_at_end(body)
    row = _load(builder, _looked_up(builder, values, group, lanes))
    following, longer = builder.add(group, _INT(1)), builder.fadd(so_far, row)
    builder.branch(head)
    for value, start, then in ((group, _INT(0), following), (so_far, first, longer)):
        value.add_incoming(start, before)
        value.add_incoming(then, body)
    builder.position_at_end(end)
    builder.store(so_far, out, align=8)


def _spread(builder: Any, values: Any, lanes: int) -> None:
    """`add_to_looked_up` for some columns."""
    *_, n_tables, address = values
    own = _load(builder, _pointer(builder, address, lanes))
    with cgutils.for_range(builder, n_tables) as loop:
        row = _looked_up(builder, values, loop.index, lanes)
        builder.store(builder.fadd(_load(builder, row), own), row, align=8)


def _with_lanes(write: Any, lanes: int) -> Any:
    """What `write` says, as a function of addresses, bytes from row to row and from code to code, and sizes."""

    @intrinsic
    def add(_context: Any, tables: Any, step: Any, codes: Any, stride: Any, n_tables: Any, row: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            write(builder, values, lanes)
            return context.get_dummy_value()

        return types.void(*[types.intp] * 6), generate

    return add


def _by_lanes(write: Any) -> Any:
    add_two_lines, add_line = _with_lanes(write, 2 * LANES), _with_lanes(write, LANES)

    def compiled(tables: Any, codes: Any, i: Any, row: Any) -> None:
        step, line = row.size * row.itemsize, LANES * row.itemsize
        own, stride, n_tables = codes.ctypes.data + i * codes.strides[0], codes.strides[1], codes.shape[1]
        for first in range(0, step - line, 2 * line):
            at = tables.ctypes.data + first
            add_two_lines(at, step, own, stride, n_tables, row.ctypes.data + first)
        if step % (2 * line):
            at = tables.ctypes.data + step - line
            add_line(at, step, own, stride, n_tables, row.ctypes.data + step - line)

    return compiled


@overload(add_looked_up, jit_options={"forceinline": True})
def _compiled_add_looked_up(tables: Any, codes: Any, i: Any, row: Any) -> Any:  # noqa: ARG001
    return _by_lanes(_sum)


@overload(add_to_looked_up, jit_options={"forceinline": True})
def _compiled_add_to_looked_up(tables: Any, codes: Any, i: Any, row: Any) -> Any:  # noqa: ARG001
    return _by_lanes(_spread)

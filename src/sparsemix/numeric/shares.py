"""Numbers of a sparse row, shared out over components: all that the row needs stays in wide registers.

As loops, the same reads and writes its sums anew at each entry. Here the processor's registers are named outright (see
`lanes`): up to `MOST_LINES` of them hold the row's factors, as many its sums.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from sparsemix.numeric.lanes import LANES, padded, rows_of_zeros

MOST_LINES = 4
WIDEST = MOST_LINES * LANES  # columns of a table that `share_row` can take

_REAL, _INT, _COLUMN = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_LINE = ir.VectorType(_REAL, LANES)
_MATH = ("contract",)


def roomy(n_rows: int, width: int) -> NDArray[np.float64]:
    """A table of zeros for `share_row`, wider than asked unless it would be too wide, or more than twice as wide.

    Examples
    --------
    >>> roomy(3, 20).shape, roomy(3, 2).shape, roomy(3, 33).shape
    ((3, 24), (3, 2), (3, 33))
    """
    is_fit = padded(width) <= min(WIDEST, 2 * width)
    return rows_of_zeros(n_rows, width) if is_fit else np.zeros((n_rows, width))


def share_row(
    columns: Any,
    values: Any,
    span: Any,
    least: Any,
    row: Any,
    factors: Any,
    rates_out: Any,
    total_out: Any,
    sums: Any,
) -> None:
    """Share out each value in proportion to the products of the row's factors and those of its column.

    Parameters
    ----------
    columns : (nnz,) int32
    values : (nnz,) float64
    span : (int, int)
        First entry of the row, and the one after its last.
    least : float
        Above zero. Where the products add up to no more, the value is shared out to nobody.
    row : (width,) float64, contiguous; the width is a multiple of `LANES`, at most `WIDEST`
    factors : (n_columns, width) float64, contiguous
    rates_out : (nnz,) float64; OUT, for the entries of the row: sums of the products, `least` if they are less
    total_out : (width,) float64, contiguous; OUT: shares over the row's factors, summed over entries
    sums : (n_columns, width) float64, contiguous; IN/OUT: shares over the column's factors are added

    Examples
    --------
    >>> import numpy as np
    >>> row, factors = np.zeros(8), np.zeros((2, 8))
    >>> row[:2], factors[:, :2] = [1.0, 3.0], 0.5
    >>> rates, total, sums = np.zeros(1), np.zeros(8), np.zeros((2, 8))
    >>> share_row(np.array([1]), np.array([4.0]), (0, 1), 1e-9, row, factors, rates, total, sums)
    >>> (row * total)[:2], sums[1, :2]
    (array([1., 3.]), array([2., 6.]))
    """
    total_out[:] = 0.0
    for e in range(*span):
        j = columns[e]
        rate = row @ factors[j]
        rates_out[e] = max(rate, least)
        ratio = values[e] / rate if rate > least else 0.0
        total_out += ratio * factors[j]
        sums[j] += ratio * row


class _Places(NamedTuple):
    """Where the arrays of `share_row` lie, and its numbers, as the compiler knows them."""

    columns: Any
    values: Any
    rates: Any
    start: Any
    end: Any
    least: Any
    row: Any
    factors: Any
    total: Any
    sums: Any


def _at(builder: Any, address: Any, index: Any, kind: Any) -> Any:
    """Where the element of an array lies, for one that has `index` of them before it."""
    return builder.gep(builder.inttoptr(address, kind.as_pointer()), [index])


def _lines(builder: Any, address: Any, n_lines: int) -> list[Any]:
    places = (_at(builder, address, _INT(line), _LINE) for line in range(n_lines))
    return [builder.load(place, align=8) for place in places]


def _store_lines(builder: Any, address: Any, lines: list[Any]) -> None:
    for number, line in enumerate(lines):
        builder.store(line, _at(builder, address, _INT(number), _LINE), align=8)


def _plus_multiples(builder: Any, lines: list[Any], factor: Any, others: list[Any]) -> list[Any]:
    products = (builder.fmul(factor, other, flags=_MATH) for other in others)
    return [builder.fadd(line, product, flags=_MATH) for line, product in zip(lines, products, strict=True)]


def _everywhere(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(_LINE, ir.Undefined), number, _COLUMN(0))
    return builder.shuffle_vector(
        first, first, ir.Constant(ir.VectorType(_COLUMN, LANES), [_COLUMN(0)] * LANES)
    )


def _product(builder: Any, lines: list[Any], others: list[Any]) -> Any:
    """Inner product; halves are added to halves, in an order that no processor changes."""
    product = builder.fmul(lines[0], others[0])
    for line, other in zip(lines[1:], others[1:], strict=True):
        product = builder.fadd(product, builder.fmul(line, other, flags=_MATH), flags=_MATH)
    width = LANES // 2
    while width:
        places = (range(width), range(width, 2 * width))
        halves = (ir.Constant(ir.VectorType(_COLUMN, width), [_COLUMN(p) for p in half]) for half in places)
        product = builder.fadd(*(builder.shuffle_vector(product, product, half) for half in halves))
        width //= 2
    return builder.extract_element(product, _COLUMN(0))


def _share_entry(builder: Any, at: _Places, entry: Any, row: list[Any]) -> tuple[Any, list[Any]]:
    """One entry, all but the total of the row; returns what goes there, a ratio and the factors that it multiplies."""
    column = builder.zext(builder.load(_at(builder, at.columns, entry, _COLUMN)), _INT)
    first = builder.mul(column, _INT(len(row) * LANES * 8))
    own = _lines(builder, builder.add(at.factors, first), len(row))
    rate = _product(builder, row, own)
    is_enough = builder.fcmp_ordered(">", rate, at.least)
    rate = builder.select(is_enough, rate, at.least)
    builder.store(rate, _at(builder, at.rates, entry, _REAL))
    ratio = builder.fdiv(builder.load(_at(builder, at.values, entry, _REAL)), rate)
    ratio = builder.select(is_enough, ratio, _REAL(0.0))
    ratio, sums = _everywhere(builder, ratio), builder.add(at.sums, first)
    _store_lines(builder, sums, _plus_multiples(builder, _lines(builder, sums, len(row)), ratio, row))
    return ratio, own


def _share(builder: Any, at: _Places, n_lines: int) -> None:
    """`share_row`: a loop over entries, whose totals are handed from one turn to the next in registers."""
    row = _lines(builder, at.row, n_lines)
    before = builder.basic_block
    head, body, after = (builder.append_basic_block(name) for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    entry, total = builder.phi(_INT), [builder.phi(_LINE) for _ in row]
    builder.cbranch(builder.icmp_signed("<", entry, at.end), body, after)
    builder.position_at_end(body)
    longer = _plus_multiples(builder, total, *_share_entry(builder, at, entry, row))
    following = builder.add(entry, _INT(1))
    builder.branch(head)
    zeros = [ir.Constant(_LINE, [_REAL(0.0)] * LANES)] * n_lines
    turns = zip([entry, *total], [at.start, *zeros], [following, *longer], strict=True)
    for value, first, then in turns:
        value.add_incoming(first, before)
        value.add_incoming(then, body)
    builder.position_at_end(after)
    _store_lines(builder, at.total, total)


def _with_lines(n_lines: int) -> Any:
    """`share_row` for rows of so many lines, as a function of addresses."""

    @intrinsic
    def share(_context: Any, entries: Any, least: Any, tables: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            entries, least, tables = values
            unpack: Any = cgutils.unpack_tuple
            _share(
                builder, _Places._make([*unpack(builder, entries), least, *unpack(builder, tables)]), n_lines
            )
            return context.get_dummy_value()

        return types.void(entries, least, tables), generate

    return share


@overload(share_row, jit_options={"forceinline": True})
def _compiled_share_row(
    columns: Any, values: Any, span: Any, least: Any, row: Any,  # noqa: ARG001
    factors: Any, rates_out: Any, total_out: Any, sums: Any,  # noqa: ARG001
) -> Any:  # fmt: skip
    one, two, three, four = (_with_lines(n_lines) for n_lines in range(1, MOST_LINES + 1))

    def compiled(
        columns: Any, values: Any, span: Any, least: Any, row: Any,
        factors: Any, rates_out: Any, total_out: Any, sums: Any,
    ) -> None:  # fmt: skip
        entries = (columns.ctypes.data, values.ctypes.data, rates_out.ctypes.data, span[0], span[1])
        tables = (row.ctypes.data, factors.ctypes.data, total_out.ctypes.data, sums.ctypes.data)
        if row.size == LANES:
            one(entries, least, tables)
        elif row.size == 2 * LANES:
            two(entries, least, tables)
        elif row.size == 3 * LANES:
            three(entries, least, tables)
        elif row.size == MOST_LINES * LANES:
            four(entries, least, tables)

    return compiled

"""Cut a stream of rows into blocks that end at the same rows wherever one begins."""

from collections.abc import Iterable, Iterator
from typing import Protocol, Self, TypeVar

from sparsemix.foundation.errors import DataError
from sparsemix.foundation.wording import counted


class Rows(Protocol):
    """Rows that can be counted and sliced."""

    def __len__(self) -> int:
        """Return how many."""
        ...

    def __getitem__(self, part: slice, /) -> Self:
        """Return some of them."""
        ...


BLOCK_ROWS = 8_192
"""Rows between two looks at the clock, the user and the checkpoints."""

Block = TypeVar("Block", bound=Rows)


def cut(batches: Iterable[Block], ends: Iterable[int], start: int = 0, first: int = 0) -> Iterator[Block]:
    """Yield the rows from `start` on in blocks that end at the multiples of `ends`, and where a batch ends.

    Parameters
    ----------
    batches : iterable of Dataset
    ends : iterable of int
        Each >= 1.
    start : int
        Number of the first row that is wanted.
    first : int
        Number of the first row of the batches.

    Yields
    ------
    Dataset

    Raises
    ------
    DataError
        When there are fewer than `start` rows.

    Examples
    --------
    >>> list(cut(["abcde", "fgh"], ends=[3], start=1))
    ['bc', 'de', 'f', 'gh']
    """
    sizes = tuple(ends)
    for batch in batches:
        last = first + len(batch)
        position = max(first, start)
        while position < last:
            end = min(last, *(size * (position // size + 1) for size in sizes))
            yield batch[position - first : end - first]
            position = end
        first = last
    if first < start:
        raise DataError(
            f"the model has learnt {counted(start, 'row')}, but the input has only {first:,}. "
            f"Give the table that it was learning, or leave --resume out to start anew."
        )

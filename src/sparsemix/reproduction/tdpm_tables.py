"""Tables of clusters in time: how near the draws are to the truth, and whether the paper's order is seen."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.reproduction.results import Cell, Table
from sparsemix.reproduction.spread import Spread, claims_table, spread_of

TDPM, DPM = "tDPM", "DPM"
PAPER = {("hard", TDPM): 0.9272, ("easy", TDPM): 0.1245, ("hard", DPM): 1.8627, ("easy", DPM): 0.6630}


class Found(NamedTuple):
    """What one model found in one data set.

    n_true : clusters. draws : (n_draws, n_texts).
    vi : (n_draws,) variation of information to the true clusters, nats.
    """

    difficulty: str
    model: str
    n_true: int
    draws: NDArray[Any]
    vi: NDArray[Any]

    @property
    def mode(self) -> int:
        """The most frequent number of clusters."""
        return int(sizes_of(self.draws).argmax())


def sizes_of(draws: NDArray[Any]) -> NDArray[np.int64]:
    """How many draws have no cluster, one, two and so on."""
    return np.bincount([np.unique(draw).size for draw in draws])


def summary_table(found: Sequence[Found]) -> Table:
    """For each difficulty and model: VI, its spread over data sets and inside one, and numbers of clusters."""
    rows: list[Sequence[Cell]] = []
    for difficulty, model in dict.fromkeys((each.difficulty, each.model) for each in found):
        own = _of(found, difficulty, model)
        vi = spread_of(each.vi.mean() for each in own)
        inside = spread_of(each.vi.std() for each in own).mean
        sizes = [
            spread_of(values).mean for values in ([each.n_true for each in own], [each.mode for each in own])
        ]
        rows.append((difficulty, model, vi.mean, vi.deviation, inside, PAPER[difficulty, model], *sizes))
    heads = ("data", "model", "VI", "sd over sets", "sd in a set", "paper", "true clusters", "found")
    return Table("summary", f"VI (nats) and number of clusters (mode), {len(own)} data sets", heads, rows)


def order_table(found: Sequence[Found]) -> Table:
    """Whether the paper's order is seen."""
    return claims_table("Is the order of the paper seen?", "by", _claims(found))


def _claims(found: Sequence[Found]) -> Iterator[tuple[str, Spread]]:
    difficulties = list(dict.fromkeys(each.difficulty for each in found))
    for difficulty in difficulties:
        pairs = list(zip(_of(found, difficulty, TDPM), _of(found, difficulty, DPM), strict=True))
        yield (
            f"{difficulty}: {TDPM} has a lower VI than {DPM}",
            spread_of(b.vi.mean() - a.vi.mean() for a, b in pairs),
        )
        yield (
            f"{difficulty}: {DPM} finds fewer clusters than {TDPM}",
            spread_of(a.mode - b.mode for a, b in pairs),
        )
    for model in (TDPM, DPM):
        pairs = list(zip(*(_of(found, difficulty, model) for difficulty in difficulties), strict=True))
        claim = f"{model}: {' has a higher VI than '.join(difficulties)}"
        yield claim, spread_of(a.vi.mean() - b.vi.mean() for a, b in pairs)


def _of(found: Sequence[Found], difficulty: str, model: str) -> list[Found]:
    return [each for each in found if (each.difficulty, each.model) == (difficulty, model)]

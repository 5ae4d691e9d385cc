"""Hash clustering with exponential families: what proposals from signatures cost, and how fast chains converge.

Table 1 of the paper has microseconds a document, for proposals and in all; here the share of accepted proposals is
beside them. Table 2 and the left of Figure 1 compare with sampling that looks at every cluster, at equal variation of
information (VI) to the true clusters. Texts are made up, all times are CPU seconds of one core.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from sparsemix.reproduction.fastex_chains import (
    BASELINES,
    SAMPLERS,
    Point,
    Texts,
    compile_all,
    convergence,
    cost_of_hashing,
    make_texts,
    seconds_to,
)
from sparsemix.reproduction.papers import Wish
from sparsemix.reproduction.results import Cell, Curves, Result, Table

FORMS = {"centred": False, "raw": True}
"""Signatures as they are made here, and as in the paper."""


class Sizes(NamedTuple):
    """How large the experiments are.

    clusters : numbers of them, one experiment each. n_rows texts of `length` words out of `n_features`.
    bits : of signatures, Table 1; n_bits : of those in the comparison.
    seconds, most_sweeps : after which a chain ends.
    """

    clusters: tuple[int, ...]
    n_rows: int
    n_features: int
    length: int
    bits: tuple[int, ...]
    n_bits: int
    seconds: float
    most_sweeps: int


FULL = Sizes((100, 1_000), 50_000, 20_000, 100, (8, 16, 32, 64, 128, 256, 512), 128, 180.0, 100)
QUICK = Sizes((50, 200), 4_000, 5_000, 30, (8, 32, 128), 128, 1.5, 25)

Curve = tuple[str, list[Point]]


def results(wish: Wish, tell: Callable[[str], None]) -> Iterator[Result]:
    """Yield Table 1, a figure of the convergence for each number of clusters, and the table of speed."""
    sizes = QUICK if wish.is_quick else FULL
    wanted = sizes._replace(
        clusters=wish.clusters or sizes.clusters,
        n_rows=wish.n_rows or sizes.n_rows,
        n_features=wish.n_features or sizes.n_features,
    )
    yield from run(wanted, tell)


def run(sizes: Sizes, tell: Callable[[str], None]) -> Iterator[Result]:
    """The same for sizes of any kind."""
    tell("Compiling the kernels, if that has not been done yet.")
    compile_all()
    data = {k: make_texts(sizes.n_rows, sizes.n_features, k, sizes.length) for k in sizes.clusters}
    yield _cost(sizes, data, tell)
    speed: list[Sequence[Cell]] = []
    for n_clusters, texts in data.items():
        curves = []
        for name in SAMPLERS:
            tell(f"Convergence: {n_clusters} clusters, {name}.")
            points = list(convergence(name, texts, sizes.n_bits, sizes.seconds, sizes.most_sweeps))
            curves.append((name, points))
        yield _figure(n_clusters, curves)
        speed += _speed(n_clusters, curves)
    heads = ("clusters", "sampler", "sweeps", "CPU seconds", "final VI")
    title = "CPU time, and how many times sooner at the best VI of a baseline"
    yield Table("speed", title, (*heads, *(f"beside {name}" for name in BASELINES)), speed)


def _cost(sizes: Sizes, data: dict[int, Texts], tell: Callable[[str], None]) -> Table:
    rows: list[Sequence[Cell]] = []
    for n_clusters, texts in data.items():
        for n_bits in sizes.bits:
            tell(f"Table 1: {n_clusters} clusters, {n_bits} bits.")
            for form, is_raw in FORMS.items():
                rows.append((n_clusters, n_bits, form, *cost_of_hashing(texts, n_bits, is_raw=is_raw)))
    heads = ("clusters", "bits", "signatures", "proposal, µs a text", "total, µs a text", "accepted")
    return Table("table_1", "Table 1: CPU time of a text with proposals from signatures", heads, rows)


def _figure(n_clusters: int, curves: Sequence[Curve]) -> Curves:
    points = [(name, point.seconds, point.vi) for name, own in curves for point in own]
    title = f"Convergence with {n_clusters:,} clusters"
    axes = ("sampler", "CPU seconds", "VI to the true clusters, nats")
    return Curves(f"convergence_{n_clusters}", title, axes, points, is_log=True)


def _speed(n_clusters: int, curves: Sequence[Curve]) -> list[Sequence[Cell]]:
    rows: list[Sequence[Cell]] = []
    for name, points in curves:
        factors = [_sooner(points, dict(curves)[baseline]) for baseline in BASELINES]
        rows.append((n_clusters, name, len(points) - 1, points[-1].seconds, points[-1].vi, *factors))
    return rows


def _sooner(points: Sequence[Point], baseline: Sequence[Point]) -> Cell:
    """How many times sooner a chain is where a baseline is at its best; "-" if it never is, or that is the start."""
    best = min(point.vi for point in baseline)
    own, other = seconds_to(best, points), seconds_to(best, baseline)
    if own is None or other is None or other == baseline[0].seconds:
        return "-"
    return other / own

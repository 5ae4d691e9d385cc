"""EM in leaps: fewer epochs to the same objective, which still never falls.

SQUAREM (Varadhan and Roland, 2008) on the expected statistics. Two plain epochs lead from `a` over `b` to `c`; with
r = b - a and v = c - 2b + a the leap goes to ``a + 2 t r + t^2 v``, t = |r| / |v|. Where the objective would fall, the
leap is taken back and costs one epoch. Statistics are linear, so that a leap keeps the number of rows.
"""

from collections.abc import Callable, Sequence

import numpy as np

from sparsemix.models.em import engine
from sparsemix.models.em.engine import Fit, Loop
from sparsemix.models.em.families import Family
from sparsemix.models.em.state import Prior, Statistics
from sparsemix.numeric.leaps import GROWTH, KEPT, SHORTEST_LIMIT


def run(
    blocks: engine.Blocks | engine.Elsewhere,
    start: Statistics,
    family: Family,
    prior: Prior,
    loop: Loop,
    on_epoch: Callable[[Fit], None] = lambda _: None,
    before: Sequence[float] = (),
) -> Fit:
    """As `engine.run`; stops only where a plain epoch gains less than the tolerance."""
    fit = good = Fit(start, family.maximize(start, prior))
    path, limit = [start], SHORTEST_LIMIT
    way_back: Statistics | None = None
    for epoch in range(1, loop.max_iter + 1):
        statistics = engine.score(blocks, fit, family, prior, loop, good.trace)
        if epoch == 1:
            fit.trace = engine.continued(before, fit.trace)
        is_leap = way_back is not None
        if way_back is not None and not fit.trace[-1] >= good.trace[-1]:
            good.trace.append(good.trace[-1])
            following, path, limit = way_back, [way_back], max(SHORTEST_LIMIT, limit / GROWTH)
        else:
            fit.is_converged = not is_leap and engine.has_stopped(
                fit.trace, loop.tol * statistics.sizes.sum()
            )
            good, following = fit, statistics
            path = [statistics] if is_leap else [*path, statistics]
        on_epoch(good)
        if good.is_converged or epoch == loop.max_iter:
            break
        way_back = None
        if len(path) == 3 and epoch < loop.max_iter - 1:
            length = _length(*path)
            if length > 1.0:
                way_back, following = path[2], _leap(path, min(length, limit), family)
                limit = limit * GROWTH if length > limit else limit
            path = [path[2]]
        fit = Fit(following, family.maximize(following, prior), list(good.trace))
    return good


def _length(a: Statistics, b: Statistics, c: Statistics) -> float:
    step = np.sum((b.counts - a.counts) ** 2) + np.sum((b.sizes - a.sizes) ** 2)
    bend = np.sum((c.counts - 2.0 * b.counts + a.counts) ** 2) + np.sum(
        (c.sizes - 2.0 * b.sizes + a.sizes) ** 2
    )
    return float(np.sqrt(step / bend)) if bend > 0.0 else 0.0


def _leap(path: list[Statistics], length: float, family: Family) -> Statistics:
    a, b, c = path
    sizes, counts = (
        first + 2.0 * length * (second - first) + length**2 * (third - 2.0 * second + first)
        for first, second, third in ((a.sizes, b.sizes, c.sizes), (a.counts, b.counts, c.counts))
    )
    leap = Statistics(np.maximum(sizes, KEPT * c.sizes), np.maximum(counts, KEPT * c.counts))
    return family.possible(leap, c, KEPT)

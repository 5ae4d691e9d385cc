"""Factor models on real tables of counts: log likelihood, squared error and recall of cells that were set aside.

Run ``python benchmarks/factor_sets.py``; it writes ``benchmarks/results/factor_sets.md``. The data lie outside the
project, see ``harness/realdata.py``. hpfrec, poismf and implicit are optional; the page says which were there.
"""

import argparse
import inspect
import statistics
import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from harness import machine, tables
from harness.count_sets import SETS, CountSet, Halves, hide
from harness.factor_methods import LIBRARIES, METHODS, Method, fitted, is_installed
from harness.factor_scores import Scores, evaluate, popularity

HIDDEN = 0.2
N_COMPONENTS = (5, 20, 50)
HEADER = ("method", "K", "log likelihood", "RMSE", "recall", "seconds")
MANY_CELLS, FEW_SEEDS, ONE_SIZE = 50_000, 2, (20,)
NOTES = """A fifth of the cells was set aside; of open_bandit, where users have seen nearly all items, of the events.
K is that of {grid} with the best likelihood on a fifth of what is learnt, after which all of that is learnt. ALS, which
has no likelihood, is chosen by recall or else RMSE, and its weight too. Means over {n} seeds of split and model.
Tables of more than {many:,} cells have {few} seeds and K = {one}. Brackets have the range.

- Log likelihood: nats an event that was set aside, without ln x!, of Poisson counts in all cells that were not learnt,
  at the best multiple of all rates, a hundredth of popularity mixed in. ALS predicts numbers below zero and has none.
- RMSE: of all cells that were not learnt, at the best multiple of the predictions; most are zeros.
- Recall: hidden things of a user among the ten with the highest predictions, of ten at most; learnt ones are left out.
- Seconds: CPU seconds of a fit with that K, one thread; medians.

"map" and "gibbs" have their defaults; "map, smoothed" has feature_smoothing 0.3, "map, shape 0.3" a rate of 0.1 too,
"gibbs, sparse" shape 0.1, rate 0.1 and feature_concentration 0.05. hpfrec runs 60 sweeps, scikit-learn 300, poismf and
ALS as they come, ALS on the logarithm of 1 + count."""


class Fitted(NamedTuple):
    """What one fit is worth, and the CPU seconds that it took."""

    scores: Scores
    seconds: float


def fit(method: Method, halves: Halves, n_components: int, seed: int) -> Fitted:
    """Fit and score."""
    start = time.process_time()
    predict = fitted(method, halves.learnt, n_components, seed)
    seconds = time.process_time() - start
    return Fitted(evaluate(halves, predict), seconds)


def worth(scores: Scores) -> float:
    """What settings are chosen by."""
    for value in (scores.log_likelihood, scores.recall):
        if np.isfinite(value):
            return value
    return -scores.rmse


def chosen(data: CountSet, halves: Halves, settings: list[Method], grid: Iterable[int]) -> tuple[Method, int]:
    """Return the setting and the number of factors that do best on a part of what is learnt."""
    inner = hide(data, halves.learnt, HIDDEN, 100)
    pairs = [(method, n) for method in settings for n in grid]
    return (
        pairs[0]
        if len(pairs) == 1
        else max(pairs, key=lambda pair: worth(fit(*pair[:1], inner, pair[1], 0).scores))
    )


def spread(values: list[float], digits: int) -> str | None:
    """Return the mean, and the range of several; None if there is no number."""
    if not np.isfinite(values).all():
        return None
    middle = f"{statistics.fmean(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def line(name: str, n_components: int | None, found: list[Fitted]) -> list[str | None]:
    """Return the table line of a method."""
    likelihoods, errors, recalls = (list(each) for each in zip(*(one.scores for one in found), strict=True))
    seconds = statistics.median(one.seconds for one in found)
    return [
        name,
        None if n_components is None else str(n_components),
        spread(likelihoods, 3),
        f"{statistics.fmean(errors):.5f}",
        spread(recalls, 3),
        None if n_components is None else f"{seconds:.1f}",
    ]


def part(data: CountSet, names: list[str], seeds: int, grid: tuple[int, ...]) -> list[str]:
    """Return the section on one set."""
    counts = data.counts
    if counts.nnz > MANY_CELLS:
        seeds, grid = min(seeds, FEW_SEEDS), ONE_SIZE
    splits = [hide(data, counts, HIDDEN, seed) for seed in range(seeds)]
    common = [Fitted(evaluate(halves, popularity(halves.learnt)), 0.0) for halves in splits]
    lines = [line("popularity", None, common)]
    for name in names:
        method, n_components = chosen(data, splits[0], METHODS[name], grid)
        found = [fit(method, halves, n_components, seed) for seed, halves in enumerate(splits)]
        lines.append(line(name, n_components, found))
        print(data.name, lines[-1], flush=True)
    sizes = "{:,} x {:,}".format(*counts.shape)
    what = f"{sizes}, {counts.nnz:,} cells with {counts.sum():,.0f} events, the largest {counts.data.max():,.0f}."
    return [
        f"## {data.name}",
        f"{inspect.cleandoc(SETS[data.name].__doc__)}\n\n{what}",
        tables.markdown(HEADER, lines),
    ]


def main() -> None:
    """Parse the options, fit every method to every set, write the page after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--grid", type=int, nargs="+", default=list(N_COMPONENTS), help="numbers of factors")
    parser.add_argument("--page", default="factor_sets", help="name of the page in benchmarks/results")
    options = parser.parse_args()
    machine.use_one_thread()
    names = [name for name in options.methods if is_installed(name)]
    missing = [library for library in LIBRARIES if not is_installed(library)]
    left_out = f"\n\nNot installed, and so left out: {', '.join(missing)}." if missing else ""
    grid = " and ".join([", ".join(map(str, options.grid[:-1])), str(options.grid[-1])])
    sections = [
        NOTES.format(n=options.seeds, grid=grid, few=FEW_SEEDS, many=MANY_CELLS, one=ONE_SIZE[0]) + left_out
    ]
    for name in options.only:
        sections += part(SETS[name](), names, options.seeds, tuple(options.grid))
        tables.write_page(options.page, "Factors of real counts", machine.describe(), sections)


if __name__ == "__main__":
    main()

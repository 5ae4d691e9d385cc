"""Time-sensitive Dirichlet process mixtures: clusters in time with and without a memory that fades.

Figures 4 to 6 of the paper show one data set of short texts (hard) and one of longer ones (easy). Its numbers are the
variation of information (VI) to the true clusters and how many clusters there are; here they are averaged over several.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from sparsemix.metrics import variation_of_information
from sparsemix.models.time_sensitive import TimeKernel, TimeSensitiveMixture
from sparsemix.reproduction.papers import Wish
from sparsemix.reproduction.results import Result
from sparsemix.reproduction.tdpm_figures import data_figure, draws_figure
from sparsemix.reproduction.tdpm_tables import DPM, TDPM, Found, order_table, summary_table
from sparsemix.reproduction.thread_texts import CONCENTRATION, DECAY_RATE, Threads, threads

KERNELS = {TDPM: TimeKernel.exponential(DECAY_RATE), DPM: TimeKernel.step()}
SMOOTHING = 1.0  # a uniform prior of the words of a cluster


class Sizes(NamedTuple):
    """How large the experiments are.

    n_texts : of a data set. lengths : words of a text, by difficulty. n_sets : data sets of each difficulty.
    burn_in, n_draws, thin : sweeps that are left out, draws that are kept, and sweeps for one of them.
    """

    n_texts: int
    lengths: dict[str, int]
    n_sets: int
    burn_in: int
    n_draws: int
    thin: int


FULL = Sizes(100, {"hard": 20, "easy": 50}, 50, 100, 109, 11)
QUICK = FULL._replace(n_sets=3)


def results(wish: Wish, tell: Callable[[str], None]) -> Iterator[Result]:
    """Yield Figures 4 to 6, what was found in numbers, and whether the paper's order is seen."""
    sizes = QUICK if wish.is_quick else FULL
    wanted = sizes._replace(n_texts=wish.n_rows or sizes.n_texts, n_sets=wish.n_sets or sizes.n_sets)
    yield from run(wanted, tell)


def run(sizes: Sizes, tell: Callable[[str], None]) -> Iterator[Result]:
    """The same for sizes of any kind."""
    first = {name: threads(sizes.n_texts, length, 0) for name, length in sizes.lengths.items()}
    yield data_figure(first)
    found: list[Found] = []
    for seed in range(sizes.n_sets):
        tell(f"Data set {seed + 1} of {sizes.n_sets}.")
        for difficulty, length in sizes.lengths.items():
            texts = threads(sizes.n_texts, length, seed)
            found += [_found(difficulty, model, texts, sizes, seed) for model in KERNELS]
    for name, model in (("figure_5", TDPM), ("figure_6", DPM)):
        of_first = [each for each in found if each.model == model][: len(first)]
        draws = {each.difficulty: each.draws for each in of_first}
        truth = {difficulty: texts.truth for difficulty, texts in first.items()}
        yield draws_figure(name, model, draws, truth, shows_truth=model == TDPM)
    yield summary_table(found)
    yield order_table(found)


def _found(difficulty: str, model: str, texts: Threads, sizes: Sizes, seed: int) -> Found:
    """Draws from the paper's chain, which begins with one cluster of all texts and moves them one by one."""
    mixture = TimeSensitiveMixture(
        CONCENTRATION,
        time_kernel=KERNELS[model],
        smoothing=SMOOTHING,
        n_sweeps=sizes.burn_in + sizes.n_draws * sizes.thin,
        burn_in=sizes.burn_in,
        thin=sizes.thin,
        split_merge=0.0,
        init=np.zeros(sizes.n_texts, np.int64),
        random_state=seed,
    )
    draws = mixture.fit(texts.counts, times=texts.times).draws_
    vi = [variation_of_information(texts.truth, draw) for draw in draws]
    return Found(difficulty, model, int(texts.truth.max()) + 1, draws, np.array(vi))

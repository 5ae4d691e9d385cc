"""Figures of clusters in time: the data, how many clusters are found, and which texts are in one."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.reproduction.results import Panels
from sparsemix.reproduction.tdpm_tables import sizes_of
from sparsemix.reproduction.thread_texts import Threads

Point = tuple[str, float, float, float]
IntArray = NDArray[Any]


def data_figure(data: Mapping[str, Threads]) -> Panels:
    """Figure 4: clusters in time, their words, and the words of each text; a column for each difficulty."""
    rows: list[Point] = []
    parts = ("clusters in time", "words of clusters", "words of texts")
    for difficulty, texts in data.items():
        names = [f"{part}, {difficulty}" for part in parts]
        in_time = zip(texts.times.tolist(), texts.truth.tolist(), strict=True)
        rows += [(names[0], time, cluster, 1.0) for time, cluster in in_time]
        rows += _picture(names[1], texts.words.T)
        rows += _picture(names[2], texts.counts.T)
    kinds = {
        f"{part}, {difficulty}": "points" if part == parts[0] else "picture"
        for part in parts
        for difficulty in data
    }
    title = "Figure 4: texts in time, the hard and the easy data set"
    return Panels("figure_4", title, ("panel", "x", "y", "value"), rows, kinds, len(data))


def draws_figure(
    name: str, model: str, draws: Mapping[str, IntArray], truth: Mapping[str, IntArray], *, shows_truth: bool
) -> Panels:
    """Figures 5 and 6: how many clusters the draws have, and the share of draws in which two texts are in one.

    Texts are in the order of their true clusters. The matrix of the true ones is shown in Figure 5 alone.
    """
    rows: list[Point] = []
    kinds: dict[str, str] = {}
    for difficulty, own in draws.items():
        counts = sizes_of(own)
        panel = f"number of clusters, {difficulty}"
        rows += [(panel, n, 0.0, counts[n] / len(own)) for n in np.flatnonzero(counts).tolist()]
        kinds[panel] = "bars"
    matrices = {"true": {each: labels[None, :] for each, labels in truth.items()}} if shows_truth else {}
    for what, labels in {**matrices, model: dict(draws)}.items():
        for difficulty in draws:
            order = np.argsort(truth[difficulty], kind="stable")
            panel = f"in one cluster, {what}, {difficulty}"
            rows += _picture(panel, together(labels[difficulty][:, order]))
            kinds[panel] = "picture"
    title = f"Figure {name[-1]}: {model} on the hard and the easy data set"
    return Panels(name, title, ("panel", "x", "y", "value"), rows, kinds, len(draws))


def together(draws: IntArray) -> NDArray[np.float64]:
    """Share of the draws in which two texts are in one cluster, (n_texts, n_texts)."""
    return np.asarray(np.mean([draw[:, None] == draw for draw in draws], axis=0))


def _picture(panel: str, values: IntArray) -> Iterator[Point]:
    for (y, x), value in np.ndenumerate(values):
        yield panel, x, y, float(value)

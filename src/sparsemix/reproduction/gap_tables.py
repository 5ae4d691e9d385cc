"""Tables of how well factors predict counts, and whether models are in the order that the poster reports."""

from collections.abc import Iterator, Sequence

import numpy as np

from sparsemix.reproduction.ad_events import Counts
from sparsemix.reproduction.results import Cell, Table
from sparsemix.reproduction.spread import Spread, claims_table, spread_of

GIBBS, GIBBS_NMF, NMF, MEAN = "Gibbs GaP", "Gibbs NMF", "NMF", "mean"
Errors = dict[tuple[str, int], float]
"""RMSE by the name of a model and the number of factors."""

SMALL = 5  # so many factors are few
POSTER = {
    **{(GIBBS, 5): 2.979, (GIBBS_NMF, 5): 3.062, (NMF, 5): 2.936, ("EM GaP", 5): 3.0},
    **{(GIBBS, 10): 3.151, (GIBBS_NMF, 10): 3.183, (NMF, 10): 3.072, ("EM GaP", 10): 3.0},
    **{(GIBBS, 20): 3.119, (GIBBS_NMF, 20): 3.187, (NMF, 20): 3.151, ("EM GaP", 20): 3.2},
}
POSTER_MEAN = 3.206


def data_table(sets: Sequence[Counts]) -> Table:
    """What the data sets are like, beside the poster's."""
    facts = {
        "users": ([len(each) for each in sets], 960),
        "columns (three an ad)": ([each.shape[1] for each in sets], 330),
        "events": ([each.sum() for each in sets], 6_052),
        "cells with events": ([np.count_nonzero(each) for each in sets], 2_548),
    }
    rows = [(name, *spread_of(values)[:2], poster) for name, (values, poster) in facts.items()]
    return Table("data", "The data sets", ("", "mean", "standard deviation", "poster"), rows)


def error_table(errors: Sequence[Errors]) -> Table:
    """Table 1: RMSE by model and number of factors, with its spread over data sets."""
    rows: list[Sequence[Cell]] = []
    for name, n_components in errors[0]:
        found = spread_of(each[name, n_components] for each in errors)
        better = np.mean([each[name, n_components] < each[MEAN, n_components] for each in errors])
        poster: Cell = POSTER_MEAN if name == MEAN else POSTER.get((name, n_components), "-")
        rows.append((n_components, name, found.mean, found.deviation, float(better), poster))
    heads = ("factors", "model", "RMSE", "standard deviation", "share of sets below the mean's", "poster")
    title = f"Table 1: RMSE of the cells set aside, {len(errors)} data sets"
    return Table("table_1", title, heads, sorted(rows, key=lambda row: int(row[0])))


def order_table(errors: Sequence[Errors]) -> Table:
    """Whether the poster's order is seen: each claim with the mean difference of the RMSE over the data sets."""
    return claims_table("Is the order of the poster seen?", "lower by", _claims(errors))


def _claims(errors: Sequence[Errors]) -> Iterator[tuple[str, Spread]]:
    names = list(dict.fromkeys(name for name, _ in errors[0] if name != MEAN))
    numbers = sorted({number for _, number in errors[0]})
    few = [number for number in numbers if number <= SMALL] or numbers[:1]
    for name in names:
        best = min(few, key=lambda number: spread_of(each[name, number] for each in errors).mean)
        yield f"{name} beats the mean, K = {best}", _gain(errors, (name, best), (MEAN, best))
    most = numbers[-1]
    for name in (MEAN, *names):
        if name != GIBBS:
            yield (
                f"{GIBBS} beats {'the mean' if name == MEAN else name}, K = {most}",
                _gain(errors, (GIBBS, most), (name, most)),
            )


def _gain(errors: Sequence[Errors], own: tuple[str, int], other: tuple[str, int]) -> Spread:
    return spread_of(each[other] - each[own] for each in errors)

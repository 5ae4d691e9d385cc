"""Figure 4: which pairs of rows belong together, on the paper's synthetic data."""

from collections.abc import Iterator, Sequence

import numpy as np

from sparsemix.data.synthetic import make_bernoulli_mixture
from sparsemix.metrics import PairRoc, pair_roc
from sparsemix.reproduction.ads_methods import AVERAGE, BAYES, EM, KMEANS, REPAIRED, WARD, memberships
from sparsemix.reproduction.results import Cell, Curves, Table
from sparsemix.reproduction.spread import Spread, spread_of

N_FEATURES, N_CLUSTERS = 100, 10
HALF = 4  # position of the threshold 0.5 among 0.1 to 0.9
METHODS = (BAYES, EM, REPAIRED, KMEANS, AVERAGE, WARD)
PAPER = {
    BAYES: (99.5, 1.66),
    EM: (97.4, 1.67),
    KMEANS: (94.3, 2.28),
    AVERAGE: (93.0, 2.28),
    WARD: (93.0, 2.28),
}
"""True and false positives in per cent at a threshold of 0.5; the paper does not say which linkage it took."""

Rates = dict[str, PairRoc]
"""True and false positive rate of each method at all thresholds."""


def rates_of(n_rows: int, seed: int) -> Rates:
    """Cluster one data set in all ways."""
    made, truth = make_bernoulli_mixture(n_rows, N_FEATURES, N_CLUSTERS, random_state=seed)
    rows = np.asarray(made)
    return {method: pair_roc(truth, memberships(method, rows, N_CLUSTERS, seed)) for method in METHODS}


def pairs_figure(found: Sequence[Rates]) -> Curves:
    """True against false positives, the mean over data sets at each threshold; labels have one point."""
    rows = []
    for method in METHODS:
        across, up = (
            100.0 * np.mean([getattr(each[method], name) for each in found], axis=0)
            for name in ("false_positive", "true_positive")
        )
        points = zip(across.tolist(), up.tolist(), strict=True)
        rows += [(method, *point) for point in dict.fromkeys(points)]
    title = "Figure 4: pairs of rows put together, at thresholds from 0.1 to 0.9"
    return Curves("figure_4", title, ("method", "false positives, %", "true positives, %"), rows)


def pairs_table(found: Sequence[Rates]) -> Table:
    """The rates at a threshold of 0.5, with their spread over data sets."""
    rows: list[Sequence[Cell]] = []
    for method in METHODS:
        cells: list[Cell] = [method]
        for at, name in enumerate(("true_positive", "false_positive")):
            rate = spread_of(_rate(each, method, name) for each in found)
            cells += [rate.mean, rate.deviation, PAPER[method][at] if method in PAPER else "-"]
        rows.append(tuple(cells))
    columns = ("method", *(f"{rate} {what}" for rate in ("TP", "FP") for what in ("%", "sd", "paper")))
    return Table(
        "figure_4_rates", f"Figure 4: true and false positives at 0.5, {len(found)} data sets", columns, rows
    )


def pairs_claims(found: Sequence[Rates]) -> Iterator[tuple[str, Spread]]:
    """The paper's claims, and by how many per cent of the pairs they are seen."""
    for other in METHODS[1:]:
        yield (
            f"{BAYES} has more true positives than {other}",
            spread_of(
                _rate(each, BAYES, "true_positive") - _rate(each, other, "true_positive") for each in found
            ),
        )
        yield (
            f"{BAYES} has fewer false positives than {other}",
            spread_of(
                _rate(each, other, "false_positive") - _rate(each, BAYES, "false_positive") for each in found
            ),
        )


def _rate(rates: Rates, method: str, name: str) -> float:
    return 100.0 * float(getattr(rates[method], name)[HALF])

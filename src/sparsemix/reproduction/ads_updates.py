"""Figure 3 and Table 3: what one row does to a Beta, and why clusters are read by counts in the place of means."""

import numpy as np
from scipy.stats import beta as beta_law

from sparsemix.answers.summaries import top_of_component
from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.online_profiles.equations import project_beta_stably
from sparsemix.reproduction.results import Curves, Table

PRIOR = (1.0, 9.0)
SHOWN = 0.4  # the responsibility of the density in Figure 3 (d)
EXAMPLES = ((2.0, 8.0), (20.0, 80.0))
KEYWORDS = {
    "pest control": (44.0, 343.0),
    "nissan altima": (84.0, 1039.0),
    "nissan maxima": (75.0, 1080.0),
    "nissan quest": (76.0, 1090.0),
    "nissan dealer": (61.0, 1136.0),
}
"""Alpha and beta of the keywords in the paper's Table 3."""


def update_figures() -> tuple[Curves, Curves, Curves]:
    """Figure 3: examples of Betas, the pseudo-counts after a row with the keyword, and a density before and after."""
    betas = {share: updated(share) for share in np.linspace(0.0, 1.0, 51).tolist()}
    rows = [
        *(("alpha", share, alpha) for share, (alpha, _) in betas.items()),
        *(("beta", share, beta) for share, (_, beta) in betas.items()),
        *(("alpha + beta", share, alpha + beta) for share, (alpha, beta) in betas.items()),
    ]
    title = f"Figure 3 (b), (c): {_name(*PRIOR)} after a row with the keyword"
    shown = {"before": PRIOR, f"after, responsibility {SHOWN}": updated(SHOWN)}
    examples = {_name(*each): each for each in EXAMPLES}
    return (
        _densities("figure_3_a", "Figure 3 (a): two Betas of the same mean", examples),
        Curves("figure_3_bc", title, ("", "responsibility", "pseudo-count"), rows),
        _densities("figure_3_d", "Figure 3 (d): a row can make a Beta less sure", shown),
    )


def update_table() -> Table:
    """The Beta of Figure 3 before the row, at the responsibility that loses most, at that shown, and at 1."""
    least = min(np.linspace(0.0, 1.0, 1_001).tolist(), key=lambda share: sum(updated(share)))
    rows = []
    for share in (0.0, least, SHOWN, 1.0):
        alpha, beta = updated(share)
        law = beta_law(alpha, beta)
        rows.append((share, alpha, beta, alpha + beta, float(law.mean()), float(law.std())))
    columns = ("responsibility", "alpha", "beta", "alpha + beta", "mean", "sd")
    return Table("figure_3", f"Figure 3: {_name(*PRIOR)} after a row with the keyword", columns, rows)


def order_of_keywords() -> Table:
    """Table 3: the paper's keywords by their means, and by the ads that they stand for."""
    alpha, beta = np.array(list(KEYWORDS.values())).T
    names = FeatureNames(len(KEYWORDS), np.array(list(KEYWORDS), object))
    everywhere = np.ones(len(KEYWORDS))
    rows = []
    for by, shown in (("mean", "mean"), ("evidence", "alpha")):
        top = top_of_component(
            np.arange(len(KEYWORDS)), alpha, beta, everywhere, names, len(KEYWORDS), by, level=0.95
        )
        rows += [
            (shown, place, each.feature, each.mean, *(int(count) for count in KEYWORDS[each.feature]))
            for place, each in enumerate(top, start=1)
        ]
    columns = ("sorted by", "place", "keyword", "mean", "alpha", "beta")
    return Table("table_3", "Table 3: keywords of a cluster by mean, and by alpha", columns, rows)


def updated(share: float) -> tuple[float, float]:
    """The Beta of Figure 3 after a row with the keyword, for which its cluster is responsible by `share`."""
    alpha, beta = project_beta_stably(np.array(PRIOR[0]), np.array(PRIOR[1]), 1.0, share)
    return float(alpha), float(beta)


def _name(alpha: float, beta: float) -> str:
    return f"Beta({alpha:g}, {beta:g})"


def _densities(name: str, title: str, laws: dict[str, tuple[float, float]]) -> Curves:
    places = np.linspace(0.0, 0.6, 61)
    rows = [
        (law, place, density)
        for law, counts in laws.items()
        for place, density in zip(places.tolist(), beta_law.pdf(places, *counts).tolist(), strict=True)
    ]
    return Curves(name, title, ("", "probability of the keyword", "density"), rows)

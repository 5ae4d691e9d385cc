"""Tables 1 and 2: how methods cluster ads of advertisers, and whether the paper's claims are seen."""

from collections.abc import Iterator, Mapping, Sequence

from sparsemix.data import Dataset
from sparsemix.reproduction.ads_cuts import cuts_of
from sparsemix.reproduction.ads_methods import AVERAGE, BAYES, CLUTTER, EM, KMEANS, REPAIRED, WARD
from sparsemix.reproduction.ads_scores import Found
from sparsemix.reproduction.results import Cell, Table
from sparsemix.reproduction.spread import Spread, spread_of

METHODS = (BAYES, CLUTTER, EM, REPAIRED, KMEANS, AVERAGE, WARD)
DISCARDED = "Bayes, clutter discarded"

NONE: Cell = "-"
PAPER_HOURS = {BAYES: "1 h", EM: "40 h", KMEANS: "3 h", AVERAGE: "3.5 h", WARD: "3.5 h"}
PAPER_LARGEST = {BAYES: "even", EM: "even", KMEANS: "90%", AVERAGE: "90%", WARD: "90%"}
PAPER_NLL: dict[str, Cell] = {BAYES: 17.97, EM: 12.98}
PAPER_ENTROPY: dict[str, Cell] = {BAYES: 1.18, EM: 2.61, DISCARDED: 0.96}
PAPER_GRAPHS: tuple[Sequence[Cell], ...] = (
    ("paper's", NONE, NONE, NONE, 6_000_000, 19_000_000, 388_001, 0.88, 273_000),
    ("paper's", 100, 100, 500, 207_000, 2_000, 1, 1.0, 0),
    ("paper's", 100, 100, 100, 1_300_000, 73_000, NONE, NONE, NONE),
)

MOST_ADS = 0.5  # the share beyond which ads count as being in one cluster


def graph_table(corpora: Mapping[tuple[str, int], Dataset]) -> Table:
    """How many ads and keywords there are before and after the cuts, and how they hang together."""
    rows: list[Sequence[Cell]] = []
    for (name, n_clusters), ads in corpora.items():
        for cut in (None, *cuts_of(len(ads))):
            graph = (ads if cut is None else ads.filter(*cut)).profile()
            sizes = (graph.n_rows, graph.n_features, graph.n_connected_components)
            shares = (graph.largest_component_share, graph.n_single_row_components)
            rows.append((name, n_clusters, *(cut or (NONE, NONE)), *sizes, *shares))
    columns = ("ads", "K", "fewest", "longest", "n ads", "n keywords", "parts", "largest", "singles")
    return Table("graphs", "Ads before and after the cuts", columns, [*rows, *PAPER_GRAPHS])


def training_table(found: Sequence[Found]) -> Table:
    """Table 1: training time, and how evenly and consistently ads are in clusters."""
    rows: list[Sequence[Cell]] = []
    for (ads, n_clusters, method), own in _by_method(found).items():
        seconds, largest = _spread(own, "seconds"), _spread(own, "largest")
        paper = (PAPER_HOURS.get(method, NONE), PAPER_LARGEST.get(method, NONE))
        trades = (_spread(own, "consistent")[0], _spread(own, "others")[0])
        rows.append((ads, n_clusters, method, *seconds, paper[0], largest[0], paper[1], *trades))
    columns = ("ads", "K", "method", "CPU s", "sd", "paper", "largest", "paper's", "in trade", "others")
    return Table("table_1", "Table 1: training time, and shares of the ads", columns, rows)


def scores_table(found: Sequence[Found]) -> Table:
    """Table 2: test negative log likelihood and entropy of the advertisers, nats."""
    rows: list[Sequence[Cell]] = []
    for (ads, n_clusters, method), own in _by_method(found).items():
        nll = (*_spread(own, "test_nll"), PAPER_NLL.get(method, NONE))
        entropy = (*_spread(own, "entropy"), PAPER_ENTROPY.get(method, NONE))
        rows.append((ads, n_clusters, method, *nll, *entropy))
        if method == CLUTTER:
            discarded = (*_spread(own, "discarded"), PAPER_ENTROPY[DISCARDED])
            rows.append((ads, n_clusters, DISCARDED, NONE, NONE, NONE, *discarded))
    columns = ("ads", "K", "method", "NLL", "NLL sd", "NLL paper", "entropy", "entropy sd", "entropy paper")
    return Table("table_2", "Table 2: test ads and advertisers", columns, rows)


def ads_claims(found: Sequence[Found]) -> Iterator[tuple[str, Spread]]:
    """The paper's claims about ads; times in seconds, likelihoods and entropies in nats."""
    groups = _by_method(found)
    for ads, n_clusters in dict.fromkeys((ads, n_clusters) for ads, n_clusters, _ in groups):
        own = {method: groups[ads, n_clusters, method] for method in METHODS}
        for claim, gain in _claims(own):
            yield f"{ads} ads, K = {n_clusters}: {claim}", gain


def _claims(own: Mapping[str, Sequence[Found]]) -> Iterator[tuple[str, Spread]]:
    def less(method: str, other: str, name: str) -> Spread:
        pairs = zip(own[method], own[other], strict=True)
        return spread_of(getattr(b, name) - getattr(a, name) for a, b in pairs)

    for other in (EM, KMEANS):
        yield f"{BAYES} trains in less time than {other}", less(BAYES, other, "seconds")
    for other in (KMEANS, AVERAGE, WARD):
        yield (
            f"{other} has most ads in one cluster",
            spread_of(each.largest - MOST_ADS for each in own[other]),
        )
        yield f"the largest cluster is smaller by {BAYES} than by {other}", less(BAYES, other, "largest")
    yield f"{EM} predicts test ads better than {BAYES}", less(EM, BAYES, "test_nll")
    yield f"advertisers are in fewer clusters by {BAYES} than by {EM}", less(BAYES, EM, "entropy")
    fewer = [each.entropy - each.discarded for each in own[CLUTTER] if each.discarded is not None]
    if fewer:
        yield "in fewer still without the clutter", spread_of(fewer)


def _by_method(found: Sequence[Found]) -> dict[tuple[str, int, str], list[Found]]:
    groups: dict[tuple[str, int, str], list[Found]] = {}
    for each in found:
        groups.setdefault((each.ads, each.n_clusters, each.method), []).append(each)
    return groups


def _spread(own: Sequence[Found], name: str) -> tuple[Cell, Cell]:
    """Mean and standard deviation of what was found under a name; "-" where there is none."""
    values = [value for each in own if (value := getattr(each, name)) is not None]
    return spread_of(values)[:2] if values else (NONE, NONE)

"""Online Bayesian clustering of ads: which pairs belong together, and how ads of advertisers are clustered.

Figures 3 and 4, Tables 1 to 3 of the paper. Its ads are not public: made-up ones have advertisers that specialise, ads
about nothing, overlong ads and keywords of one ad; a table of real ads may be given besides.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sparsemix.data import Dataset
from sparsemix.reproduction.ad_corpus import ad_corpus
from sparsemix.reproduction.ads_cuts import N_FULL, check_given, cut_ads
from sparsemix.reproduction.ads_methods import compile_all
from sparsemix.reproduction.ads_pairs import pairs_claims, pairs_figure, pairs_table, rates_of
from sparsemix.reproduction.ads_scores import Found, measured
from sparsemix.reproduction.ads_tables import METHODS, ads_claims, graph_table, scores_table, training_table
from sparsemix.reproduction.ads_topics import topic_tables
from sparsemix.reproduction.ads_updates import order_of_keywords, update_figures, update_table
from sparsemix.reproduction.papers import Wish
from sparsemix.reproduction.results import Result
from sparsemix.reproduction.spread import claims_table

MADE_UP, GIVEN = "made-up", "given"


class Sizes(NamedTuple):
    """How large the experiments are.

    n_rows, n_sets : of the synthetic data, and how many of them. n_ads, n_corpora : of the made-up ads.
    clusters : numbers of them, and of trades of the made-up ads. most : ads for agglomerative clustering.
    """

    n_rows: int
    n_sets: int
    n_ads: int
    n_corpora: int
    clusters: tuple[int, ...]
    most: int


FULL = Sizes(10_000, 20, N_FULL, 3, (100,), 5_000)
QUICK = Sizes(2_000, 3, 20_000, 2, (25,), 2_000)


def results(wish: Wish, tell: Callable[[str], None]) -> Iterator[Result]:
    """Yield Figures 3 and 4 and the tables, last of all whether the claims of the paper are seen."""
    sizes = QUICK if wish.is_quick else FULL
    wanted = sizes._replace(
        n_ads=wish.n_rows or sizes.n_ads,
        clusters=wish.clusters or sizes.clusters,
        n_sets=wish.n_sets or sizes.n_sets,
        n_corpora=wish.n_sets or sizes.n_corpora,
    )
    yield from run(wanted, tell, wish.ads)


def run(sizes: Sizes, tell: Callable[[str], None], given: Dataset | None = None) -> Iterator[Result]:
    """The same for sizes of any kind, and for ads that are given besides the made-up ones."""
    given = None if given is None else check_given(given, max(sizes.clusters))
    first = {(name, n): ads for name, n, ads in _corpora(sizes, given, 0)}
    cut = {key: cut_ads(ads, key[1]) for key, ads in first.items()}
    yield from update_figures()
    yield update_table()
    yield order_of_keywords()
    tell("Compiling the kernels, if that has not been done yet.")
    compile_all()
    pairs = []
    for seed in range(sizes.n_sets):
        tell(f"Figure 4: data set {seed + 1} of {sizes.n_sets}.")
        pairs.append(rates_of(sizes.n_rows, seed))
    yield pairs_figure(pairs)
    yield pairs_table(pairs)
    yield graph_table(first)
    yield from topic_tables(cut)
    found = list(_found(sizes, given, tell))
    yield training_table(found)
    yield scores_table(found)
    yield claims_table("Are the claims of the paper seen?", "by", [*pairs_claims(pairs), *ads_claims(found)])


def _found(sizes: Sizes, given: Dataset | None, tell: Callable[[str], None]) -> Iterator[Found]:
    for seed in range(sizes.n_corpora):
        for name, n_clusters, ads in _corpora(sizes, given, seed):
            tell(f"Ads {name}, {n_clusters} clusters: set or split {seed + 1} of {sizes.n_corpora}.")
            cut = cut_ads(ads, n_clusters)
            for method in METHODS:
                yield measured(method, name, cut, n_clusters, seed, sizes.most)


def _corpora(sizes: Sizes, given: Dataset | None, seed: int) -> Iterator[tuple[str, int, Dataset]]:
    """Name of the ads, clusters, and the ads before they are cut."""
    for n_clusters in sizes.clusters:
        yield MADE_UP, n_clusters, ad_corpus(sizes.n_ads, n_clusters, seed)
        if given is not None:
            yield GIVEN, n_clusters, given

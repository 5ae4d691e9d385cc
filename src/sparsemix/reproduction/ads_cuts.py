"""The paper's cuts, which make raw ads fit for clustering: rare keywords first, then overlong ads."""

from dataclasses import replace

import numpy as np

from sparsemix.data import Dataset
from sparsemix.foundation.errors import parameter_error

N_FULL = 250_000  # made-up ads at full size, of which as many are left as the paper has
FEWEST = 100  # ads of a keyword there; fewer in proportion to the ads
LONGEST = (500, 100)  # keywords of an ad, in the paper's two cuts
HELD_OUT = 0.2


def cuts_of(n_ads: int) -> list[tuple[int, int]]:
    """Fewest ads of a keyword, and most keywords of an ad, in both cuts.

    Examples
    --------
    >>> cuts_of(250_000), cuts_of(20_000), cuts_of(100)
    ([(100, 500), (100, 100)], [(8, 500), (8, 100)], [(2, 500), (2, 100)])
    """
    fewest = max(2, round(FEWEST * n_ads / N_FULL))
    return [(fewest, longest) for longest in LONGEST]


def cut_ads(ads: Dataset, n_clusters: int) -> Dataset:
    """Return ads after the first cut.

    Raises
    ------
    ParameterError
        When too few are left to learn so many clusters.
    """
    kept = ads.filter(*cuts_of(len(ads))[0])
    most = int((1.0 - HELD_OUT) * len(kept))
    if n_clusters > most:
        rule = f"at most {most}, since {len(kept):,} of {len(ads):,} ads are left after the cuts"
        raise parameter_error("clusters", "reproduce", rule, n_clusters)
    return kept


def check_given(ads: Dataset, n_clusters: int) -> Dataset:
    """Return ads of advertisers, of which only the presence of keywords is asked.

    Raises
    ------
    ParameterError
        When they have no advertisers, or too few are left after the cut.
    """
    if ads.groups is None:
        remedy = "The entropy needs to know whose each ad is."
        raise parameter_error("group", "reproduce", "the column of the advertisers", None, remedy)
    present = replace(ads, matrix=(ads.matrix > 0).astype(np.float32))
    cut_ads(present, n_clusters)
    return present

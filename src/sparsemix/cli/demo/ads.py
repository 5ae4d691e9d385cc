"""Write ads as trades would: mostly their own keywords, some stray ones, and a few ads about nothing."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sparsemix.cli.demo.topics import TOPICS
from sparsemix.persistence import replacing

_OFF_TOPIC = 0.03  # share of ads whose keywords come from anywhere
_STRAY_KEYWORDS = 0.4  # mean number of keywords of other trades in an ad
_ADVERTISERS_PER_TOPIC = 24


@dataclass(frozen=True, eq=False)
class DemoAds:
    """Ads with their keywords.

    Attributes
    ----------
    keywords : list of n_ads lists of str
    advertisers : list of n_ads str
    topics : (n_ads,) int64
        The trade of each ad as its position in `TOPICS`; -1 for ads about nothing.
    """

    keywords: list[list[str]]
    advertisers: list[str]
    topics: NDArray[np.int64]

    def write_csv(self, path: Path) -> None:
        """Write one line for each ad and keyword: ad_id, advertiser, keyword."""
        with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["ad_id", "advertiser", "keyword"])
            for number, (advertiser, keywords) in enumerate(
                zip(self.advertisers, self.keywords, strict=True)
            ):
                writer.writerows([f"ad-{number:05d}", advertiser, keyword] for keyword in keywords)


def make_demo_ads(n_ads: int = 20_000, random_state: int = 0) -> DemoAds:
    """Draw ads of 25 trades.

    Parameters
    ----------
    n_ads : int
    random_state : int
        The same seed gives the same ads.

    Returns
    -------
    DemoAds

    Examples
    --------
    >>> ads = make_demo_ads(1_000)
    >>> len(ads.keywords), min(len(keywords) for keywords in ads.keywords) >= 1
    (1000, True)
    """
    rng = np.random.default_rng(random_state)
    names = sorted({keyword for topic in TOPICS.values() for keyword in topic})
    chances = _keyword_chances(names)
    topics = rng.choice(len(TOPICS), size=n_ads, p=rng.dirichlet(np.full(len(TOPICS), 8.0)))
    owners = topics * _ADVERTISERS_PER_TOPIC + rng.integers(_ADVERTISERS_PER_TOPIC, size=n_ads)
    topics[rng.random(n_ads) < _OFF_TOPIC] = -1
    return DemoAds(
        keywords=[_draw_keywords(rng, names, chances, topic) for topic in topics],
        advertisers=[f"advertiser-{owner:03d}" for owner in owners],
        topics=topics,
    )


def _keyword_chances(names: list[str]) -> NDArray[np.float64]:
    """Return (n_topics, n_keywords) probabilities that an ad of the trade has the keyword."""
    column = {name: index for index, name in enumerate(names)}
    chances = np.zeros((len(TOPICS), len(names)))
    for row, keywords in enumerate(TOPICS.values()):
        for rank, keyword in enumerate(keywords):
            chances[row, column[keyword]] = 0.6 / (1 + 0.12 * rank)
    return chances


def _draw_keywords(
    rng: np.random.Generator, names: list[str], chances: NDArray[np.float64], topic: int
) -> list[str]:
    anywhere = rng.poisson(8.0 if topic < 0 else _STRAY_KEYWORDS)
    chosen = set(rng.integers(len(names), size=max(anywhere, int(topic < 0))).tolist())
    if topic >= 0:
        own = np.flatnonzero(rng.random(len(names)) < chances[topic])
        chosen |= set(own.tolist()) or {int(chances[topic].argmax())}
    order = sorted(chosen)
    rng.shuffle(order)
    return [names[column] for column in order]

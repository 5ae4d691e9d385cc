"""Ads in Parquet files: as many as are wanted, with known clusters, written file by file in little memory."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

OWN_KEYWORDS, LOW, HIGH = 60, 0.05, 0.5
COMMON_KEYWORDS = 13.0  # drawn from the popularity, an ad
ADS_PER_PIECE = 50_000


class AdWorld(NamedTuple):
    """What all files share: popularity of keywords, summed up; each cluster's own keywords, and their probabilities."""

    seed: int
    cumulative: np.ndarray
    columns: np.ndarray
    probabilities: np.ndarray
    names: pa.Array


def make_world(n_keywords: int, n_clusters: int, seed: int) -> AdWorld:
    """A world of ads; popularity falls as one over the rank."""
    rng = np.random.default_rng(seed)
    popularity = 1.0 / rng.permutation(np.arange(1.0, n_keywords + 1.0))
    columns = np.array([rng.choice(n_keywords, OWN_KEYWORDS, replace=False) for _ in range(n_clusters)])
    probabilities = rng.uniform(LOW, HIGH, (n_clusters, OWN_KEYWORDS))
    names = pa.array([f"keyword {i}" for i in range(n_keywords)])
    return AdWorld(seed, np.cumsum(popularity / popularity.sum()), columns, probabilities, names)


def draw_ads(
    world: AdWorld, n_ads: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clusters of some ads, (n_ads,), and their keywords as ``indptr`` and ``columns``; about 29 an ad."""
    clusters = rng.integers(len(world.columns), size=n_ads)
    rows, places = np.nonzero(rng.random((n_ads, OWN_KEYWORDS)) < world.probabilities[clusters])
    n_common = rng.poisson(COMMON_KEYWORDS, n_ads)
    common = np.searchsorted(world.cumulative, rng.random(n_common.sum()), side="right")
    n_keywords = world.cumulative.size
    own = world.columns[clusters[rows], places]
    cells = np.concatenate(
        [rows * n_keywords + own, np.repeat(np.arange(n_ads), n_common) * n_keywords + common]
    )
    cells = np.unique(cells)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(cells // n_keywords, minlength=n_ads))])
    return clusters, indptr, cells % n_keywords


def write_file(world: AdWorld, path: Path, first_ad: int, n_ads: int) -> None:
    """Write ads of the numbers from `first_ad` on: ``ad``, ``keywords`` and ``cluster``; the same ones each time."""
    rng = np.random.default_rng([world.seed, first_ad])
    schema = pa.schema([("ad", pa.int64()), ("keywords", pa.list_(pa.string())), ("cluster", pa.int32())])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_ads, ADS_PER_PIECE):
            size = min(ADS_PER_PIECE, n_ads - start)
            clusters, indptr, columns = draw_ads(world, size, rng)
            keywords = pa.ListArray.from_arrays(
                pa.array(indptr, pa.int32()), world.names.take(pa.array(columns))
            )
            ids = pa.array(np.arange(size) + first_ad + start)
            writer.write_table(pa.table([ids, keywords, pa.array(clusters, pa.int32())], schema=schema))


def write_files(world: AdWorld, folder: Path, n_ads: int, ads_per_file: int) -> list[Path]:
    """Write all ads; files that are there already stay."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for first in range(0, n_ads, ads_per_file):
        path = folder / f"ads-{first // ads_per_file:05d}.parquet"
        if not path.exists():
            unfinished = path.with_suffix(".tmp")
            write_file(world, unfinished, first, min(ads_per_file, n_ads - first))
            unfinished.rename(path)
        paths.append(path)
    return paths

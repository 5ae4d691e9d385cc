"""Reading a long table in batches needs no more memory than reading a short one."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PEAK = """
import resource, sys
from sparsemix.data import arrow_tables, iter_batches
arrow_tables.RECORDS_PER_BLOCK = 1 << 17
rows = sum(len(batch) for batch in iter_batches(sys.argv[1], rows=5_000, memory_limit="100MB"))
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def write_scattered(path, n_rows: int, per_row: int = 20, n_words: int = 5_000) -> None:
    random = np.random.default_rng(0)
    ids = pa.array([f"advertisement-{i:09d}" for i in range(n_rows)])
    words = pa.array([f"keyword {i}" for i in range(n_words)])
    with pq.ParquetWriter(path, pa.schema({"ad": pa.string(), "word": pa.string()})) as writer:
        for _ in range(per_row):
            order = pa.array(random.permutation(n_rows))
            chosen = pa.array(random.integers(0, n_words, n_rows))
            writer.write_table(
                pa.table({"ad": ids.take(order), "word": words.take(chosen)}), row_group_size=1 << 16
            )


def peak(path) -> tuple[int, int]:
    run = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    rows, octets = run.stdout.split()
    return int(rows), int(octets)


@pytest.mark.slow
def test_peak_memory_is_bounded_by_the_batch(tmp_path):
    short, long = tmp_path / "short.parquet", tmp_path / "long.parquet"
    write_scattered(short, 50_000)
    write_scattered(long, 400_000)
    (few, before), (many, after) = peak(short), peak(long)
    assert (few, many) == (50_000, 400_000)
    text_beyond = 350_000 * 20 * len("advertisement-000000000keyword 1234")
    limit = 100e6
    assert after < before + limit + text_beyond / 8

"""A slow and obvious reader to compare with, and writers of every format."""

import csv
import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse

from sparsemix.data import Dataset

Record = dict[str, Any]


def expected_cells(records: Iterable[Record]) -> tuple[list[Any], list[str], dict[tuple[Any, str], int]]:
    """Rows, features and counts of long-form records with the keys ad, word and perhaps n."""
    by_row: dict[Any, dict[str, int]] = {}
    for record in records:
        if record["ad"] in (None, ""):
            continue
        words = by_row.setdefault(record["ad"], {})
        if record["word"] in (None, ""):
            continue
        count = record.get("n", 1)
        if count > 0:
            words[record["word"]] = words.get(record["word"], 0) + count if "n" in record else 1
    features = list(dict.fromkeys(word for words in by_row.values() for word in words))
    cells = {(row, word): count for row, words in by_row.items() for word, count in words.items()}
    return list(by_row), features, cells


def cells(dataset: Dataset) -> dict[tuple[Any, Any], int]:
    """Every non-zero as (row id, feature) to count."""
    coo = dataset.matrix.tocoo()
    names = dataset.feature_names
    return {
        (dataset.row_ids[i].item() if isinstance(dataset.row_ids[i], np.generic) else dataset.row_ids[i],
         j if names is None else names[j]): int(x)
        for i, j, x in zip(coo.row, coo.col, coo.data, strict=True)
    }  # fmt: skip


def assert_canonical(dataset: Dataset) -> None:
    """Column indices sorted, no duplicates, no zeros, narrow types."""
    matrix = dataset.matrix
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        assert (np.diff(matrix.indices[start:stop]) > 0).all()
    assert (matrix.data > 0).all()
    assert matrix.data.dtype in (np.float32, np.float64)
    assert matrix.indices.dtype == np.int32


def assert_equals_records(dataset: Dataset, records: Sequence[Record]) -> None:
    rows, features, counts = expected_cells(records)
    assert dataset.row_ids.tolist() == rows
    assert dataset.feature_names.tolist() == features
    assert cells(dataset) == counts
    assert_canonical(dataset)


def assert_same(found: Dataset, wanted: Dataset, but_report: bool = False) -> None:
    """All that a data set says, names and order included."""
    assert found.row_ids.tolist() == wanted.row_ids.tolist()
    assert found.row_ids.dtype == wanted.row_ids.dtype
    assert (found.matrix != wanted.matrix).nnz == 0
    for name in ("feature_names", "groups", "labels", "label_names"):
        left, right = getattr(found, name), getattr(wanted, name)
        assert (left is None) == (right is None), name
        assert left is None or left.tolist() == right.tolist(), name
    assert (found.times is None) == (wanted.times is None)
    if wanted.times is not None:
        np.testing.assert_array_equal(found.times, wanted.times)
    if not but_report:
        left, right = found.report.to_dict(), wanted.report.to_dict()
        assert {**left, "source": ""} == {**right, "source": ""}


def join(batches: Sequence[Dataset]) -> Dataset:
    """One data set out of batches, by means of the public parts alone."""
    last = batches[-1]
    n_features = last.n_features
    blocks = [
        sparse.csr_array((b.matrix.data, b.matrix.indices, b.matrix.indptr), shape=(len(b), n_features))
        for b in batches
    ]
    report = batches[0].report
    for batch in batches[1:]:
        report += batch.report

    def joined(name: str) -> Any:
        return None if getattr(last, name) is None else np.concatenate([getattr(b, name) for b in batches])

    return Dataset(
        matrix=sparse.csr_array(sparse.vstack(blocks, format="csr")),
        row_ids=joined("row_ids"),
        feature_names=last.feature_names,
        groups=joined("groups"),
        times=joined("times"),
        labels=joined("labels"),
        label_names=last.label_names,
        report=report,
    )


def write_parquet(path: Path, records: Sequence[Record], names: Sequence[str]) -> None:
    pq.write_table(arrow_table(records, names), path, row_group_size=3)


def write_csv(path: Path, records: Sequence[Record], names: Sequence[str], **options: Any) -> None:
    with _open_text(path) as stream:
        writer = csv.writer(stream, **{"lineterminator": "\n", **options})
        writer.writerow(names)
        for record in records:
            writer.writerow(["" if record[name] is None else record[name] for name in names])


def write_tsv(path: Path, records: Sequence[Record], names: Sequence[str]) -> None:
    write_csv(path, records, names, delimiter="\t")


def write_jsonl(path: Path, records: Sequence[Record], names: Sequence[str]) -> None:
    with _open_text(path) as stream:
        stream.writelines(json.dumps({name: record[name] for name in names}) + "\n" for record in records)


def arrow_table(records: Sequence[Record], names: Sequence[str]) -> pa.Table:
    return pa.table({name: _arrow_column([record[name] for record in records]) for name in names})


def pandas_table(records: Sequence[Record], names: Sequence[str]) -> pd.DataFrame:
    columns = {name: [record[name] for record in records] for name in names}
    return pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in columns.items()})


def polars_table(records: Sequence[Record], names: Sequence[str]) -> pl.DataFrame:
    return pl.from_arrow(arrow_table(records, names))


WRITERS: dict[str, Callable[..., None]] = {
    "parquet": write_parquet,
    "csv": write_csv,
    "tsv": write_tsv,
    "jsonl": write_jsonl,
    "csv.gz": write_csv,
    "tsv.gz": write_tsv,
    "jsonl.gz": write_jsonl,
}
TABLES: dict[str, Callable[..., Any]] = {
    "pandas": pandas_table,
    "polars": polars_table,
    "arrow": arrow_table,
}


def make_source(kind: str, folder: Path, records: Sequence[Record], names: Sequence[str]) -> Any:
    """The records as a file or table of some kind."""
    if kind in TABLES:
        return TABLES[kind](records, names)
    path = folder / f"table.{kind}"
    WRITERS[kind](path, records, names)
    return path


def gzip_file(path: Path) -> Path:
    """A gzipped copy beside a file."""
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


def _arrow_column(values: list[Any]) -> pa.Array:
    return pa.array(values, pa.string()) if all(value is None for value in values) else pa.array(values)


def _open_text(path: Path) -> Any:
    if path.suffix == ".gz":
        return gzip.open(path, "wt", encoding="utf-8", newline="")
    return path.open("w", encoding="utf-8", newline="")

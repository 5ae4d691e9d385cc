"""Answers on disk: all come back, in their order, with ids as one process has them."""

from contextlib import closing

import numpy as np
import pytest

from sparsemix import read_table
from sparsemix.cli.spool import Spool

SMALL, LARGE, NEGATIVE, TEXT = ["1", "2"], [str(2**63), "3"], ["-7", "8"], ["a", "05"]


def spooled(folder, *parts):
    with closing(Spool(folder)) as spool:
        for ids in parts:
            spool.add(ids, (np.arange(len(ids)), np.ones(len(ids))))
    return spool


@pytest.mark.parametrize(
    "texts",
    [[SMALL, NEGATIVE], [SMALL, LARGE], [LARGE, NEGATIVE], [SMALL, TEXT], [TEXT, LARGE]],
    ids=["int64", "uint64", "no integer holds all", "text later", "text before"],
)
def test_ids_are_those_of_the_table_read_at_once(tmp_path, texts):
    files = [tmp_path / f"{number}.csv" for number in range(len(texts))]
    for file, ids in zip(files, texts, strict=True):
        file.write_text("\n".join(["ad,word", *(f"{each},x" for each in ids)]))
    spool = spooled(tmp_path, *(read_table(file).row_ids for file in files))
    found = np.concatenate([ids for ids, _ in spool.parts(3)])
    whole = read_table(files).row_ids
    assert found.dtype == whole.dtype
    assert found.tolist() == whole.tolist()


def test_parts_have_one_size(tmp_path):
    spool = spooled(tmp_path, np.arange(5), np.arange(5, 7))
    parts = list(spool.parts(3))
    assert [len(ids) for ids, _ in parts] == [3, 3, 1]
    assert np.concatenate([numbers for _, (numbers, _) in parts]).tolist() == [0, 1, 2, 3, 4, 0, 1]
    assert {values.dtype.name for _, answers in parts for values in answers} == {"int64", "float64"}


def test_a_row_that_comes_twice_is_found(tmp_path):
    assert spooled(tmp_path, np.arange(3), np.arange(3, 5)).repeated_row() is None
    assert spooled(tmp_path, np.arange(3), np.array(["x", "2"], object)).repeated_row() == "2"


def test_nothing_gives_nothing(tmp_path):
    spool = spooled(tmp_path)
    assert list(spool.parts(3)) == []
    assert spool.repeated_row() is None

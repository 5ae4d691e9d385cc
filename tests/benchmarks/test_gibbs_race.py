"""The race of samplers of many clusters: all of them are in the table, with quality beside seconds."""

import numpy as np
import pytest

import hashed_gibbs
from sparsemix.reproduction.texts import clustered_texts

NAMES = [
    "plain collapsed",
    "plain uncollapsed",
    "cached collapsed",
    "sparsemix, exact",
    "sparsemix, index",
    "sparsemix, hash, 128 bits",
    "sparsemix, default start",
]


@pytest.mark.slow
def test_a_race_has_all_samplers_with_quality_and_seconds():
    rows, truth = clustered_texts(300, 400, 4, length=40, seed=0)
    lines = hashed_gibbs.race("made-up", hashed_gibbs.whole_numbers(rows), truth, 4, seconds=30.0)
    assert [line[2] for line in lines] == NAMES
    for line in lines:
        assert len(line) == len(hashed_gibbs.VI_HEADER)
        assert line[:2] == ["made-up", "4"]
        assert 0.0 <= float(line[3]) < 2.0 * np.log(4)
        assert 0.0 <= float(line[4]) <= 1.0
        assert float(line[5]) >= 0.0
    cached, plain = lines[2], lines[0]
    assert plain[3:5] == cached[3:5]  # the same law
    assert cached[6] != "not reached"
    assert cached[7] in {"1.0", None}

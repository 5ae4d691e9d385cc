"""How predicted counts are scored in the benchmarks of factors, by hand."""

import numpy as np
import pytest
from scipy import sparse

from harness.count_sets import CountSet, Halves, hide
from harness.factor_scores import BACKING, evaluate, popularity

LEARNT = np.array([[2.0, 0.0, 0.0, 1.0], [0.0, 3.0, 0.0, 0.0]])
ASIDE = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0]])


def test_scores_leave_out_what_was_learnt():
    predicted = np.array([[9.0, 0.2, 0.3, 9.0], [0.1, 9.0, 0.4, 0.0]])
    found = evaluate(
        Halves(sparse.csr_array(LEARNT), sparse.csr_array(ASIDE), hides_cells=True),
        lambda part: predicted[part],
    )
    asked = LEARNT == 0.0
    common = np.outer(LEARNT.sum(axis=1) + 1.0, (LEARNT.sum(axis=0) + 1.0) / (LEARNT.sum() + 4.0)) * asked
    shares = (1.0 - BACKING) * (predicted * asked) / (
        predicted * asked
    ).sum() + BACKING * common / common.sum()
    held = ASIDE > 0.0
    expected = (ASIDE[held] * np.log(4.0 * shares[held])).sum() / 4.0 - 1.0
    assert found.log_likelihood == pytest.approx(expected)
    own, wanted = predicted[asked], ASIDE[asked]
    multiple = (own @ wanted) / (own @ own)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((wanted - multiple * own) ** 2)))
    assert found.recall == 1.0  # all four things are among the ten best


def test_a_multiple_of_all_predictions_changes_nothing():
    rng = np.random.default_rng(0)
    counts = sparse.csr_array(rng.poisson(0.3, (40, 30)).astype(float))
    halves, predicted = hide(CountSet("", counts), counts, 0.3, 0), rng.random((40, 30))
    first, second = (evaluate(halves, lambda part, n=n: n * predicted[part]) for n in (1.0, 1e6))
    assert first == pytest.approx(second)
    assert 0.0 < first.recall < 1.0
    assert np.isnan(evaluate(halves, lambda part: predicted[part] - 0.5).log_likelihood)


@pytest.mark.parametrize("by", ["cells", "events"])
def test_nothing_is_lost_when_some_is_hidden(by):
    counts = sparse.csr_array(np.random.default_rng(0).poisson(1.0, (50, 20)).astype(float))
    halves = hide(CountSet("", counts, by), counts, 0.2, 1)
    assert (halves.learnt + halves.aside != counts).nnz == 0
    assert 0.1 < halves.aside.sum() / counts.sum() < 0.3
    shared = halves.learnt.multiply(halves.aside).nnz
    assert shared == 0 if by == "cells" else shared > 0
    assert np.isnan(evaluate(halves, popularity(halves.learnt)).recall) == (by == "events")

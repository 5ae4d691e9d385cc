"""Numbers at the edge of what a float can hold: refused in words, or learnt without losing finiteness."""

import numpy as np
import pytest
from contract_models import n_rows_of

from sparsemix.foundation.errors import SparsemixError

TINY, HUGE = (5e-324, 1e-300), (1e300, 1.7e308)


def assert_finite_or_refused(subject, learn):
    """Learn with warnings as errors; what comes out without one is finite."""
    refusal = ""
    try:
        model = learn()
    except SparsemixError as error:
        refusal = str(error)
    if refusal:
        assert " must " in refusal
        return
    for question, answer in subject.answers(model).items():
        assert np.isfinite(np.asarray(answer, dtype=float)).all(), question


@pytest.mark.parametrize("value", [*TINY, *HUGE])
def test_parameters_at_the_edge(subject, value):
    for name, default in subject.new().get_params().items():
        if isinstance(default, float):
            assert_finite_or_refused(
                subject, lambda name=name: subject.learn(model=subject.new(**{name: value}))
            )


@pytest.mark.parametrize("weight", [*TINY, 1e-150, 1e50, *HUGE, "both"])
def test_weights_at_the_edge(subject, weight):
    n_rows = n_rows_of(subject.rows)
    weights = np.resize([1e-300, 1e50], n_rows) if weight == "both" else np.full(n_rows, weight)
    assert_finite_or_refused(subject, lambda: subject.new().fit(subject.rows, sample_weight=weights))


def test_a_thousand_million_rows_by_weight(subject):
    """They are learnt as their number says: probabilities stay those of the rows once each, and intervals are tiny."""
    n_rows = n_rows_of(subject.rows)
    once = subject.new(smoothing=0.0).fit(subject.rows)
    many = subject.new(smoothing=0.0).fit(subject.rows, sample_weight=np.full(n_rows, 1e9 / n_rows))
    np.testing.assert_allclose(many.profiles_, once.profiles_, rtol=1e-9, atol=1e-12)
    assert many.n_iter_ == once.n_iter_

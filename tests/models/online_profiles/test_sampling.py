"""Rows drawn from a model have its weights and means."""

import numpy as np
import pytest
from profile_cases import dense_state, random_posterior, topic_rows, view_of
from scipy.stats import norm

from sparsemix import OnlineBernoulliMixture
from sparsemix.foundation.errors import ParameterError
from sparsemix.models.online_profiles import sampling

FALSE_ALARM = 1e-6  # per mean; about 60 of them


@pytest.mark.parametrize(("explicit", "common"), [(1.0, 0), (0.5, 2), (0.0, 0)])
def test_means_of_many_rows(explicit, common, monkeypatch):
    monkeypatch.setattr(sampling, "CELLS_AT_ONCE", 10_000)  # several chunks
    posterior = random_posterior(1, explicit=explicit, common=common)
    state, n_rows = dense_state(posterior, 7), 20_000
    rows, components = sampling.draw_rows(view_of(posterior, 7, [4, 7, -1]), n_rows, np.random.default_rng(0))
    assert rows.shape == (n_rows, 7)
    assert rows.has_canonical_format
    assert set(rows.data) == {1.0}
    weights = state.weight_concentration / state.weight_concentration.sum()
    bound = norm.isf(FALSE_ALARM / 2)
    for k, component in enumerate([4, 7, -1]):
        mine = components == component
        spread = np.sqrt(n_rows * weights[k] * (1 - weights[k]))
        assert abs(mine.sum() - n_rows * weights[k]) < bound * spread
        mean = state.alpha[k] / (state.alpha[k] + state.beta[k])
        seen = rows.toarray()[mine].sum(axis=0)
        assert np.all(np.abs(seen - mine.sum() * mean) < bound * np.sqrt(mine.sum() * mean * (1 - mean)))


def test_draws_follow_the_seed():
    model = OnlineBernoulliMixture(2, random_state=0).fit(topic_rows(60)[0])
    first, second = model.sample(20, random_state=3), model.sample(20, random_state=3)
    assert (first[0] != second[0]).nnz == 0
    assert first[1].tolist() == second[1].tolist()
    assert (first[0] != model.sample(20, random_state=4)[0]).nnz > 0
    assert set(first[1]) <= set(model.component_ids_)


def test_no_rows_and_one_row():
    model = OnlineBernoulliMixture(2, random_state=0).fit(topic_rows(60)[0])
    rows, components = model.sample(0)
    assert (rows.shape, components.shape) == ((0, 8), (0,))
    assert model.sample()[0].shape == (1, 8)
    for odd in (-1, 1.5, True, None):
        with pytest.raises(
            ParameterError, match="'n_rows' of sample must be an integer from 0 to 1,000,000,000"
        ):
            model.sample(odd)


@pytest.mark.parametrize("n_rows", [10**9 + 1, 2**40, 2**70])
def test_more_rows_than_memory_holds(n_rows):
    model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(np.repeat(np.eye(2), 50, axis=0))
    with pytest.raises(
        ParameterError, match=f"'n_rows' of sample must be an integer from 0 to .*, but it is {n_rows}"
    ):
        model.sample(n_rows)


def test_drawn_rows_can_be_learnt_again():
    model = OnlineBernoulliMixture(2, random_state=0).fit(topic_rows(400)[0])
    rows, components = model.sample(400, random_state=0)
    again = OnlineBernoulliMixture(2, random_state=0).fit(rows)
    same = again.labels_[:, None] == again.labels_
    assert np.mean(same == (components[:, None] == components)) > 0.95

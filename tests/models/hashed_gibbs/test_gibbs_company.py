"""What a model says about a row does not depend on the rows and columns that are asked about with it, to the bit."""

import numpy as np
import pandas as pd
import pytest
from gibbs_models import LETTERS, new_model
from numpy.testing import assert_array_equal

from sparsemix import HashedGibbsMixture
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs


@pytest.fixture(scope="module", params=HashedGibbsMixture.families)
def fitted(request):
    """A model and rows with feature names; which features are rare depends on the rows that are looked at."""
    rng, family = np.random.default_rng(0), request.param
    scales = np.arange(9) + 0.2
    rows = rng.gamma(0.5, np.where(np.arange(60)[:, None] < 30, scales, scales[::-1]))
    if family not in REAL_FAMILIES:
        rows = rng.poisson(rows)
    if family == "bernoulli":
        rows = np.minimum(rows, 1)
    table = pd.DataFrame(rows, columns=LETTERS)
    return new_model(family).fit(table), table


ORDERS = {
    "one by one": [[row] for row in range(60)],
    "parts": [range(7), range(7, 50), range(50, 60)],
    "backwards": [range(59, -1, -1)],
    "often": [[row, row, 0, row] for row in range(60)],
}


@pytest.mark.parametrize("order", ORDERS)
def test_answers_do_not_depend_on_other_rows(fitted, order):
    model, table = fitted
    scores, shares = model.score_samples(table), model.predict_proba(table)
    for rows in ORDERS[order]:
        part = table.iloc[list(rows)]
        assert_array_equal(model.score_samples(part), scores[list(rows)])
        assert_array_equal(model.predict_proba(part), shares[list(rows)])


def test_answers_do_not_depend_on_the_order_of_columns(fitted):
    model, table = fitted
    turned = table[LETTERS[::-1]]
    assert_array_equal(model.score_samples(turned), model.score_samples(table))
    assert_array_equal(model.predict_proba(turned), model.predict_proba(table))

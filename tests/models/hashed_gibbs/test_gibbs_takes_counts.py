"""What the sampler tells reports about its rows."""

import numpy as np

import sparsemix as sm
from sparsemix.reporting import summarize_model


def test_reports_know_which_rows_are_counts():
    rows = np.array([[2, 0], [0, 3]])
    counts = sm.HashedGibbsMixture(2, n_sweeps=2, burn_in=0, random_state=0).fit(rows)
    assert summarize_model(counts)["takes_counts"]
    assert summarize_model(counts)["n_rows"] == 2
    presence = sm.HashedGibbsMixture(2, family="bernoulli", n_sweeps=2, burn_in=0, random_state=0).fit(
        rows > 0
    )
    assert not summarize_model(presence)["takes_counts"]

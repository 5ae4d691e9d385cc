"""Advice: silent where all is well, a finding and a remedy for each fault, errors for what is no diagnostic."""

import numpy as np
import pytest

from sparsemix.chains import convergence_advice, effective_sample_size, r_hat
from sparsemix.foundation.errors import ParameterError

WELL = {
    "r_hat": 1.004,
    "effective_sample_size": 400.0,
    "n_chains": 4,
    "acceptance_rate": 0.4,
    "moves_per_sweep": 12.5,
}


def test_nothing_is_said_where_all_is_well():
    assert convergence_advice(**WELL) == []
    assert convergence_advice(r_hat=1.01, effective_sample_size=400, n_chains=4) == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"r_hat": 1.31}, "R-hat of the log joint is 1.31 over 4 chains: they have not met. Run more sweeps"),
        ({"r_hat": 1.1}, "R-hat of the log joint is 1.100 over 4 chains: they have nearly met, but 1.01 is the limit."),
        ({"r_hat": np.inf}, "infinite over 4 chains: they stand still at different values"),
        ({"r_hat": np.nan}, "cannot be told over 4 chains: there are fewer than 4 draws a chain, or all"),
        ({"effective_sample_size": 50}, "worth 50 independent draws, and 400 are wanted (100 a chain). Run about 8"),
        ({"effective_sample_size": 0.2}, "Run about 400 times as many sweeps"),
        ({"acceptance_rate": 0.003}, "Only 0.3 % of the proposals are accepted"),
        ({"moves_per_sweep": 0}, "No row changes its cluster in a sweep"),
        ({"moves_per_sweep": 0.4}, "Fewer than one row changes its cluster in a sweep"),
        ({"n_chains": 1}, "One chain cannot show that another start would have ended elsewhere. Run several"),
    ],
)  # fmt: skip
def test_each_fault_has_its_sentence(fault, words):
    [finding] = convergence_advice(**WELL | fault)
    assert words in finding
    assert finding.endswith(".")


def test_one_chain_has_halves_and_a_quantity_its_name():
    first, *_ = convergence_advice(r_hat=1.3, effective_sample_size=200, n_chains=1, quantity="n_clusters")
    assert "R-hat of n_clusters is 1.30 over 1 chain: its halves have not met." in first


def test_the_gravest_comes_first():
    bad = WELL | {"r_hat": 2.0, "effective_sample_size": 5.0, "acceptance_rate": 0.0, "moves_per_sweep": 0.0}
    assert [line.split()[0] for line in convergence_advice(**bad)] == ["R-hat", "The", "Only", "No"]


@pytest.mark.parametrize("chains", [np.ones((3, 50)), np.arange(3.0), np.repeat([[1.0], [2.0]], 50, axis=1)])
def test_whatever_the_diagnostics_return_has_an_answer(chains):
    n_chains = np.atleast_2d(chains).shape[0]
    lines = convergence_advice(
        r_hat=r_hat(chains), effective_sample_size=effective_sample_size(chains), n_chains=n_chains
    )
    assert lines
    assert not any("nan" in line.split() for line in lines)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"r_hat": -1.0}, "'r_hat' of convergence_advice must be a number >= 0 or NaN, but it is -1.0"),
        ({"effective_sample_size": "many"}, "'effective_sample_size' of convergence_advice"),
        ({"n_chains": 0}, "'n_chains' of convergence_advice must be an integer >= 1"),
        ({"acceptance_rate": 1.2}, "'acceptance_rate' of convergence_advice must be a number in"),
        ({"moves_per_sweep": True}, "'moves_per_sweep' of convergence_advice"),
    ],
)
def test_what_is_no_diagnostic_is_an_error(wrong, words):
    with pytest.raises(ParameterError) as raised:
        convergence_advice(**WELL | wrong)
    assert words in str(raised.value)

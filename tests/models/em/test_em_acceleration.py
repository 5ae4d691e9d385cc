"""EM in leaps: the same fixed points in fewer epochs, and never a step down."""

import numpy as np
import pytest
from em_cases import rows_of

from sparsemix.models.em import acceleration, engine, starts
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Prior

N_COMPONENTS = 4


def overlapping(seed):
    """Rows of four profiles that differ little."""
    rng = np.random.default_rng(seed)
    profiles = 1 / (1 + np.exp(-0.7 * rng.standard_normal((N_COMPONENTS, 12))))
    return (rng.random((600, 12)) < profiles[rng.integers(N_COMPONENTS, size=600)]).astype(float)


def both(family, prior, seed, **loop):
    rows = rows_of(overlapping(seed))
    ground = starts.Ground(rows, 12, N_COMPONENTS, FAMILIES[family], prior)
    start = starts.at_random(ground, np.random.default_rng(seed))
    settings = engine.Loop(**{"tol": 1e-9, "max_iter": 5000} | loop)
    return [
        run(lambda: [rows], start, FAMILIES[family], prior, settings)
        for run in (engine.run, acceleration.run)
    ]


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("prior", [Prior(0.0, 0.0), Prior(0.1, 0.5), Prior(1.0, 0.0)])
@pytest.mark.parametrize("seed", range(3))
def test_leaps_reach_a_fixed_point_without_a_step_down(family, prior, seed):
    plain, leaping = both(family, prior, seed)
    assert leaping.is_converged
    steps = np.diff(leaping.trace)
    assert steps.min() >= -1e-9 * abs(leaping.trace[-1])
    next_epoch = engine.run(
        lambda: [rows_of(overlapping(seed))],
        leaping.statistics,
        FAMILIES[family],
        prior,
        engine.Loop(max_iter=2),
    )
    assert next_epoch.trace[0] == pytest.approx(leaping.trace[-1], rel=1e-12)
    assert next_epoch.trace[1] - next_epoch.trace[0] < 1e-5
    assert len(plain.trace) > 1


def test_leaps_take_fewer_epochs_where_components_overlap():
    counts = np.array(
        [[len(fit.trace) for fit in both("bernoulli", Prior(0.1, 0.0), seed)] for seed in range(6)]
    )
    assert counts[:, 1].sum() < 0.6 * counts[:, 0].sum()


def test_leaps_do_not_depend_on_threads():
    alone, together = (both("bernoulli", Prior(0.1, 0.0), 0, n_threads=n)[1] for n in (1, 3))
    assert alone.trace == together.trace
    assert np.array_equal(alone.statistics.counts, together.statistics.counts)


def test_the_last_epoch_counts_even_after_a_leap():
    for most in range(1, 12):
        fit = both("multinomial", Prior(0.1, 0.0), 1, max_iter=most, tol=0.0)[1]
        assert len(fit.trace) == most
        assert fit.log_likelihood + engine.log_prior(
            FAMILIES["multinomial"], fit.parameters, Prior(0.1, 0.0)
        ) == pytest.approx(fit.trace[-1], rel=1e-12)

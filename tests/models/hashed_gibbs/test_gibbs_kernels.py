"""Every kernel equals what it stands for: a dict, an equation, a softmax. `scripts/check plain` runs all uncompiled."""

import gibbs_entries as entries
import numpy as np
import pytest
from gibbs_cases import FAMILIES, PRIORS, clusters_of, setting
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from sparsemix.models.hashed_gibbs import (
    building,
    equations,
    hash_kernels,
    joint_kernels,
    kernels,
)
from sparsemix.models.hashed_gibbs.signatures import HashForm, signatures_of

families = pytest.mark.parametrize("family", FAMILIES)
priors = pytest.mark.parametrize("process", PRIORS)


def draw_case(family, process="finite", *, seed=0, n_rows=20, n_features=12, n_clusters=5, a=0.3):
    """Rows of counts, some of them long, and an assignment."""
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.4, (n_rows, n_features)) * rng.integers(1, 4, (n_rows, n_features))
    dense[0, 0] = 40
    return setting(family, process, dense, n_clusters, a), rng.integers(n_clusters - 1, size=n_rows)


def log_joint_of(case, assigned):
    """By the kernel."""
    held = clusters_of(case, assigned)
    cells = (held.start, held.mask, held.n_listed, held.keys, held.cell_counts)
    return joint_kernels.log_joint(case.prior, held.sizes, held.totals, *cells)


changes = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 3), st.booleans()), max_size=120)


@given(changes=changes, is_direct=st.booleans())
def test_cells_of_a_feature_are_a_dict(changes, is_direct):
    room = 31 if is_direct else 20  # clusters that may hold the feature at a time
    dense = np.ones((room, 1), int)
    case = setting("multinomial", dense=dense, n_clusters=31 if is_direct else 1000)
    clusters = building.no_clusters(case.rows, case.prior, case.n_clusters)
    assert (clusters.mask[0] < 0) == is_direct
    held = {}
    for cluster, size, takes_all in changes:
        change = -held.get(cluster, 0) if takes_all else size
        if change == 0 or (cluster not in held and len(held) == room):
            continue
        if is_direct:
            cell = clusters.start[0] + cluster
            clusters.cell_counts[cell] += change
        else:
            cell = entries.change_list(
                clusters.mask[0], clusters.start[0], clusters.n_listed, clusters.slots, clusters.keys,
                clusters.cell_counts, 0, cluster, change,
            )  # fmt: skip
        held[cluster] = held.get(cluster, 0) + change
        if not held[cluster]:
            del held[cluster]
            assert is_direct or cell == -1
        else:
            assert clusters.cell_counts[cell] == held[cluster]
        where = (clusters.mask[0], clusters.start[0], clusters.slots)
        for k in range(31):
            count = entries.count_of(*where, clusters.cell_counts, k)
            assert count == held.get(k, 0)
            if k in held:
                found = entries.cell_of(*where, k)
                assert is_direct or clusters.keys[found] == k
        if not is_direct:
            assert clusters.n_listed[0] == len(held)
            assert set(clusters.keys[: len(held)]) == set(held)
            assert np.all(clusters.keys[len(held) :] == -1)
            assert np.sum(clusters.slots >= 0) == len(held)


@priors
@families
def test_log_joint_up_to_a_constant(family, process):
    case, assigned = draw_case(family, process)
    rng = np.random.default_rng(1)
    others = [assigned, np.zeros(20, int), np.arange(20) % 5, *rng.integers(5, size=(3, 20))]
    expected = [equations.log_joint(case.prior, case.dense, each, 5) for each in others]
    found = [log_joint_of(case, each) for each in others]
    assert_allclose(np.array(found) - found[0], np.array(expected) - expected[0], rtol=1e-10, atol=1e-9)


@priors
@families
def test_scores_of_all_clusters_are_the_targets_up_to_a_constant(family, process):
    case, assigned = draw_case(family, process)
    clusters, scores = clusters_of(case, assigned), np.empty(6, np.float32)
    for row in (0, 1, 2, 7):
        own = int(assigned[row])
        entries.score_all(
            case.rows, row, case.prior, clusters, own, *np.empty((2, 6), np.float32), scores, np.empty(4)
        )
        targets = np.array(
            [entries.log_target(case.rows, row, case.prior, clusters, k, own) for k in range(5)]
        )
        assert_allclose(scores[:-1] - scores[own], targets - targets[own], rtol=1e-5, atol=1e-3)


@families
def test_logarithms_beyond_the_table_are_computed(family, monkeypatch):
    case, assigned = draw_case(family)
    clusters = clusters_of(case, assigned)
    monkeypatch.setattr(building, "MOST_TABLED", kernels.FEW)
    short, _ = draw_case(family)
    assert short.prior.log_a.size == kernels.FEW + 1 <= case.prior.log_a.size
    scores, work = np.empty((2, 6), np.float32), np.empty((2, 6), np.float32)
    for row in (0, 3):
        for prior, out in zip((case.prior, short.prior), scores, strict=True):
            entries.score_all(case.rows, row, prior, clusters, int(assigned[row]), *work, out, np.empty(4))
        assert_allclose(scores[1], scores[0], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("a", [0.01, 0.3, 20.0])
@given(count=st.integers(1, 60), added=st.integers(1, 40))
def test_gains_add_up_to_rising_factorials(a, count, added):
    case, _ = draw_case("multinomial", a=a)
    prior = case.prior
    expected = gammaln(a + count + added) - gammaln(a + count) - gammaln(a + added) + gammaln(a)
    assert_allclose(entries.gain(prior, 9, count, added), expected, rtol=1e-5, atol=1e-5)
    assert entries.has_tokens(prior, added) == (added <= kernels.FEW)
    if added <= kernels.FEW:
        for logs in (prior.log_single, prior.log_single[: kernels.FEW + 1]):  # whole, and cut short
            total = entries.add_tokens(logs, prior.a, count, added, np.float32(0.5))
            assert_allclose(total - 0.5, expected, rtol=1e-5, atol=1e-4)


@given(
    log_weights=st.lists(st.floats(-60.0, 60.0), min_size=1, max_size=70),
    uniform=st.floats(0.0, 1.0, exclude_max=True),
)
def test_draws_are_those_of_a_softmax_with_a_floor(log_weights, uniform):
    log_weights, size = np.array(log_weights), len(log_weights)
    drawn = np.empty(size, np.float32)
    k = entries.draw(log_weights, -40.0, uniform, drawn, np.empty(size))
    weights = np.exp(np.maximum(log_weights - log_weights.max(), -40.0))
    assert_allclose(drawn, weights, rtol=5e-6)
    cumulative = np.concatenate([[0.0], np.cumsum(drawn.astype(float))])
    assert cumulative[k] - 1e-12 <= uniform * cumulative[-1] <= cumulative[k + 1] + 1e-12


@pytest.mark.parametrize("n", range(1, 12))
def test_the_highest_of_any_number_of_values(n):
    for at in range(n):
        values = -np.arange(2.0, n + 2.0)
        values[at] = -1.0
        assert entries.highest(values) == -1.0


def test_a_draw_can_be_any_of_those_on_the_floor():
    log_weights = np.array([-99.0, 0.0, -50.0, -41.0, -1.0])
    found = [
        entries.draw(log_weights, -5.0, u, np.empty(5, np.float32), np.empty(5))
        for u in np.linspace(0.0, 1.0, 400, endpoint=False)
    ]
    assert set(found) == {0, 1, 2, 3, 4}
    shares = np.bincount(found) / 400
    weights = np.exp(np.maximum(log_weights, -5.0))
    assert_allclose(shares, weights / weights.sum(), atol=4e-3)


def parameters_of(case, signatures, members):
    """What is hashed of a cluster: its natural parameters, centred and scaled unless they are raw; (n_features,)."""
    theta = equations.parameters(case.prior, members)
    if signatures.is_raw:
        return theta + np.log(case.prior.a) - np.log(case.prior.a * case.prior.n_features + members.sum())
    return (theta - signatures.centre) / signatures.scale


@pytest.mark.parametrize("miss", [None, 0.5])
@pytest.mark.parametrize("n_bits", [40, 192])
@pytest.mark.parametrize("is_raw", [False, True])
def test_signatures_are_the_signs_of_products(is_raw, n_bits, miss):
    case, assigned = draw_case("multinomial")
    clusters = clusters_of(case, assigned)
    form = HashForm(n_bits, is_raw=is_raw, miss=miss)
    made = signatures_of(case.rows, case.prior, clusters, form, np.random.default_rng(2))
    directions = made.signs[:, :n_bits].astype(float)
    hashed_rows = case.dense * made.scale
    vectors = {"row": hashed_rows, "cluster": np.empty((5, 12))}
    for k in range(5):
        vectors["cluster"][k] = parameters_of(case, made, case.dense[assigned == k])
    found = {"row": (made.row_bits, made.row_norms), "cluster": (made.bits, made.norms)}
    for kind, (words, norms) in found.items():
        signs = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :n_bits].astype(bool)
        products = vectors[kind] @ directions
        is_clear = np.abs(products) > 0.02 * np.abs(products).max()
        expected = np.array([equations.bits(vector, directions) for vector in vectors[kind]])
        assert_array_equal(signs[is_clear], expected[is_clear])
        assert is_clear.mean() > 0.7
        assert_allclose(norms, np.linalg.norm(vectors[kind], axis=1), rtol=1e-3)
        padding = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, n_bits:]
        assert padding.all()
    slack = 0.0 if miss is None else np.sqrt(np.log(5 / miss) / (2 * n_bits))
    differing = np.arange(n_bits + 1) / n_bits
    assert_allclose(made.cosines, np.cos(np.pi * np.maximum(differing - slack, 0.0)), atol=1e-12)
    for row in range(6):
        for k in range(5):
            n_differing = sum(int(each).bit_count() for each in made.row_bits[row] ^ made.bits[k])
            product = made.row_norms[row] * made.norms[k] * made.cosines[n_differing]
            expected = equations.approximate_product(
                hashed_rows[row], vectors["cluster"][k], directions, slack
            )
            bound = np.pi * 0.1 * np.linalg.norm(hashed_rows[row]) * made.norms[k]  # some bits may be unclear
            assert abs(product - expected) <= bound


@pytest.mark.parametrize("is_raw", [False, True])
@families
def test_the_signature_of_a_cluster_without_a_row_is_that_of_the_others(family, is_raw):
    case, assigned = draw_case(family)
    clusters = clusters_of(case, assigned)
    form = HashForm(128, is_raw=is_raw)
    made = signatures_of(case.rows, case.prior, clusters, form, np.random.default_rng(2))
    for row in (0, 1, 5):
        own, others = int(assigned[row]), clusters_of(case, assigned)
        entries.add_row(case.rows, row, case.prior, others, own, -1)
        products, bits, constant = np.empty(128, np.int32), np.empty(2, np.uint64), np.empty(4)
        norm = entries.own_without(case.rows, row, case.prior, clusters, made, own, products, bits, constant)
        mutable = ("products", "squares", "sums", "bits", "norms")
        alone = made._replace(**{name: np.zeros_like(getattr(made, name)) for name in mutable})
        hash_kernels.project_clusters(case.prior, others, alone)
        assert_array_equal(products, alone.products[own])
        assert_array_equal(bits, alone.bits[own])
        assert_allclose(norm, alone.norms[own], rtol=1e-12)
        assert_allclose(constant, others.constant[own], rtol=1e-12, atol=1e-12)


def test_rows_are_sorted_from_the_rarest_feature_on():
    dense = np.array([[1, 2, 0, 3], [0, 1, 0, 1], [0, 0, 5, 1]])
    case = setting("multinomial", dense=dense)
    assert case.rows.columns.tolist() == [0, 1, 3, 1, 3, 2, 3]
    assert case.rows.counts.tolist() == [1, 2, 3, 1, 1, 5, 1]
    assert case.rows.lengths.tolist() == [6, 2, 6]
    assert case.rows.n_rows_with.tolist() == [1, 2, 1, 3]
    assert case.rows.feature_totals.tolist() == [1, 3, 5, 5]

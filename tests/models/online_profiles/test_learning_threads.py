"""Threads: any number of them gives the same bits, also where a list is full or as many rows wait as may."""

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from profile_cases import hash_of, topic_rows

from sparsemix import OnlineBernoulliMixture, load_model, save_model
from sparsemix.foundation.errors import ParameterError
from sparsemix.models.online_profiles import engine, scoring, sharing, steps, stream
from sparsemix.models.online_profiles.scoring import Scored, joined
from sparsemix.models.online_profiles.sharing import learning_parts
from sparsemix.models.online_profiles.state import entries_of_component
from sparsemix.probability import evidence


@pytest.fixture(autouse=True, scope="module")
def threads_for_all_work():
    """However little it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "ROWS_PER_THREAD", 1)
        patch.setattr(stream, "FEATURES_FOR_THREADS", 0)
        patch.setattr(evidence, "ENTRIES_FOR_THREADS", 0)
        yield


def late_topics(seed=0):
    """Rows of six topics, one topic after the other, so that rows wait and components are born and merged."""
    rows, topics = topic_rows(400, 6, 200, on=0.25, off=0.02, seed=seed)
    order = np.argsort(topics, kind="stable")
    return rows[order].astype(int), topics[order]


def learnt(rows, labels=None, **changes):
    usual = {"n_components": 4, "priming_rows": 50, "reservoir_rows": 15, "random_state": 0}
    return OnlineBernoulliMixture(**usual | changes).fit(rows, labels)


def state_of(model):
    """Hash of all but the number of threads."""
    return hash_of(model.set_params(n_jobs=None))


@given(
    n_jobs=st.sampled_from([2, 3, 7]),
    clutter=st.booleans(),
    full=st.booleans(),
    half_life=st.sampled_from([None, 200]),
    n_components=st.sampled_from([4, "auto"]),
    seed=st.integers(0, 100),
)
@settings(max_examples=4)
def test_any_number_of_threads_gives_the_same_bits(n_jobs, clutter, full, half_life, n_components, seed):
    rows, topics = late_topics(seed)
    labels = np.where(np.arange(400) % 9 == 0, topics % 4, -1)
    options = {"clutter": clutter, "half_life_rows": half_life, "n_components": n_components}
    expected = state_of(learnt(rows, labels, **options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "LEARNERS_PER_ROW", 0 if full else 4)
        assert state_of(learnt(rows, labels, n_jobs=n_jobs, **options)) == expected


def test_threads_do_the_work(monkeypatch):
    used, runner = set(), steps.thread_runner

    def counting(n_threads):
        used.add(n_threads)
        return runner(n_threads)

    monkeypatch.setattr(steps, "thread_runner", counting)
    rows, _ = late_topics()
    model = learnt(rows, n_jobs=3)
    assert max(used) == 3
    assert any(event.event == "born" and event.row > 50 for event in model.lineage_)
    used.clear()
    learnt(rows)
    assert used == {1}


def test_a_component_with_much_work_is_shared(monkeypatch):
    """A part may be a piece of one component; pieces begin at multiples, which change no bit."""
    seen, parts_of = [], steps.learning_parts

    def recorded(*given):
        seen.extend(parts_of(*given))
        return parts_of(*given)

    monkeypatch.setattr(steps, "learning_parts", recorded)
    rows, _ = late_topics()
    expected = state_of(learnt(rows))
    assert {part.low for part in seen} == {0}
    assert state_of(learnt(rows, n_jobs=5)) == expected
    assert {0, 64} <= {part.low for part in seen} <= {0, 64, 128, 192}


@pytest.mark.parametrize("n_done", [1, 2, 3, 5, 7])
def test_an_interrupted_step_leaves_components_that_have_learnt_all_or_nothing(monkeypatch, n_done):
    rows, _ = late_topics()
    model = OnlineBernoulliMixture(4, priming_rows=50, staleness=1.0, random_state=0, n_jobs=5)
    model.partial_fit(rows[:150])
    before, whole = deepcopy(model), deepcopy(model).partial_fit(rows[150:190])

    def some_tasks(_, tasks):
        for task in tasks[:n_done]:
            task()
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "run_tasks", some_tasks)
    parts = []
    monkeypatch.setattr(steps, "learning_parts", lambda *given: parts.extend(learning_parts(*given)) or parts)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows[150:190])
    assert any(part.is_piece for part in parts)
    for k in range(4):
        state = component_of(model, k)
        assert state in (component_of(before, k), component_of(whole, k))
    assert component_of(model, int(parts[0].learners[0])) == component_of(whole, int(parts[0].learners[0]))


def test_evidence_is_that_of_the_rows_seen_also_after_an_interrupt(monkeypatch):
    rows = topic_rows(400, 4, 40, on=0.95, off=0.01)[0].astype(int)
    model = OnlineBernoulliMixture(4, priming_rows=50, random_state=0).partial_fit(rows[:60])
    learn, calls = engine.learn_rows, []

    def interrupted(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return learn(*given)

    monkeypatch.setattr(engine, "learn_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows[60:])
    seen = model.n_rows_seen_
    assert 60 < seen < 400
    whole = OnlineBernoulliMixture(4, priming_rows=50, random_state=0).partial_fit(rows)
    assert model.partial_fit(rows[seen:]).log_evidence_ == whole.log_evidence_


def component_of(model, k):
    """All that a component knows, as text."""
    posterior = model._learner.stream.posterior
    own = [column[k].item() for column in (getattr(posterior, name) for name in steps.PER_COMPONENT)]
    return repr((own, [column.tolist() for column in entries_of_component(posterior, k)]))


@given(
    work=st.lists(st.floats(1.0, 1e6), min_size=1, max_size=20),
    n_threads=st.integers(1, 9),
    size=st.integers(0, 10_000),
)
def test_parts_cover_all_slots_of_all_components_once(work, n_threads, size):
    parts = learning_parts(np.array(work), np.full(len(work), size), n_threads)
    for k in range(len(work)):
        own = sorted((part.low, part.high) for part in parts if k in part.learners)
        assert [low for low, _ in own] == [0, *(high for _, high in own[:-1])]
        assert own[-1][1] == sharing.NO_END
        assert len(own) == 1 or n_threads > 1


def test_a_run_may_go_on_with_other_threads(tmp_path):
    rows, _ = late_topics()
    whole = learnt(rows)
    model = OnlineBernoulliMixture(
        n_components=4, priming_rows=50, reservoir_rows=15, random_state=0, n_jobs=2
    )
    model.partial_fit(rows[:230])
    save_model(model, tmp_path / "model.smx")
    again = load_model(tmp_path / "model.smx")
    assert again.n_jobs == 2
    again.set_params(n_jobs=3).partial_fit(rows[230:]).prime()
    assert state_of(again) == state_of(whole)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_a_wrong_number_of_threads_changes_nothing(n_jobs):
    rows, _ = late_topics()
    with pytest.raises(ParameterError, match="'n_jobs' of OnlineBernoulliMixture"):
        learnt(rows, n_jobs=n_jobs)
    model = learnt(rows)
    before = hash_of(model)
    with pytest.raises(ParameterError, match="n_jobs"):
        model.set_params(n_jobs=n_jobs).partial_fit(rows)
    assert state_of(model) == before


def part_of(first, last, waiting):
    rows = np.setdiff1d(np.arange(first, last), waiting)
    return Scored(last, rows, rows.astype(np.int32) % 3, rows / 10, np.array(waiting, np.int64))


def test_parts_end_with_the_row_with_which_enough_wait():
    whole = joined([part_of(0, 4, [1]), part_of(4, 9, [5, 7])])
    assert whole.last == 9
    assert_array_equal(whole.waiting, [1, 5, 7])
    assert_array_equal(whole.rows, [0, 2, 3, 4, 6, 8])
    cut = whole.with_waiting(2)
    assert cut.last == 6
    assert_array_equal(cut.waiting, [1, 5])
    assert_array_equal(cut.rows, [0, 2, 3, 4])
    assert_array_equal(cut.responsibilities, [0, 0.2, 0.3, 0.4])
    assert whole.with_waiting(4) is whole
    nobody = part_of(0, 3, [])
    assert nobody.with_waiting(0) is nobody

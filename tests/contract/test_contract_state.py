"""What a model knows is exact: answers leave it alone, seeds decide it, files keep it, and it does not grow."""

import gc
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from contract_models import hash_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsemix import load_model, save_model
from sparsemix.persistence.unpacking import LATER


def every_question(subject, model):
    """Ask a model all that it can be asked, about rows or not."""
    subject.answers(model)
    if hasattr(model, "score"):
        subject.ask(model, "score", subject.rows)
    one, other = list(getattr(model, "feature_names_in_", [0, 1]))[:2]
    for name, arguments in (
        ("top_features", (3,)), ("suggest", ([one], [other])), ("sample", (5,)), ("credible_interval", ()),
        ("threads", ()), ("recommend", (subject.rows, 2)), ("rank", (1, 2)), ("evaluate", (subject.rows,)),
    ):  # fmt: skip
        if hasattr(model, name):
            getattr(model, name)(*arguments)


def test_answers_leave_the_model_alone_and_are_copies(subject):
    model = subject.fitted()
    before = hash_of(model)
    for _ in range(2):
        every_question(subject, model)
    assert hash_of(model) == before
    public = [
        name
        for name in dir(model)
        if name.endswith("_") and not name.startswith("_") and hasattr(model, name)
    ]
    for found in [*(getattr(model, name) for name in public), *subject.answers(model).values()]:
        if isinstance(found, np.ndarray) and found.flags.writeable and found.dtype != object:
            found[:] = 0
    assert hash_of(model) == before, "attributes are copies, or for reading alone"


def test_questions_may_be_asked_side_by_side(subject):
    model, expected = subject.fitted(), subject.answers(subject.fitted())
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: subject.answers(model), range(24)):
            for question, answer in found.items():
                assert_array_equal(answer, expected[question], err_msg=question)


def test_a_row_is_answered_alike_in_any_company(subject):
    model = subject.fitted()
    whole = subject.answers(model)
    alone = [subject.answers(model, subject.rows[i : i + 1]) for i in range(9)]
    for question, found in whole.items():
        assert_allclose(np.concatenate([each[question] for each in alone]), found[:9], rtol=1e-12, atol=1e-15)


def test_the_score_is_the_mean_of_the_rows(subject):
    model = subject.fitted()
    each = subject.ask(model, "score_samples", subject.rows)
    assert_allclose(subject.ask(model, "score", subject.rows), each.mean(), rtol=1e-12)


def test_the_same_seed_gives_the_same_bits(subject):
    expected = hash_of(subject.fitted())
    assert hash_of(subject.learn()) == expected
    again = subject.fitted()
    assert hash_of(subject.learn(model=again)) == expected  # a second fit begins anew


def test_threads_change_no_bit(subject):
    several = {name: 2 for name in ("n_init", "n_chains") if name in subject.new().get_params()}
    one, two = (subject.learn(model=subject.new(n_jobs=n, **several)) for n in (1, 2))
    assert hash_of(two.set_params(n_jobs=1)) == hash_of(one)
    for question, found in subject.answers(one).items():
        assert_array_equal(subject.answers(two)[question], found)


@pytest.mark.parametrize("mmap", [True, False])
def test_a_file_keeps_every_bit(subject, tmp_path, mmap):
    for model in (subject.fitted(), subject.named()):
        save_model(model, tmp_path / "model.smx")
        loaded = load_model(tmp_path / "model.smx", mmap=mmap)
        assert type(loaded) is type(model)
        assert loaded.get_params() == model.get_params()
        assert hash_of(loaded) == hash_of(model)
        expected = subject.answers(model)
        for question, found in subject.answers(loaded).items():
            assert_array_equal(found, expected[question], err_msg=question)
        every_question(subject, loaded)
        assert hash_of(loaded) == hash_of(model)


def test_a_loaded_model_goes_on_to_the_same_bits(subject, tmp_path):
    model = subject.fitted()
    for _ in range(2):
        save_model(model, tmp_path / "model.smx")
        loaded = load_model(tmp_path / "model.smx")
        subject.learn_more(model)
        subject.learn_more(loaded)
        assert hash_of(loaded) == hash_of(model)
        save_model(loaded, tmp_path / "model.smx")


# Older files, which lack such a part, load with its default.
LATER_PARTS = {"n_passes", "negligible", "overlaps"}


def test_parts_that_are_missing_from_a_file(subject, refused):
    payload = subject.named().to_payload()
    for part in ("metadata", "arrays"):
        whole = getattr(payload, part)
        for key in whole.keys() - LATER_PARTS:
            refused(replace(payload, **{part: {name: each for name, each in whole.items() if name != key}}))
        refused(replace(payload, **{part: whole | {"spare": np.ones(1) if part == "arrays" else 1}}))
    refused(replace(payload, parameters=payload.parameters | {"spare": 1}))
    refused(replace(payload, parameters={}))
    for name in payload.parameters.keys() - set(LATER):
        refused(replace(payload, parameters={k: each for k, each in payload.parameters.items() if k != name}))


def test_names_of_a_file_that_do_not_fit(subject, refused):
    payload = subject.named().to_payload()
    names = payload.feature_names
    refused(replace(payload, feature_names=names[:-1]))
    refused(replace(payload, feature_names=np.array([*names[:-1], names[0]], dtype=object)))


def test_questions_before_the_first_row(subject):
    model = subject.new()
    with pytest.raises(NotFittedError):
        model.rates([0], [0]) if subject.questions == ["rates"] else subject.answers(model)
    for question in [*subject.questions, *(["score"] if hasattr(model, "score") else [])]:
        if question != "rates" and subject.kind != "click-rate-model":
            with pytest.raises(NotFittedError):
                subject.ask(model, question, subject.rows)
    for name in ("sample", "top_features"):
        if hasattr(model, name):
            with pytest.raises(NotFittedError):
                getattr(model, name)()
    with pytest.raises(NotFittedError):
        model.to_payload()
    for name in dir(type(model)):
        if name.endswith("_") and not name.startswith("_"):
            assert not hasattr(model, name), name


@pytest.mark.slow
def test_nothing_grows_over_a_thousand_rounds(subject, tmp_path, monkeypatch):
    """Each learns a few rows, or these anew, goes to a file and comes back."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # safety from power cuts is not what is tested
    path = tmp_path / "model.smx"
    model, few, sizes = subject.fitted(), subject.rows[:3], []
    for turn in range(1_000):
        subject.learn_more(model, few)
        save_model(model, path)
        model = load_model(path)
        if turn in (499, 999):
            gc.collect()
            sizes.append((path.stat().st_size, len(gc.get_objects())))
    for early, late in zip(*sizes, strict=True):
        assert late < 1.02 * early

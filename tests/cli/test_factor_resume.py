"""Ctrl-C saves a fit of factors or of click rates, and `sparsemix fit --resume` goes on to the same bits."""

import csv

import numpy as np
import pytest
from model_files import hash_of

import sparsemix as sm

KERNELS = "sparsemix.models.gamma_poisson.kernels"
INTERRUPT = 2
COLUMNS = ["--row", "user", "--feature", "song", "--count", "plays"]
FITS = {
    "map": (["--max-iter", 40], f"{KERNELS}.add_expected_counts"),
    "gibbs": (
        ["--solver", "gibbs", "--n-sweeps", 8, "--n-chains", 2, "--thin", 2],
        f"{KERNELS}.add_drawn_counts",
    ),
}

RATES = {
    "choosing": ([], f"{KERNELS}.add_expected_counts", 7),
    "climbing": (["--solver", "ml"], f"{KERNELS}.add_expected_counts", 17),
    "gibbs": (["--solver", "gibbs", "--n-sweeps", 8], f"{KERNELS}.add_drawn_counts", 6),
}


def write(path, n_users=30):
    rng = np.random.default_rng(0)
    plays = rng.poisson(rng.gamma(0.5, 2.0, (n_users, 9)))
    with path.open("w", newline="", encoding="utf-8") as file:
        cells = zip(*np.nonzero(plays), plays[plays > 0], strict=True)
        csv.writer(file).writerows([("user", "song", "plays"), *((f"u{i}", f"s{j}", n) for i, j, n in cells)])
    return path


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    return write(tmp_path_factory.mktemp("plays") / "plays.csv")


@pytest.mark.parametrize("name", FITS)
def test_ctrl_c_keeps_the_factors_and_resume_ends_at_the_same_bits(sparsemix, plays, program, tmp_path, name):
    options, target = FITS[name]
    path, whole = tmp_path / "m.smx", tmp_path / "whole.smx"
    command = ["--model", "gamma-poisson", "-k", 3, *options, *COLUMNS]
    assert sparsemix("fit", plays, "-o", whole, *command) == 0
    run = program("fit", plays, "-o", path, *command, target=target, call=7, number=INTERRUPT)
    assert run.returncode == 130
    assert "sweeps; what is learnt is saved in" in run.stderr
    assert run.stderr.splitlines()[-1].endswith("--resume")
    model = sm.load_model(path)
    assert not model.is_complete_
    assert model.user_factors_.shape == (30, 3)

    before = path.read_bytes()
    assert sparsemix("fit", plays, "-o", path, *command, "--seed", 2, "--resume") == 2
    assert "--seed must be 0 as in the interrupted run" in sparsemix.err
    other = write(tmp_path / "other.csv", 29)
    assert sparsemix("fit", other, "-o", path, *command, "--resume") == 1
    assert "the input has other keywords or rows than the run in the file" in sparsemix.err
    assert sparsemix("update", path, plays, *COLUMNS) == 2
    assert (
        "--solver gibbs" in sparsemix.err
        if name == "gibbs"
        else "holds a run that was interrupted" in sparsemix.err
    )
    assert path.read_bytes() == before

    assert sparsemix("fit", plays, "-o", path, *command, "--resume") == 0
    assert f"Going on with the run in {path}, after {model.n_sweeps_done_} sweeps." in sparsemix.err
    assert hash_of(path) == hash_of(whole)
    assert sparsemix("fit", plays, "-o", path, *command, "--resume") == 0
    assert f"All sweeps of the run in {path} are made; nothing is left to do." in sparsemix.err
    assert hash_of(path) == hash_of(whole)


def test_a_run_in_a_file_knows_its_solver(sparsemix, plays, tmp_path):
    path = tmp_path / "m.smx"
    command = ["fit", plays, "-o", path, "--model", "gamma-poisson", "-k", 3, *COLUMNS]
    assert sparsemix(*command, *FITS["gibbs"][0]) == 0
    before = hash_of(path)
    assert sparsemix(*command, "--thin", 2, "--resume") == 0
    assert hash_of(path) == before
    assert sparsemix(*command, "--max-iter", 9, "--resume") == 2
    assert "--max-iter with --model gamma-poisson is not for --solver gibbs" in sparsemix.err
    assert sparsemix(*command, "--solver", "map", "--resume") == 2
    assert "--solver must be 'gibbs' as in the interrupted run" in sparsemix.err
    assert sparsemix(*command[:3], tmp_path / "none.smx", *command[4:], "--thin", 2, "--resume") == 2
    assert "--thin with --model gamma-poisson is not for --solver map" in sparsemix.err


def test_a_file_of_clusters_is_no_run_of_factors(sparsemix, plays, model, tmp_path):
    path = tmp_path / "m.smx"
    path.write_bytes(model.read_bytes())
    command = ["fit", plays, "-o", path, "--model", "gamma-poisson", *COLUMNS, "--resume"]
    assert sparsemix(*command) == 2
    assert "--model must be online as in the interrupted run" in sparsemix.err
    assert path.read_bytes() == model.read_bytes()


def test_without_a_file_the_fit_begins(sparsemix, plays, tmp_path):
    command = [
        "fit",
        plays,
        "-o",
        tmp_path / "m.smx",
        "--model",
        "gamma-poisson",
        "-k",
        2,
        *COLUMNS,
        "--resume",
    ]
    assert sparsemix(*command) == 0
    assert "There is no" in sparsemix.err
    assert sm.load_model(tmp_path / "m.smx").is_complete_


def write_events(path, n_users=30, n_impressions=3):
    lines = [
        (f"u{i}", f"a{j}", event, n)
        for i in range(n_users)
        for j in range(5)
        for event, n in (("impression", n_impressions + i % 4), ("click", (i * j) % 3))
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("user", "ad", "event", "count"), *lines])
    return path


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    return write_events(tmp_path_factory.mktemp("events") / "events.csv")


@pytest.mark.parametrize("name", RATES)
def test_ctrl_c_keeps_the_rates_and_resume_ends_at_the_same_bits(sparsemix, events, program, tmp_path, name):
    options, target, call = RATES[name]
    path, whole = tmp_path / "m.smx", tmp_path / "whole.smx"
    command = ["--model", "click-rate", "-k", 2, "--max-iter", 12, *options]
    assert sparsemix("fit", events, "-o", whole, *command) == 0
    run = program("fit", events, "-o", path, *command, target=target, call=call, number=INTERRUPT)
    assert run.returncode == 130
    assert "sweeps; what is learnt is saved in" in run.stderr
    model = sm.load_model(path)
    assert not model.is_complete_
    assert (model._run.smoothing is None) == (name == "choosing")
    assert sparsemix("ctr", path, "--user", "u1", "--ad", "a1", "--json") == 0

    before = path.read_bytes()
    assert sparsemix("fit", events, "-o", path, *command, "--seed", 2, "--resume") == 2
    assert "--seed must be 0 as in the interrupted run" in sparsemix.err
    others = {
        "u29": write_events(tmp_path / "fewer.csv", 29),
        "counts": write_events(tmp_path / "more.csv", 30, 4),
    }
    for other in others.values():
        assert sparsemix("fit", other, "-o", path, *command, "--resume") == 1
        assert "than the run in the file" in sparsemix.err
    assert path.read_bytes() == before

    assert sparsemix("fit", events, "-o", path, *command, "--resume") == 0
    assert f"Going on with the run in {path}, after {model.n_sweeps_done_} sweeps." in sparsemix.err
    assert hash_of(path) == hash_of(whole)
    assert sparsemix("fit", events, "-o", path, *command, "--resume") == 0
    assert f"All sweeps of the run in {path} are made; nothing is left to do." in sparsemix.err
    assert hash_of(path) == hash_of(whole)

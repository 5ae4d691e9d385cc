"""A process that is killed at any moment leaves what was there or what was to be, and its work can go on.

The moments are calls of functions, drawn at random from all that the command makes, those of compiled code included.
A few are drawn here; fifty for each command run with `pytest -m slow tests/cli/test_kills.py`.
"""

import shutil

import numpy as np
import pandas as pd
import pytest
from model_files import hash_of

KILL = 9
COUNTS = ["--row", "ad_id", "--feature", "keyword", "--json", "--quiet"]
SIZE = ["-k", "8"]
ROWS = [*SIZE, "--priming-rows", "400", "--checkpoint-every", "200"]
SAMPLED = ["--n-sweeps", "6", "--burn-in", "2", "--thin", "2", "--checkpoint-every", "1"]
FITS = {
    "online": ROWS,
    "online, streamed": [*ROWS, "--batch-rows", "350"],
    "multinomial": ["--model", "multinomial", *SIZE, "--checkpoint-every", "2"],
    "bernoulli-em, streamed": [
        "--model",
        "bernoulli-em",
        *SIZE,
        "--checkpoint-every",
        "2",
        "--batch-rows",
        "350",
    ],
    "hashed-gibbs": ["--model", "hashed-gibbs", *SIZE, *SAMPLED],
    "time-sensitive": ["--model", "time-sensitive", "--time", "day", "--learn", *SAMPLED],
    "gamma-poisson": ["--model", "gamma-poisson", *SIZE, "--max-iter", "20", "--checkpoint-every", "3"],
}
FEW = ["online"]  # the others' kernels are compiled in each process
MANY = pytest.param(50, marks=pytest.mark.slow)


def moments(n_calls, n_moments):
    """Numbers of calls, in order, of which none stands twice."""
    return sorted(
        np.random.default_rng(5).choice(np.arange(1, n_calls + 1), n_moments, replace=False).tolist()
    )


def timed(table, path):
    """The same table, with the day on which each ad came."""
    ads = pd.read_csv(table)
    ads.assign(day=pd.factorize(ads["ad_id"])[0] * 86400).to_csv(path, index=False)
    return path


def kill_at(program, call, *arguments):
    """Run a command line that is killed; a later run may have a few calls less than the one that was counted."""
    assert program(*arguments, call=call, number=KILL).returncode in {-KILL, 0}


@pytest.mark.parametrize(
    ("kind", "n_moments"),
    [*((kind, 1) for kind in FEW), *(pytest.param(kind, 50, marks=pytest.mark.slow) for kind in FITS)],
)
def test_a_fit_goes_on_to_the_same_model(sparsemix, program, table, tmp_path, kind, n_moments):
    rows = timed(table, tmp_path / "timed.csv") if kind == "time-sensitive" else table
    command = ["fit", rows, *FITS[kind], *COUNTS]
    whole, path = tmp_path / "whole.smx", tmp_path / "ads.smx"
    for call in moments(program.calls_of(*command, "-o", whole), n_moments):
        path.unlink(missing_ok=True)
        kill_at(program, call, *command, "-o", path)
        if path.exists():
            hash_of(path)
        assert sparsemix(*command, "-o", path, "--resume") == 0
        assert hash_of(path) == hash_of(whole)


@pytest.mark.parametrize("n_moments", [2, MANY])
def test_an_update_has_happened_or_not(program, table, model, tmp_path, n_moments):
    path = tmp_path / "ads.smx"
    shutil.copy(model, path)
    command = ["update", path, table, *COUNTS]
    calls = program.calls_of(*command)
    states = [hash_of(model), hash_of(path)]
    assert states[0] != states[1]
    for call in moments(calls, n_moments):
        shutil.copy(model, path)
        kill_at(program, call, *command)
        assert hash_of(path) in states


@pytest.mark.parametrize("n_moments", [2, MANY])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_assignments_are_whole_or_not_there(program, table, model, tmp_path, ending, n_moments):
    whole, path = tmp_path / f"whole.{ending}", tmp_path / f"rows.{ending}"
    command = ["assign", model, table, *COUNTS, "--batch-rows", "200", "-o"]
    for call in moments(program.calls_of(*command, whole), n_moments):
        path.unlink(missing_ok=True)
        kill_at(program, call, *command, path)
        assert not path.exists() or path.read_bytes() == whole.read_bytes()

"""What is saved in the middle of a fit changes nothing about the model at its end."""

import numpy as np
import pytest
from counted_texts import texts, write
from model_files import hash_of

from sparsemix import load_model
from sparsemix.cli import checkpoints

SAMPLED = ["--n-sweeps", 6, "--burn-in", 2, "--thin", 2]
FITS = {
    "multinomial": ["-k", 3, "--max-iter", 7],
    "bernoulli-em": ["-k", 3, "--batch-rows", 40],
    "hashed-gibbs": ["-k", 3, *SAMPLED],
    "time-sensitive": [*SAMPLED, "--learn", "--time", "topic"],
    "gamma-poisson": ["-k", 3, "--max-iter", 9],
    "click-rate": ["-k", 3, "--max-iter", 8],
}
TEXTS = ("multinomial", "bernoulli-em", "hashed-gibbs", "gamma-poisson")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A table of counted texts, one of events, and one of texts with days in the place of topics."""
    folder = tmp_path_factory.mktemp("tables")
    user, ad = np.indices((20, 6)).reshape(2, -1)
    events = [(u, f"ad{a}", "impression", 9 + (u + a) % 2) for u, a in zip(user, ad, strict=True)]
    events += [(u, f"ad{a}", "click", 3) for u, a in zip(user, ad, strict=True) if (u + a) % 2]
    timed = [(text, 86400 * int(text.split()[1]), word, n) for text, _, word, n in texts(180)]
    return {
        "click-rate": write(folder / "events.csv", events, "user,ad,event,count"),
        "time-sensitive": write(folder / "timed.csv", timed),
    } | dict.fromkeys(TEXTS, write(folder / "texts.csv", texts(180)))


def command_of(kind, tables):
    return ["fit", tables[kind], "--model", kind, *FITS[kind], "--quiet", "-o"]


@pytest.mark.parametrize("kind", FITS)
def test_they_change_no_bit(sparsemix, tables, tmp_path, monkeypatch, kind):
    whole, path, n_saved = tmp_path / "whole.smx", tmp_path / "m.smx", 0
    assert sparsemix(*command_of(kind, tables), whole) == 0

    def saved(model, where):
        nonlocal n_saved
        n_saved += 1
        monkeypatch.undo()
        checkpoints.save_model(model, where)
        assert load_model(where).get_params() == load_model(whole).get_params()
        monkeypatch.setattr(checkpoints, "save_model", saved)

    monkeypatch.setattr(checkpoints, "save_model", saved)
    assert sparsemix(*command_of(kind, tables), path, "--checkpoint-every", 2) == 0
    assert hash_of(path) == hash_of(whole)
    assert n_saved


def test_several_starts_have_none(sparsemix, tables, tmp_path):
    command = command_of("multinomial", tables)
    assert sparsemix(*command, tmp_path / "m.smx", "--n-init", 2, "--checkpoint-every", 1) == 2
    assert "--checkpoint-every is not for several starts" in sparsemix.err
    assert not (tmp_path / "m.smx").exists()

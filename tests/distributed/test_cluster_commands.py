"""`sparsemix fit` on workers: the model of the library, saved after each join, and one line for what goes wrong."""

import os
import signal
import sys

import numpy as np
import pytest
from cluster_cases import state

import sparsemix
from sparsemix.cli import main, spreading, workers
from sparsemix.distributed import fit

COLUMNS = ["--row", "ad", "--feature", "keyword"]
READING = {"row": "ad", "feature": "keyword"}
OPTIONS = {"online": ["--priming-rows", "60"], "bernoulli-em": ["--max-iter", "4"]}
kinds = pytest.mark.parametrize("kind", ["online", pytest.param("bernoulli-em", marks=pytest.mark.slow)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ads of two kinds in three files."""
    folder, rng = tmp_path_factory.mktemp("ads"), np.random.default_rng(2)
    for number in range(3):
        lines = ["ad,keyword,kind"]
        for ad in range(60):
            words = rng.choice(8, 4, replace=False) + 8 * (ad % 2)
            lines += [f"{number}-{ad},word {word},{'even' if ad % 2 == 0 else 'odd'}" for word in words]
        (folder / f"ads-{number}.csv").write_text("\n".join(lines))
    return folder


@pytest.fixture
def command(client, folder, tmp_path):
    """Runs `fit` on the workers of this process; returns the exit code."""

    def run(*more, kind="online", address=client.scheduler.address):
        words = [
            "fit",
            folder,
            "-o",
            tmp_path / "ads.smx",
            "-k",
            "2",
            "--model",
            kind,
            *COLUMNS,
            *OPTIONS[kind],
        ]
        where = ["--dask", address] if address else []
        return main([str(word) for word in [*words, *where, *more]])

    return run


def learnt(client, folder, kind, **more):
    if kind == "online":
        model = sparsemix.OnlineBernoulliMixture(2, priming_rows=60, binarize=0.0, random_state=0)
    else:
        model = sparsemix.BernoulliMixture(2, max_iter=4, binarize=0.0, random_state=0)
    fit(model, folder, client=client, **READING, **more)
    return model


@kinds
def test_the_command_gives_the_model_of_the_library(command, client, folder, tmp_path, capsys, kind):
    assert command(kind=kind) == 0
    model = sparsemix.load_model(tmp_path / "ads.smx")
    assert state(model) == state(learnt(client, folder, kind))
    said = capsys.readouterr()
    assert "180 rows with 16 keywords in 2 clusters" in said.out
    assert "MB of messages" in said.err


def test_labels_of_files_are_clusters(command, tmp_path, capsys):
    assert command("--label", "kind", "--json") == 0
    assert '"label_names": [\n    "even",\n    "odd"\n  ]' in capsys.readouterr().out
    assert sparsemix.load_model(tmp_path / "ads.smx").suggest(["word 0"], n=1)[0].feature.startswith("word")


@kinds
def test_ctrl_c_saves_and_resume_goes_on_to_the_same_bits(
    command, client, folder, tmp_path, monkeypatch, kind
):
    plain = spreading._fit

    def interrupted(*arguments, on_join, **options):
        def follow(join):
            if join.number == 2:
                os.kill(os.getpid(), signal.SIGINT)
            on_join(join)

        return plain(*arguments, on_join=follow, **options)

    with monkeypatch.context() as patch:
        patch.setattr(spreading, "_fit", interrupted)
        assert command(kind=kind) == 130
    file = tmp_path / "ads.smx"
    assert sparsemix.load_model(file).n_rows_seen_ <= 180
    assert command("--resume", kind=kind) == 0
    assert state(sparsemix.load_model(file)) == state(learnt(client, folder, kind))


def test_without_the_extra_it_is_named(command, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert command(address="tcp://127.0.0.1:1") == 1
    assert "pip install 'sparsemix[dask]'" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "no address", "tls://127.0.0.1:1", "foo://bar:1"])
def test_where_nobody_answers_it_is_told(command, monkeypatch, capsys, address):
    """And no client is made, which would complain of the same later on, when it is thrown away."""
    monkeypatch.setattr(workers, "_PATIENCE", "200ms")
    monkeypatch.setattr("distributed.Client", None)
    assert command(address=address) == 1
    said = capsys.readouterr().err
    assert f"error: no Dask scheduler answers at '{address}': " in said
    assert "Check the address of --dask." in said
    assert "callable" not in said


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--workers", "2"], "Leave one out"),
        (["--batch-rows", "10"], "--batch-rows is not for --workers and --dask, where each file is a batch"),
        (["--checkpoint-every", "10"], "where the model is saved after each join"),
        (["--min-rows-per-feature", "2"], "--min-rows-per-feature is not for --workers and --dask"),
        (["--model", "hashed-gibbs"], "not for --model hashed-gibbs, which needs all rows in one place"),
    ],
)
def test_what_workers_do_not_do_is_told(command, capsys, more, words):
    assert command(*more) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_processes_of_this_machine_give_the_same(command, client, folder, tmp_path):
    assert command("--workers", "2", address=None) == 0
    assert state(sparsemix.load_model(tmp_path / "ads.smx")) == state(learnt(client, folder, "online"))

"""`sparsemix fit --model time-sensitive`: threads by sampling and by one pass, and what other commands say of them."""

import csv
import json
import signal

import numpy as np
import pytest
from model_files import hash_of

import sparsemix as sm
from sparsemix.models.time_sensitive.engine import Chain
from sparsemix.persistence import state_hash

DAY = 86400
NAMED = ["--row", "mail", "--feature", "word"]
READ = [*NAMED, "--count", "n", "--time", "sent"]
IN_TIME = ["--model", "time-sensitive", "--time", "sent", "--half-life", "2d"]
FEW = ["--n-sweeps", 6, "--burn-in", 2, "--thin", 2]


def write(path, first_day, seed):
    """Mails of two threads, each about its own words; a thread of the first table is silent for a month."""
    rng = np.random.default_rng(seed)
    lines = []
    for mail in range(40):
        thread, day = mail % 2, first_day + mail // 4 + (60 if mail >= 20 else 0)
        words = rng.integers(4, size=6) + 4 * thread
        stamp = str(np.datetime64("2024-01-01") + np.timedelta64(day, "D"))
        lines += [
            (f"{seed}-{mail}", stamp, f"w{word}", (words == word).sum()) for word in set(words.tolist())
        ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("mail", "sent", "word", "n"), *lines])
    return path


@pytest.fixture(scope="module")
def mails(tmp_path_factory):
    return write(tmp_path_factory.mktemp("mails") / "mails.csv", 0, 1)


@pytest.fixture
def table(mails):
    return sm.read_table(mails, row="mail", feature="word", time="sent", count="n")


def test_sampling_learns_what_the_library_learns(sparsemix, mails, table, tmp_path):
    path = tmp_path / "m.smx"
    more = [*FEW, "--concentration", 0.2, "--smoothing", 0.3, "--seed", 3]
    assert (
        sparsemix("fit", mails, "-o", path, *NAMED, *IN_TIME, *more, "--count", "n", "--json", "--quiet") == 0
    )
    settings = {"n_sweeps": 6, "burn_in": 2, "thin": 2, "concentration": 0.2, "smoothing": 0.3}
    model = sm.TimeSensitiveMixture(half_life="2d", binarize=0.0, random_state=3, **settings).fit(table)
    assert hash_of(path) == state_hash(model.to_payload())
    found = json.loads(sparsemix.out)
    assert found["log_joint"] == model.log_joint_[:, -1].tolist()
    assert found["n_clusters"] == model.labels_.max() + 1


def test_a_stream_learns_what_the_library_learns_and_goes_on(sparsemix, mails, table, tmp_path):
    path, later = tmp_path / "m.smx", write(tmp_path / "later.csv", 75, 2)
    more = [*NAMED, "--count", "n", "--concentration", 0.2, "--window", 10, "--quiet"]
    assert sparsemix("fit", mails, "-o", path, *IN_TIME, "--stream", *more) == 0
    settings = {"concentration": 0.2, "window": 10, "half_life": "2d", "binarize": 0.0, "random_state": 0}
    model = sm.StreamingTimeSensitiveMixture(**settings).fit(table)
    assert hash_of(path) == state_hash(model.to_payload())
    assert sparsemix("update", path, later, *READ) == 0
    model.partial_fit(sm.read_table(later, row="mail", feature="word", time="sent", count="n"))
    assert hash_of(path) == state_hash(model.to_payload())
    assert sparsemix("update", path, mails, *READ) == 1
    assert "must not go back, but row 0 is" in sparsemix.err
    assert "Sort the rows, or set --late clamp to count them" in sparsemix.err
    assert sparsemix("update", path, mails, *NAMED, "--count", "n") == 2
    assert "--time COLUMN" in sparsemix.err
    assert sparsemix("update", path, mails, *READ, "--late", "maybe") == 2
    assert "--late must be one of 'error', 'clamp'" in sparsemix.err
    assert hash_of(path) == state_hash(model.to_payload())
    assert sparsemix("update", path, mails, *READ, "--late", "clamp", "-o", tmp_path / "more.smx") == 0
    model.set_params(late="clamp").partial_fit(table)
    assert hash_of(tmp_path / "more.smx") == state_hash(model.to_payload())


@pytest.mark.parametrize("way", [[*FEW], ["--stream"]])
def test_what_the_other_commands_say(sparsemix, mails, table, tmp_path, way):
    path, out = tmp_path / "m.smx", tmp_path / "a.csv"
    assert (
        sparsemix("fit", mails, "-o", path, *NAMED, *IN_TIME, "--count", "n", "--concentration", 0.1, *way)
        == 0
    )
    assert "--time sent" in sparsemix.out  # of the command that it recommends
    model = sm.load_model(path)
    assert sparsemix("clusters", path, "--json") == 0
    found = json.loads(sparsemix.out)["clusters"]
    assert sorted(each["component"] for each in found) == model.component_ids_.tolist()
    assert sparsemix("assign", path, mails, "-o", out, *READ, "--quiet") == 0
    with out.open(newline="") as file:
        assigned = [int(line["cluster"]) for line in csv.DictReader(file)]
    assert assigned == model.predict(table).tolist()
    assert sparsemix("score", path, mails, *READ, "--json") == 0
    assert json.loads(sparsemix.out)["log_density_per_row"] == pytest.approx(model.score(table))
    assert sparsemix("suggest", path, "--keyword", "w1", "--json") == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "time-sensitive"], "needs the time of each row. Name its column: --time COLUMN"),
        (
            [*IN_TIME, "--half-life", "soon"],
            "--half-life must be a duration from 1e-50 to 1e+50 seconds, such as '90s', '15m', '12h', '3d' or '2w'",
        ),
        ([*IN_TIME, "--half-life", "0"], "but it is '0'.\n"),
        ([*IN_TIME, "--stream", "--half-life", "0d"], "but it is '0d'.\n"),
        ([*IN_TIME, "--half-life", "5"], "but it is '5'. Say which unit: 5s, 5h or 5d."),
        ([*IN_TIME, "--concentration", 0], "no cluster could begin; a small one, such as 1e-6"),
        ([*IN_TIME, "-k", 5], "--n-components is not for --model time-sensitive"),
        (
            [*IN_TIME, "--window", 5],
            "--window is not for --model time-sensitive without --stream. Add --stream, or leave it out.",
        ),
        ([*IN_TIME, "--init", "random"], "--init must be 'sequential', but it is 'random'.\n"),
        (
            [*IN_TIME, "--prior-mean", 0.2],
            "--prior-mean with --model time-sensitive is not for --family multinomial. Leave it out, or choose another",
        ),
        (
            [*IN_TIME, "--stream", "--prior-strength", 2],
            "--prior-strength with --model time-sensitive is not for",
        ),
        (
            [*IN_TIME, "--family", "bernoulli", "--smoothing", 0.2],
            "--smoothing with --model time-sensitive is not for --family bernoulli",
        ),
        ([*IN_TIME, "--stream", "--n-sweeps", 5], "--n-sweeps is not for --model time-sensitive --stream"),
        ([*IN_TIME, "--stream", "--learn"], "--learn is not for --model time-sensitive --stream"),
        ([*IN_TIME, "--family", "poisson"], "--family must be one of 'multinomial', 'bernoulli'"),
        (
            [*IN_TIME, "--binarize", 1],
            "--binarize with --model time-sensitive is not for --family multinomial",
        ),
        ([*IN_TIME, "--label", "mail"], "--label is not for --model time-sensitive"),
        ([*IN_TIME, "--batch-rows", 9], "--batch-rows is not for --model time-sensitive"),
        (
            [*IN_TIME, "--stream", "--checkpoint-every", 9],
            "--checkpoint-every is not for --model time-sensitive --stream",
        ),
        ([*IN_TIME, "--stream", "--resume"], "--resume is not for --model time-sensitive --stream"),
        (["--time", "sent"], "--time is for models of clusters in time only. Leave it out."),
        (["--model", "hashed-gibbs", "--time", "sent"], "--time is for models of clusters in time only"),
        (["--model", "gamma-poisson", "--time", "sent"], "--time is for models of clusters in time only"),
        (["--half-life", "3d"], "--half-life is not for --model online"),
        (["--stream"], "--stream is not for --model online"),
    ],
)
def test_what_is_refused(sparsemix, mails, tmp_path, options, message):
    assert sparsemix("fit", mails, "-o", tmp_path / "m.smx", *NAMED, *options) == 2
    assert message in sparsemix.err
    assert not (tmp_path / "m.smx").exists()


def test_a_model_in_time_asks_for_the_times(sparsemix, mails, tmp_path):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", mails, "-o", path, *NAMED, *IN_TIME, *FEW, "--count", "n") == 0
    for command in (("score",), ("assign", "-o", tmp_path / "a.csv"), ("report", "-o", tmp_path / "a.html")):
        assert sparsemix(command[0], path, mails, *NAMED, "--count", "n", *command[1:]) == 2
        assert "the model needs the time of each row. Name its column: --time COLUMN." in sparsemix.err
    assert sparsemix("update", path, mails, *READ) == 2
    assert "learns from all rows at once" in sparsemix.err


@pytest.mark.parametrize("way", [FEW, ["--stream"]])
def test_rows_that_cannot_be_learnt_are_named(sparsemix, mails, tmp_path, way):
    for change, message in (
        (
            lambda line: [line[0], "", *line[2:]],
            "error: --time must not be missing, but that of row 3 (1-3) is",
        ),
        (lambda line: [*line[:3], 99999999999], "there is 99999999999 in row 3 (1-3), column "),
    ):
        with mails.open(newline="") as file:
            lines = [change(line) if line[0] == "1-3" else line for line in csv.reader(file)]
        with (tmp_path / "odd.csv").open("w", newline="") as file:
            csv.writer(file).writerows(lines)
        odd = ["fit", tmp_path / "odd.csv", "-o", tmp_path / "m.smx", *NAMED, *IN_TIME, "--count", "n"]
        assert sparsemix(*odd, *way) == 1
        assert message in sparsemix.err


def test_other_models_have_neither_times_nor_late_rows(sparsemix, mails, tmp_path):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", mails, "-o", path, *NAMED, "--count", "n", "-k", 2) == 0
    for command in (
        ("score",),
        ("assign", "-o", tmp_path / "a.csv"),
        ("update",),
        ("report", "-o", tmp_path / "r.html"),
    ):
        assert sparsemix(command[0], path, mails, *READ, *command[1:]) == 2
        assert "--time is for models of clusters in time only. Leave it out." in sparsemix.err
    assert sparsemix("update", path, mails, *NAMED, "--count", "n", "--late", "clamp") == 2
    assert "--late is for streams of clusters in time only" in sparsemix.err


@pytest.mark.parametrize("more", [["--no-stream"], ["--learn", "--n-chains", 2]])
def test_ctrl_c_keeps_the_chains_and_resume_ends_at_the_same_bits(
    sparsemix, mails, tmp_path, monkeypatch, more
):
    path, whole = tmp_path / "m.smx", tmp_path / "whole.smx"
    command = [*NAMED, *IN_TIME, *FEW, "--count", "n", *more]
    assert sparsemix("fit", mails, "-o", whole, *command) == 0
    sweep, n_swept = Chain.sweep, 0

    def interrupted(chain):
        nonlocal n_swept
        n_swept += 1
        if n_swept == 4:
            signal.raise_signal(signal.SIGINT)
        return sweep(chain)

    with monkeypatch.context() as patch:
        patch.setattr(Chain, "sweep", interrupted)
        assert sparsemix("fit", mails, "-o", path, *command) == 130
    assert f"Stopped after 4 sweeps; what is learnt is saved in {path}. Go on with:" in sparsemix.err
    model = sm.load_model(path)
    assert not model.is_complete_
    assert len(model.learning_) + (model.moves_ >= 0).sum() == 4

    before = path.read_bytes()
    again = ["fit", mails, "-o", path, *command, "--resume"]
    assert sparsemix(*again, "--n-sweeps", 9) == 2
    assert "--n-sweeps must be 6 as in the interrupted run" in sparsemix.err
    assert sparsemix("fit", write(tmp_path / "other.csv", 3, 1), *again[2:]) == 1
    assert "the input has other rows or numbers than the run in the file" in sparsemix.err
    assert sparsemix("clusters", path) == 0
    assert sparsemix("score", path, mails, *READ) == 0
    assert path.read_bytes() == before

    assert sparsemix(*again) == 0
    assert f"Going on with the run in {path}, after 4 sweeps." in sparsemix.err
    assert hash_of(path) == hash_of(whole)
    assert sparsemix(*again) == 0
    assert f"All sweeps of the run in {path} are made; nothing is left to do." in sparsemix.err
    assert hash_of(path) == hash_of(whole)


def test_what_was_left_out_stays_out_when_a_run_goes_on(sparsemix, mails, tmp_path):
    path = tmp_path / "m.smx"
    command = ["fit", mails, "-o", path, *READ, "--model", "time-sensitive", *FEW]
    assert sparsemix(*command) == 0
    assert sparsemix(*command, "--resume", "--half-life", "9d") == 2
    assert (
        f"--half-life must be left out as in the interrupted run in {path}, but it is '9d'" in sparsemix.err
    )


def test_a_stream_is_no_run_to_go_on_with(sparsemix, mails, tmp_path):
    path, command = tmp_path / "m.smx", [*NAMED, *IN_TIME, "--count", "n"]
    assert sparsemix("fit", mails, "-o", path, *command, "--stream") == 0
    assert sparsemix("fit", mails, "-o", path, *command, *FEW, "--resume") == 2
    assert "holds a StreamingTimeSensitiveMixture, which this command cannot go on with" in sparsemix.err

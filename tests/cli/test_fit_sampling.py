"""`sparsemix fit --model hashed-gibbs`: sampling, runs that go on, and what the other commands say of such a model."""

import json

import pytest
from counted_texts import texts, write
from model_files import hash_of

import sparsemix as sm
from sparsemix.persistence import state_hash

slow = pytest.mark.slow  # compiles much: pytest -m slow tests/cli/test_fit_sampling.py

GIBBS = ["--model", "hashed-gibbs"]
SHORT = [*GIBBS, "-k", 6, "--n-sweeps", 8, "--burn-in", 3, "--thin", 2]
FEW = {"n_components": 6, "n_sweeps": 8, "burn_in": 3, "thin": 2}
SWEEP = "sparsemix.models.hashed_gibbs.engine.sweep_exact"
INTERRUPT = 2


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return write(tmp_path_factory.mktemp("texts") / "texts.csv", texts(own=0.7))


def made(**parameters):
    return sm.HashedGibbsMixture(**{"random_state": 0, "binarize": 0.0} | parameters)


@slow
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (SHORT, FEW),
        ([*GIBBS, "-k", 4, "--n-sweeps", 6], {"n_components": 4, "n_sweeps": 6, "burn_in": 3}),
        (
            [*SHORT, "--family", "poisson", "--proposal", "index", "--index-budget", 99, "--n-chains", 2],
            FEW | {"family": "poisson", "proposal": "index", "index_budget": 99, "n_chains": 2},
        ),
        (
            [*SHORT, "--family", "bernoulli", "--binarize", 1, "--prior-mean", 0.2, "--prior-strength", 3],
            FEW | {"family": "bernoulli", "binarize": 1.0, "prior_mean": 0.2, "prior_strength": 3.0},
        ),
        (
            [*SHORT, "--process", "dp", "--concentration", 2, "--discount", 0.1, "--init", "random"],
            FEW | {"process": "dp", "concentration": 2.0, "discount": 0.1, "init": "random"},
        ),
        (
            [*SHORT, "--proposal", "hash", "--n-bits", 64, "--raw", "--miss", 0.1, "--tempering", 0.5],
            FEW | {"proposal": "hash", "n_bits": 64, "raw": True, "miss": 0.1, "tempering": 0.5},
        ),
        (
            [*SHORT, "--weight-concentration", 0.1, "--smoothing", 0.3, "--seed", 5, "--n-jobs", 2],
            FEW | {"weight_concentration": 0.1, "smoothing": 0.3, "random_state": 5, "n_jobs": 2},
        ),
    ],
)
def test_the_file_holds_the_model_that_the_library_learns(
    sparsemix, documents, tmp_path, options, parameters
):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", documents, "-o", path, *options, "--quiet") == 0
    assert sparsemix.err == ""
    expected = made(**parameters).fit(sm.read_table(documents))
    assert hash_of(path) == state_hash(expected.to_payload())


@slow
def test_what_it_prints(sparsemix, documents, tmp_path):
    command = ["fit", documents, "-o", tmp_path / "m.smx", *SHORT, "--n-chains", 2]
    assert sparsemix(*command) == 0
    model = made(**FEW, n_chains=2).fit(sm.read_table(documents))
    last = model.log_joint_[:, -1]
    assert f"; log joint {last.max():,.0f} nats, 100.0% of the proposals accepted." in sparsemix.out
    assert sparsemix(*command, "--json", "--quiet") == 0
    found = json.loads(sparsemix.out)
    assert found["log_joint"] == last.tolist()
    assert found["acceptance_rate"] == model.acceptance_rate_
    assert found["n_clusters"] == model.labels_.max() + 1


@slow
def test_ctrl_c_keeps_the_chains_and_resume_ends_at_the_same_bits(sparsemix, documents, program, tmp_path):
    path, whole = tmp_path / "m.smx", tmp_path / "whole.smx"
    command = [*SHORT, "--n-chains", 2]
    assert sparsemix("fit", documents, "-o", whole, *command) == 0
    call = 11 + 2  # each chain makes one for its start
    run = program("fit", documents, "-o", path, *command, target=SWEEP, call=call, number=INTERRUPT)
    assert run.returncode == 130
    assert f"Stopped after 11 sweeps; what is learnt is saved in {path}. Go on with:" in run.stderr
    assert run.stderr.splitlines()[-1].endswith(" --n-chains 2 --resume")
    model = sm.load_model(path)
    assert not model.is_complete_
    assert len(model.draws_) == 3 + 0

    before = path.read_bytes()
    for options, message in (
        (["--n-sweeps", 9], "--n-sweeps must be 8 as in the interrupted run"),
        (["--seed", 3], "--seed must be 0 as in the interrupted run"),
    ):
        assert sparsemix("fit", documents, "-o", path, *command, *options, "--resume") == 2
        assert message in sparsemix.err
    other = write(tmp_path / "other.csv", texts(30))
    assert sparsemix("fit", other, "-o", path, *command, "--resume") == 1
    assert "the input has other keywords or rows than the run in the file" in sparsemix.err
    assert sparsemix("update", path, documents) == 2
    assert "holds a run that was interrupted. Go on with it first" in sparsemix.err
    assert path.read_bytes() == before
    assert sparsemix("clusters", path) == 0

    assert sparsemix("fit", documents, "-o", path, *command, "--resume") == 0
    assert f"Going on with the run in {path}, after 11 sweeps." in sparsemix.err
    assert hash_of(path) == hash_of(whole)
    assert sparsemix("fit", documents, "-o", path, *command, "--resume") == 0
    assert f"All sweeps of the run in {path} are made; nothing is left to do." in sparsemix.err
    assert hash_of(path) == hash_of(whole)


@slow
@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
def test_the_other_commands_know_the_model(sparsemix, documents, tmp_path, family):
    path, out = tmp_path / "m.smx", tmp_path / "out.csv"
    assert sparsemix("fit", documents, "-o", path, *SHORT, "--family", family) == 0
    model, rows = sm.load_model(path), sm.read_table(documents)
    assert sparsemix("clusters", path, "--json") == 0
    assert len(json.loads(sparsemix.out)["clusters"]) == model.component_ids_.size
    assert sparsemix("suggest", path, "--keyword", "sport 1", "-n", 2, "--json") == 0
    expected = [each.feature for each in model.suggest(["sport 1"], n=2)]
    assert [each["keyword"] for each in json.loads(sparsemix.out)["suggestions"]] == expected
    assert sparsemix("assign", path, documents, "-o", out) == 0
    clusters = [int(line.split(",")[1]) for line in out.read_text().splitlines()[1:]]
    assert clusters == model.predict(rows).tolist()
    assert sparsemix("score", path, documents, "--json") == 0
    assert json.loads(sparsemix.out)["log_density_per_row"] == pytest.approx(model.score(rows))
    assert sparsemix("report", path, documents, "-o", tmp_path / "r.html") == 0
    assert "None" not in (tmp_path / "r.html").read_text()
    assert sparsemix("update", path, documents, "--quiet") == 0
    assert sm.load_model(path).n_rows_seen_ == 2 * len(rows)


@slow
def test_compare_has_all_models_by_default(sparsemix, documents):
    assert sparsemix("compare", documents, "-k", 3, "--no-memory") == 0
    names = [line.split(",")[0] for line in sparsemix.out.splitlines()[1:]]
    assert names == ["online", "multinomial", "bernoulli-em", "hashed-gibbs"]
    assert "Scores of counts (multinomial and hashed-gibbs) and of presence cannot" in sparsemix.err
    assert sparsemix("compare", documents, "-k", 3, "--no-memory", *GIBBS, "--model", "multinomial") == 0
    assert "cannot be compared" not in sparsemix.err


def test_a_run_in_a_file_knows_its_process(sparsemix, documents, tmp_path):
    command = ["fit", documents, "-o", tmp_path / "m.smx", *SHORT]
    assert sparsemix(*command, "--process", "dp", "--discount", 0.1) == 0
    assert sparsemix(*command, "--discount", 0.1, "--resume") == 0
    assert sparsemix(*command, "--weight-concentration", 1, "--resume") == 2
    assert "--weight-concentration with --model hashed-gibbs is not for --process dp" in sparsemix.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "topic"], "--label is not for --model hashed-gibbs"),
        (["--batch-rows", 9], "--batch-rows is not for --model hashed-gibbs"),
        (["--binarize", 1], "--binarize with --model hashed-gibbs is not for --family multinomial"),
        (["--clutter"], "--clutter is not for --model hashed-gibbs"),
        (
            ["--prior-mean", 0.2],
            "--prior-mean with --model hashed-gibbs is not for --family multinomial. Leave it out",
        ),
        (
            ["--family", "gaussian", "--prior-strength", 2],
            "--prior-strength with --model hashed-gibbs is not for",
        ),
        (
            ["--family", "poisson", "--smoothing", 1],
            "--smoothing with --model hashed-gibbs is not for --family poisson",
        ),
        (["--max-iter", 3], "--max-iter is not for --model hashed-gibbs"),
        (["--burn-in", 40], "--burn-in must be an integer from 0 to one less than --n-sweeps, which is 39"),
        (["--proposal", "hash", "--n-bits", 100], "--n-bits must be 64, 128"),
        (["--proposal", "hash", "--tempering", 2], "--tempering must be a number in (0, 1]"),
        (["--smoothing", 0], "--smoothing must be "),
        (["--proposal", "table"], "--proposal must be one of 'auto', 'exact'"),
        (["--family", "gamma"], "--family must be "),
    ],
)
def test_errors(sparsemix, documents, tmp_path, options, message):
    assert sparsemix("fit", documents, "-o", tmp_path / "m.smx", *GIBBS, *options, "--quiet") == 2
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1
    assert not (tmp_path / "m.smx").exists()


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ("--concentration 2", "--process finite. Leave it out, or choose --process dp."),
        ("--discount 0.1", "--process finite. Leave it out, or choose --process dp."),
        ("--weight-concentration 2 --process dp", "--process dp. Leave it out, or choose --process finite."),
        ("--raw", "--proposal auto. Leave it out, or choose --proposal hash."),
        ("--no-raw", "--proposal auto. Leave it out, or choose --proposal hash."),
        ("--miss 0.1 --proposal exact", "--proposal exact. Leave it out, or choose --proposal hash."),
        ("--n-bits 256 --proposal index", "--proposal index. Leave it out, or choose --proposal hash."),
        ("--tempering 1", "--proposal auto. Leave it out, or choose --proposal hash."),
        (
            "--index-budget 9 --proposal hash,exact",
            "--proposal hash,exact. Leave it out, or choose --proposal index.",
        ),
        (
            "--index-budget 9 --family gaussian",
            "--family gaussian. Leave it out, or choose another --family.",
        ),
    ],
)
def test_options_without_effect(sparsemix, documents, tmp_path, options, remedy):
    assert sparsemix("fit", documents, "-o", tmp_path / "m.smx", *GIBBS, *options.split()) == 2
    option = options.split()[0].replace("--no-", "--")
    assert sparsemix.err == f"sparsemix: error: {option} with --model hashed-gibbs is not for {remedy}\n"


@pytest.mark.parametrize("option", ["--family poisson", "--n-sweeps 3", "--raw", "--thin 1"])
def test_its_options_are_for_no_other_model(sparsemix, documents, tmp_path, option):
    for kind in ("online", "multinomial"):
        command = ["fit", documents, "-o", tmp_path / "m.smx", "--model", kind, *option.split()]
        assert sparsemix(*command) == 2
        assert f"{option.split()[0]} is not for --model {kind}. Leave it out." in sparsemix.err

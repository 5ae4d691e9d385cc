"""`sparsemix fit --model hashed-gibbs --family gaussian`: tables of real numbers, and what the other commands say."""

import json

import numpy as np
import pytest

import sparsemix as sm
from sparsemix.data.number_tables import read_numbers
from sparsemix.persistence import read_payload, state_hash

slow = pytest.mark.slow  # compiles much: pytest -m slow tests/cli/test_real_numbers.py

GAUSS = ["--model", "hashed-gibbs", "--family", "gaussian"]
SHORT = [*GAUSS, "-k", 5, "--n-sweeps", 6, "--thin", 2]
N_ROWS = 90


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def flats(tmp_path_factory):
    rng = np.random.default_rng(4)
    kind = rng.integers(2, size=N_ROWS)
    size, price = rng.normal(20.0 + 25.0 * kind, 3.0), rng.normal(900.0 - 500.0 * kind, 50.0)
    lines = [f"f{i},{size[i]:.3f},{price[i]:.2f},{'ab'[kind[i]]}" for i in range(N_ROWS)]
    path = tmp_path_factory.mktemp("flats") / "flats.csv"
    return write(path, "\n".join(["flat_id,size,price,kind", *lines]) + "\n")


@pytest.fixture(scope="module")
def fitted(flats, tmp_path_factory):
    from sparsemix.cli import main

    path = tmp_path_factory.mktemp("model") / "m.smx"
    arguments = ["fit", flats, "-o", path, *SHORT, "--feature", "size,price", "--quiet", "--json"]
    assert main([str(each) for each in arguments]) == 0
    return path


@slow
@pytest.mark.parametrize("family", ["gaussian", "gaussian_full"])
@pytest.mark.parametrize("proposal", ["exact", "hash"])
def test_the_file_holds_the_model_that_the_library_learns(sparsemix, flats, tmp_path, family, proposal):
    path = tmp_path / "m.smx"
    form = {"n_bits": 64} if proposal == "hash" else {}
    options = ["--family", family, "--proposal", proposal, "--feature", "size,price"]
    options += ["--n-bits", 64] if form else []
    assert sparsemix("fit", flats, "-o", path, *SHORT, *options, "--smoothing", 0.2) == 0
    assert sparsemix.err.startswith("Guessed --row 'flat_id' for ")
    parameters = {"n_components": 5, "n_sweeps": 6, "burn_in": 3, "thin": 2, "smoothing": 0.2}
    table = read_numbers(str(flats), features=["size", "price"])
    model = sm.HashedGibbsMixture(
        family=family, proposal=proposal, random_state=0, binarize=0.0, **parameters, **form
    ).fit(table)
    assert state_hash(read_payload(path)) == state_hash(model.to_payload())
    assert f"{N_ROWS} rows with 2 features in {model.weights_.size} clusters; log joint" in sparsemix.out
    assert "suggest" not in sparsemix.out
    assert f"size {model.means_[0, 0]:.4g}" in sparsemix.out


@slow
def test_the_other_commands_know_the_model(sparsemix, flats, fitted, tmp_path):
    model, table = sm.load_model(fitted), read_numbers(str(flats), features=["size", "price"])
    assert sparsemix("clusters", fitted) == 0
    assert "means of features" in sparsemix.out
    assert sparsemix("clusters", fitted, "--component", 0) == 0
    mean = model.means_[0]
    assert "probability" not in sparsemix.out
    assert f"{mean[0]:.4g}" in sparsemix.out
    out = tmp_path / "out.csv"
    assert sparsemix("assign", fitted, flats, "-o", out, "--batch-rows", 40) == 0
    lines = [line.split(",") for line in out.read_text().splitlines()[1:]]
    assert [line[0] for line in lines] == [f'"f{i}"' for i in range(N_ROWS)]
    assert [int(line[1]) for line in lines] == model.predict(table).tolist()
    assert sparsemix("score", fitted, flats, "--json") == 0
    found = json.loads(sparsemix.out)
    assert found["values"] == 2 * N_ROWS
    assert found["log_density_per_row"] == pytest.approx(model.score(table))
    assert found["log_density_per_value"] == pytest.approx(model.score(table) / 2)
    assert sparsemix("report", fitted, flats, "-o", tmp_path / "r.html") == 0
    page = (tmp_path / "r.html").read_text()
    assert "None" not in page
    assert "Clusters and their features" in page
    assert sparsemix("suggest", fitted, "--keyword", "size") == 2
    assert "holds a model of real numbers, which knows no keywords to suggest" in sparsemix.err


@slow
def test_update_lets_rows_enter(sparsemix, flats, fitted, tmp_path):
    path = tmp_path / "new.smx"
    assert sparsemix("update", fitted, flats, "-o", path) == 0
    assert sparsemix.out.startswith(f"Learnt {N_ROWS} rows.\nRows: {N_ROWS} before, {2 * N_ROWS} now.\n")
    assert "looks like" not in sparsemix.err
    model = sm.load_model(fitted)
    model.partial_fit(read_numbers(str(flats), features=["size", "price"]))
    assert state_hash(read_payload(path)) == state_hash(model.to_payload())


@slow
def test_compare_has_families(sparsemix, flats):
    families = ["--family", "gaussian", "--family", "gaussian_full", "--label", "kind", "-k", 3]
    assert sparsemix("compare", flats, *families, "--no-memory", "--json") == 0
    found = json.loads(sparsemix.out)
    names = [each["name"] for each in found["models"]]
    assert names == ["hashed-gibbs gaussian, k=3", "hashed-gibbs gaussian_full, k=3"]
    assert found["agreement_with"] == "labels"
    for each in found["models"]:
        assert each["per_token"] == pytest.approx(each["per_row"] / 2)
        assert each["nmi"] > 0.5
    assert sparsemix("compare", flats, *families, "--no-memory") == 0
    assert "a value" in sparsemix.out


@slow
def test_a_table_that_is_not_the_models(sparsemix, fitted, tmp_path):
    other = write(tmp_path / "other.csv", "size,rent\n1,2\n")
    for command in (["assign", "-o", tmp_path / "o.csv"], ["score"], ["update"]):
        name, *options = command
        assert sparsemix(name, fitted, other, *options) == 1
        assert (
            "the table lacks columns that the model has learnt: 'price'; it has 'size', 'rent'."
            in sparsemix.err
        )
    wrong = write(tmp_path / "wrong.csv", "price,size\n1,2\n3,\n")
    assert sparsemix("score", fitted, wrong) == 1
    assert "wrong.csv, line 3: 'size' must be a finite number, but it is ''" in sparsemix.err
    empty = write(tmp_path / "empty.csv", "price,size\n")
    assert sparsemix("score", fitted, empty) == 1
    assert "there is no row to score" in sparsemix.err
    words = write(tmp_path / "words.dat", "red blue\n")
    assert sparsemix("score", fitted, words) == 2
    assert "has no columns of real numbers, as its format is 'baskets'" in sparsemix.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--count", "size"], 2, "--count is not for tables of real numbers. Leave it out"),
        (["--delimiter", ";"], 2, "--delimiter is not for tables of real numbers"),
        (["--time", "size"], 2, "--time is not for tables of real numbers"),
        (["--min-rows-per-feature", 2], 2, "--min-rows-per-feature is not for tables of real numbers"),
        (["--label", "kind"], 2, "--label is not for --model hashed-gibbs"),
        (["--binarize", 1], 2, "--binarize with --model hashed-gibbs is not for --family gaussian"),
        (["--proposal", "index"], 2, "--proposal must be one of 'auto', 'exact', 'hash', or several"),
        (["--row", "flat"], 2, "--row must be one of the columns"),
        (["--feature", "size,prise"], 2, "--feature must be one of the columns"),
        (["--feature", "size,size"], 2, "--feature must be columns without any other use, each once"),
        (["--feature", "size,kind"], 1, "'kind' must be a finite number, but it is "),
        ([], 1, "name those that are with --feature, or the column of ids with --row."),
        (["--smoothing", 0], 2, "--smoothing must be "),
    ],
)
def test_errors(sparsemix, flats, tmp_path, options, code, message):
    named = [] if "--feature" in options or not options else ["--feature", "size,price"]
    command = ["fit", flats, "-o", tmp_path / "m.smx", *GAUSS, *named, *options, "--quiet"]
    assert sparsemix(*command) == code
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1
    assert not (tmp_path / "m.smx").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size\n", "there is no row to learn"),
        ("size\n1\nNaN\n", "line 3: 'size' must be a finite number, but it is 'NaN'"),
        ("size\n1\n-inf\n", "line 3: 'size' must be a finite number, but it is '-inf'"),
        ("size\n1\n1e31\n", "must hold finite numbers, at most 1e+30 in size, but column 'size' of row 1"),
        ("", "is empty"),
    ],
)
def test_hostile_tables(sparsemix, tmp_path, text, message):
    path = write(tmp_path / "t.csv", text)
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *GAUSS, "--quiet") == 1
    assert message in sparsemix.err
    assert not (tmp_path / "m.smx").exists()


@slow
def test_a_first_line_of_numbers_is_told(sparsemix, tmp_path):
    path = write(tmp_path / "t.csv", "".join(f"{i}.5,{i % 3}\n" for i in range(40)))
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *SHORT) == 0
    assert "All names of columns are numbers. If the first line is no header" in sparsemix.err
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *SHORT, "--columns", "size,price") == 0
    assert "All names" not in sparsemix.err
    assert "40 rows with 2 features" in sparsemix.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "online", "--family", "gaussian"], "--family is for --model hashed-gibbs only"),
        (["--family", "gaussian", "--family", "poisson"], "takes real numbers and "),
        (["--model", "online", "--model", "hashed-gibbs", "--family", "gaussian"], "takes real numbers and "),
    ],
)
def test_comparisons_that_cannot_be(sparsemix, flats, options, message):
    assert sparsemix("compare", flats, *options) == 2
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1


def test_no_other_model_takes_them(sparsemix, flats, tmp_path):
    command = [
        "fit",
        flats,
        "-o",
        tmp_path / "m.smx",
        "--family",
        "gaussian",
        "--model",
        "time-sensitive",
        "--time",
        "size",
        "--row",
        "flat_id",
        "--feature",
        "kind",
    ]
    assert sparsemix(*command) == 2
    assert "--family" in sparsemix.err

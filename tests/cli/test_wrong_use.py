"""Whatever is asked for, the answer is one line: exit code 2 for the command line, 1 for what is in the files."""

import json
import re

import pytest

SUFFIXES = ["csv", "tsv", "parquet", "jsonl", "npz", "mtx", "svm", "dat", "csv.gz"]


@pytest.fixture(scope="module")
def place(table, model, tmp_path_factory):
    """A folder with good and bad files, in which the commands run."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "ads.csv").write_bytes(table.read_bytes())
    (folder / "m.smx").write_bytes(model.read_bytes())
    (folder / "cut.smx").write_bytes(model.read_bytes()[:3_000])
    (folder / "odd.csv").write_text("a,b,c\n1,2,3\n")
    (folder / "semi.csv").write_text("ad;keyword\n1;mouse\n")
    (folder / "new.csv").write_text("ad,keyword\n1,yak wool\n2,yak\n")
    (folder / "bare.csv").write_text("ad,keyword\n")
    (folder / "counts.csv").write_text("ad,keyword,n\n1,mouse,many\n1,pad,2\n")
    (folder / "empty.csv").touch()
    (folder / "folder").mkdir()
    (folder / "notes.txt").write_text("notes")
    for suffix in SUFFIXES:
        (folder / f"noise.{suffix}").write_bytes(bytes((7 * i * i + 3 * i) % 251 for i in range(5, 3_000)))
    return folder


USAGE = [
    ("fit ads.csv", "Missing option '--output'"),
    ("fit -o x.smx", "Missing argument 'INPUT'"),
    ("fit ads.csv ads.csv -o x.smx", "unexpected extra argument"),
    ("fit ads.csv -o x.smx --keyword a", "No such option: --keyword"),
    ("fit ads.csv -o x.smx -k 0", "'-k'"),
    ("fit ads.csv -o x.smx -k 3.5", "'-k'"),
    ("fit ads.csv -o x.smx -k 99999999999", "--n-components must be"),
    ("fit ads.csv -o x.smx --seed 4294967296", "--seed must be at most 4294967295, but it is 4294967296."),
    ("fit ads.csv -o x.smx --binarize nan", "--binarize must be at least 0, but it is nan."),
    ("fit ads.csv -o x.smx --checkpoint-every 0", "--checkpoint-every must be "),
    ("fit ads.csv -o x.smx --row ad", "--row must be one of the columns"),
    ("fit ads.csv -o x.smx --feature ''", "--feature must be one of the columns"),
    ("fit ads.csv -o x.smx --label topic", "--label must be one of the columns"),
    ("fit ads.csv -o x.smx --label advertiser -k 2", "--label has"),
    ("fit odd.csv -o x.smx", "no one obvious choice for --row and --feature"),
    ("fit odd.csv -o x.smx --row a", "no one obvious choice for --feature"),
    ("fit odd.csv -o x.smx --feature b", "no one obvious choice for --row"),
    ("fit semi.csv -o x.smx", "pass --separator ';'"),
    ("fit ads.csv -o x.smx --min-rows-per-feature 99999", "lower --min-rows-per-feature"),
    ("fit ads.csv -o x.smx --max-features-per-row 1 --min-rows-per-feature 200", "the filters leave no row"),
    ("fit ads.csv -o x.smx --columns a,b", "--columns must name 3 columns"),
    ("fit ads.csv -o x.smx --columns ''", "it names none"),
    ("fit ads.csv -o x.smx --format xls", "--format must be one of"),
    ("fit ads.csv -o x.smx --separator ';;'", "--separator must be one ASCII character"),
    ("fit ads.csv -o x.smx --quote ''", "--quote must be one ASCII character"),
    ("fit ads.csv -o x.smx --delimiter ''", "--delimiter must be"),
    ("fit noise.parquet -o x.smx --columns a,b", "--columns must be left out for parquet"),
    ("fit ads.csv -o m.smx --resume -k 7", "--n-components must be 25"),
    ("fit ads.csv -o cut.smx --resume", "'cut.smx' exists and is not a model file"),
    ("fit m.smx -o x.smx", "'m.smx' is a model, not a table"),
    ("fit '' -o x.smx", "the name of the table is empty"),
    ("profile", "Missing argument 'INPUT'"),
    ("profile ads.csv --feature", "requires an argument"),
    ("profile ads.csv --row keyword --feature keyword", "--row must be another column than --feature"),
    ("profile m.smx", "'sparsemix clusters m.smx' shows"),
    ("assign ads.csv m.smx -o x.csv", "wants MODEL first, then INPUT"),
    ("assign m.smx ads.csv -o x.xlsx", "ends in .parquet or .csv"),
    ("assign m.smx ads.csv", "Missing option '--output'"),
    ("assign m.smx ads.csv -o x.csv --batch-rows none", "--batch-rows must be an integer, but it is 'none'."),
    ("score ads.csv m.smx", "wants MODEL first, then INPUT"),
    ("score m.smx", "Missing argument 'INPUT'"),
    ("update ads.csv m.smx", "wants MODEL first, then INPUT"),
    ("update m.smx m.smx", "is a model, not a table"),
    ("report ads.csv m.smx -o x.html", "wants MODEL first, then INPUT"),
    ("report m.smx -o x.html -n 0", "-n must be at least 1, but it is 0."),
    ("report m.smx -o x.html --level 1", "--level must be above 0 and below 1"),
    ("clusters m.smx --level 0", "--level must be above 0 and below 1"),
    ("clusters m.smx --level nan", "--level must be above 0 and below 1, but it is nan"),
    ("clusters m.smx --component 99", "--component must be one of"),
    ("clusters m.smx --by size", "--by must be one of 'evidence', 'mean', 'lift', but it is 'size'."),
    ("clusters m.smx extra", "unexpected extra argument"),
    ("suggest m.smx --keyword mouse --level 1.5", "--level must be above 0 and below 1, but it is 1.5"),
    ("suggest m.smx", "Give at least one --keyword"),
    ("suggest m.smx --reject mouse", "Give at least one --keyword"),
    ("suggest m.smx --keyword ''", "does not know ''"),
    ("suggest m.smx --keyword Mouse", "did you mean 'mouse'?"),
    ("suggest m.smx --keyword mouse --reject mouse", "--reject must be free of accepted features"),
    ("suggest m.smx --keyword mouse --completeness 2", "--completeness must be "),
    ("suggest m.smx --ad ad-00001", "--ad and --input belong together"),
    ("suggest m.smx --input ads.csv", "--ad and --input belong together"),
    ("suggest m.smx --ad nobody --input ads.csv", "has no row 'nobody'"),
    ("suggest m.smx --ad 1 --input m.smx", "is a model, not a table"),
    ("demo --ads 5", "--ads must be "),
    ("demo --ads 99999999999", "--ads must be at most 5000000, but it is 99999999999."),
    ("demo --out notes.txt", "'notes.txt' is a file"),
]
TROUBLE = [
    ("fit bare.csv -o x.smx", "there is no row to learn"),
    ("fit bare.csv -o x.smx --min-rows-per-feature 2", "there is no row to learn"),
    ("fit counts.csv -o x.smx --count n", "counts.csv, line 2: --count n must be a whole number >= 0"),
    ("fit counts.csv -o x.smx", "counts.csv, line 2: --count must be a whole number >= 0"),
    ("fit bare.csv -o m.smx --resume", "the input has only 0"),
    ("profile notes.txt", "pass --format, one of parquet"),
    ("profile ads.csv --format parquet", "no Parquet file"),
    ("assign m.smx new.csv -o x.csv", "the model knows none of 2 keywords of the table: 'yak wool', 'yak'."),
    ("score m.smx new.csv", "Check that --feature is the column"),
    ("report m.smx new.csv -o x.html", "Check that --feature is the column"),
    ("score m.smx bare.csv", "there is no row to score"),
    ("report m.smx bare.csv -o x.html", "there is no row to report on"),
    ("suggest m.smx --ad 1 --input new.csv", "knows no keyword of row '1'"),
]
PLACES = {"fit": "fit {} -o x.smx", "profile": "profile {}", "assign": "assign m.smx {} -o x.csv"}
PLACES |= {"update": "update m.smx {}", "score": "score m.smx {}", "report": "report m.smx {} -o x.html"}
PLACES |= {"suggest": "suggest m.smx --ad 1 --input {}"}
MODELS = ["clusters {}", "suggest {} --keyword mouse", "assign {} ads.csv -o x.csv", "update {} ads.csv"]
MODELS += ["score {} ads.csv", "report {} -o x.html", "report {} ads.csv -o x.html"]


def words(line):
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", line)]


def times(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def check(sparsemix, place, monkeypatch, line, code, message):
    monkeypatch.chdir(place)
    command, *rest = words(line)
    before = times(place)
    for more in ([], ["--json"]):
        if more and line.startswith("demo"):
            continue
        assert sparsemix(command, *more, *rest) == code, sparsemix.err
        last = sparsemix.err.splitlines()[-1]
        assert last.startswith("sparsemix: error: ")
        assert message in last
        assert "fault of sparsemix" not in last
        assert ".." not in last.replace("...", "")
        assert "Traceback" not in sparsemix.err
        assert sparsemix.out == ""
    assert times(place) == before


@pytest.mark.parametrize(("line", "message"), USAGE)
def test_a_wrong_command_line_is_2(sparsemix, place, monkeypatch, line, message):
    check(sparsemix, place, monkeypatch, line, 2, message)


@pytest.mark.parametrize(("line", "message"), TROUBLE)
def test_trouble_with_data_is_1(sparsemix, place, monkeypatch, line, message):
    check(sparsemix, place, monkeypatch, line, 1, message)


@pytest.mark.parametrize("command", PLACES)
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("absent.csv", "absent.csv does not exist"),
        ("'absent/*.csv'", "No file matches absent/*.csv"),
        ("folder", "Folder folder holds no file of a known format"),
        ("empty.csv", "empty.csv is empty"),
        *((f"noise.{suffix}", f"noise.{suffix}") for suffix in SUFFIXES),
    ],
)
def test_tables_that_are_none_are_1(sparsemix, place, monkeypatch, command, source, message):
    check(sparsemix, place, monkeypatch, PLACES[command].format(source), 1, message)


@pytest.mark.parametrize("line", MODELS)
@pytest.mark.parametrize(
    "file", ["absent.smx", "folder", "empty.csv", "cut.smx", "notes.txt", "ads.csv", "noise.npz"]
)
def test_models_that_are_none_are_1(sparsemix, place, monkeypatch, line, file):
    check(sparsemix, place, monkeypatch, line.format(file), 1, f"cannot read the model file '{file}'")


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("profile ads.csv", "sparsemix.data.read_table"),
        ("fit ads.csv -o x.smx", "sparsemix.data.read_table"),
        ("fit ads.csv -o x.smx --batch-rows 100", "sparsemix.data.iter_batches"),
        ("update m.smx ads.csv", "sparsemix.data.iter_batches"),
        ("assign m.smx ads.csv -o x.csv", "sparsemix.data.iter_batches"),
        ("score m.smx ads.csv", "sparsemix.data.iter_batches"),
        ("report m.smx ads.csv -o x.html", "sparsemix.reporting.summary.assign"),
        ("clusters m.smx", "sparsemix.model_io.load_model"),
        ("suggest m.smx --ad ad-00001 --input ads.csv", "sparsemix.data.iter_batches"),
    ],
)
def test_ctrl_c_is_130(sparsemix, place, monkeypatch, line, target):
    def stop(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(target, stop)
    check(sparsemix, place, monkeypatch, line, 130, "stopped; no file is left half written.")


@pytest.mark.parametrize(
    "line",
    [
        "profile ads.csv",
        "profile bare.csv",
        "fit ads.csv -o y.smx -k 3",
        "clusters m.smx",
        "clusters m.smx --component 0",
        "suggest m.smx --keyword mouse",
        "suggest m.smx --ad ad-00001 --input ads.csv",
        "assign m.smx ads.csv -o y.csv",
        "assign m.smx bare.csv -o y.csv",
        "update m.smx ads.csv -o y.smx",
        "update m.smx bare.csv -o y.smx",
        "score m.smx ads.csv",
        "report m.smx -o y.html",
        "report m.smx ads.csv -o y.html",
    ],
)
def test_json_is_json(sparsemix, place, monkeypatch, line):
    def refuse(text):
        pytest.fail(f"{text} is no JSON")

    monkeypatch.chdir(place)
    assert sparsemix(*words(line), "--json") == 0
    assert isinstance(json.loads(sparsemix.out, parse_constant=refuse), dict)
    assert sparsemix(*words(line), "--json", *(["--quiet"] if not line.startswith("clusters") else [])) == 0
    assert sparsemix.err == ""

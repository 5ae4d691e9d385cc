"""Every command takes every model, or says in one line what to do instead; a file is changed by `update` alone."""

import pandas as pd
import pytest
from contract_models import COUNTS, LETTERS, SUBJECTS

from sparsemix import save_model
from sparsemix.cli import main

OF_CLUSTERS = ("clusters", "report", "suggest", "assign")
WITHOUT_CLUSTERS = ("gamma-poisson-factors", "click-rate-model", "bayesian-nmf")
GOES_ON = (
    "online-bernoulli-mixture", "hashed-gibbs-mixture", "streaming-time-sensitive-mixture", "gamma-poisson-factors",
)  # fmt: skip
REFUSALS = {
    **{(command, kind): "which has no clusters" for command in OF_CLUSTERS for kind in WITHOUT_CLUSTERS},
    **{("update", kind): "cannot learn more" for kind in SUBJECTS if kind not in GOES_ON},
    **{("ctr", kind): "which knows no click rates" for kind in SUBJECTS if kind != "click-rate-model"},
    ("score", "bayesian-nmf"): "cannot score rows",
}


@pytest.fixture
def tables(tmp_path):
    """Paths of a table of counts with times, and of one of events."""
    rows, columns = COUNTS.nonzero()
    counts = pd.DataFrame({"row": rows, "feature": [LETTERS[each] for each in columns]})
    counts.assign(count=COUNTS[rows, columns], time=1_000 + rows).to_csv(tmp_path / "counts.csv", index=False)
    SUBJECTS["click-rate-model"].rows.to_csv(tmp_path / "events.csv", index=False)
    return tmp_path / "counts.csv", tmp_path / "events.csv"


def command_line(command, subject, path, tables):
    has_events = subject.kind == "click-rate-model"
    columns = [] if has_events else ["--row", "row", "--feature", "feature"]
    columns += [] if has_events or "bernoulli" in subject.kind else ["--count", "count"]
    columns += ["--time", "time"] if subject.has_times else []
    table = [tables[has_events], *columns]
    rest = {
        "clusters": [],
        "report": [*table, "-o", path.with_suffix(".html")],
        "suggest": ["--keyword", "a"],
        "assign": [*table, "-o", path.with_suffix(".csv")],
        "score": table,
        "update": table,
        "ctr": ["--user", "1", "--ad", "ad1"],
    }
    return [str(each) for each in (command, path, *rest[command])]


@pytest.mark.parametrize("command", ["clusters", "report", "suggest", "assign", "score", "update", "ctr"])
def test_commands_work_or_say_what_to_do(subject, command, tables, tmp_path, capsys):
    path = tmp_path / "model.smx"
    save_model(subject.named(), path)
    before = path.read_bytes()
    code = main(command_line(command, subject, path, tables))
    refusal = REFUSALS.get((command, subject.kind))
    printed = capsys.readouterr()
    assert code == (2 if refusal else 0), printed.err
    if refusal:
        assert refusal in printed.err
        assert printed.err.startswith("sparsemix: error: ")
        assert printed.err.count("\n") == 1
        assert not path.with_suffix(".html").exists()
        assert not path.with_suffix(".csv").exists()
    assert (path.read_bytes() != before) == (command == "update" and not refusal)

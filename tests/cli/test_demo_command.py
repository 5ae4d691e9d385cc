"""`sparsemix demo` does the whole job on ads that it makes up, and without a network."""

import contextlib
import io
import re
import shlex
import socket
from types import SimpleNamespace

import numpy as np
import pytest

import sparsemix as sm
from sparsemix.cli import first_run, main
from sparsemix.cli.demo import TOPICS, make_demo_ads


def refuse(*_args, **_kwargs):
    pytest.fail("the demo opened a socket")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder of a demo that had no network, and what it printed."""
    folder, printed = tmp_path_factory.mktemp("demo") / "my demo", io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(socket.socket, "connect", refuse)
        assert main(["demo", "--out", str(folder), "--ads", "1200", "--quiet"]) == 0
    return folder, printed.getvalue()


def commands_in(text):
    return [shlex.split(line) for line in text.splitlines() if line.startswith("   sparsemix")]


def test_the_whole_demo(demo):
    folder, shown = demo
    assert sorted(each.name for each in folder.iterdir()) == ["demo_ads.csv", "demo_ads.smx", "report.html"]
    assert [int(number) for number in re.findall(r"^(\d)\. ", shown, re.M)] == [1, 2, 3, 4, 5, 6]
    assert "sparsemix fit your_ads.csv -o your_ads.smx" in shown
    model = sm.load_model(folder / "demo_ads.smx")
    assert model.n_rows_seen_ == 1_200
    assert "Demo ads" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_commands_that_it_names_do_what_it_did(sparsemix, demo):
    folder, shown = demo
    before = (folder / "demo_ads.smx").read_bytes()
    commands = commands_in(shown)
    assert [command[1] for command in commands] == ["profile", "fit", "suggest", "suggest", "report"]
    for command in commands:
        assert sparsemix(*command[1:]) == 0
        if command[1] in {"profile", "suggest"}:
            lines = [" ".join(line.split()) for line in shown.splitlines()]
            table = [" ".join(line.split()) for line in sparsemix.out.splitlines() if line.strip()]
            new = [line for line in table if line not in lines]
            assert [line for line in new if not line.startswith(("For an ad with", str(folder)))] == []
    assert len((folder / "demo_ads.smx").read_bytes()) == len(before)


def test_the_second_suggestions_follow_the_answer(demo):
    folder, shown = demo
    accepted, rejected = re.search(r"takes '(.+)' and turns down '(.+)'", shown).groups()
    assert accepted in TOPICS["programming courses"]
    assert rejected in TOPICS["reptiles and aquariums"]
    model = sm.load_model(folder / "demo_ads.smx")
    found = {each.feature for each in model.suggest(["python", accepted], [rejected], n=8)}
    assert len(found & set(TOPICS["programming courses"])) >= 7


def test_few_ads_are_enough(sparsemix, tmp_path):
    assert sparsemix("demo", "--out", tmp_path, "--ads", 300, "--seed", 1, "--quiet") == 0


def test_a_page_of_somebody_else_is_not_replaced(sparsemix, tmp_path):
    (tmp_path / "report.html").write_text("my own report")
    assert sparsemix("demo", "--out", tmp_path) == 2
    assert "is not a report of sparsemix" in sparsemix.err
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_the_first_run_says_that_it_compiles(monkeypatch, capsys, tmp_path):
    class Kernel:
        class stats:  # noqa: N801  (as Numba calls it)
            cache_path = str(tmp_path)

    monkeypatch.setattr(
        "sparsemix.models.online_profiles.kernels", SimpleNamespace(learn_rows=Kernel, other=1)
    )
    models = [sm.OnlineBernoulliMixture()]
    first_run.say_if_compiling(models)
    assert "First run on this machine: compiling" in capsys.readouterr().err
    (tmp_path / "kernels.nbi").touch()
    first_run.say_if_compiling(models)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sparsemix.models.hashed_gibbs.kernels", SimpleNamespace(add_rows=Kernel))
    real, counts = (sm.HashedGibbsMixture(family=name) for name in ("gaussian", "poisson"))
    first_run.say_if_compiling([counts])
    assert capsys.readouterr().err == ""
    first_run.say_if_compiling([real])
    assert "First run on this machine: compiling" in capsys.readouterr().err
    (tmp_path / "real_kernels.add_rows-1.nbi").touch()
    first_run.say_if_compiling([counts, real])
    assert capsys.readouterr().err == ""


def test_topics_are_readable_and_some_keywords_are_ambiguous():
    assert len(TOPICS) == 25
    assert all(len(keywords) == len(set(keywords)) == 30 for keywords in TOPICS.values())
    keywords = [keyword for topic in TOPICS.values() for keyword in topic]
    assert all(re.fullmatch(r"[a-z0-9+ ]+", keyword) for keyword in keywords)
    twice = {keyword for keyword in keywords if keywords.count(keyword) > 1}
    assert {"python", "java", "mouse", "window tinting", "crown"} <= twice


def test_ads_are_the_same_for_a_seed_and_mostly_about_their_trade():
    first, second, other = make_demo_ads(500, 1), make_demo_ads(500, 1), make_demo_ads(500, 2)
    assert first.keywords == second.keywords
    assert first.keywords != other.keywords
    assert all(keywords and len(keywords) == len(set(keywords)) for keywords in first.keywords)
    names = list(TOPICS.values())
    own = [
        np.mean([keyword in names[topic] for keyword in keywords])
        for topic, keywords in zip(first.topics, first.keywords, strict=True)
        if topic >= 0
    ]
    assert np.mean(own) > 0.9
    assert 0 < np.mean(first.topics < 0) < 0.1


@pytest.mark.parametrize("seed", range(40))
def test_every_seed_gives_ads_with_keywords(seed):
    """Also where an ad about nothing has drawn no keyword at first."""
    assert min(map(len, make_demo_ads(3_000, seed).keywords)) >= 1


def test_the_csv_reads_back(tmp_path):
    ads = make_demo_ads(300)
    ads.write_csv(tmp_path / "ads.csv")
    rows = sm.read_table(tmp_path / "ads.csv", row="ad_id", feature="keyword", group="advertiser")
    assert rows.n_rows == 300
    assert rows.groups.tolist() == ads.advertisers
    found = {rows.feature_names[column] for column in rows[7:8].matrix.indices}
    assert found == set(ads.keywords[7])

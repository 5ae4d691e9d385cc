"""`sparsemix report` writes the page of a model, with and without rows."""

import json

import pytest

import sparsemix as sm
from sparsemix.reporting import summarize_model


def test_the_page_of_a_model(sparsemix, model, tmp_path):
    path = tmp_path / "report.html"
    assert (
        sparsemix("report", model, "-o", path, "--title", "Ads <of> May", "--row-noun", "ads", "-n", 3) == 0
    )
    assert sparsemix.err == f"Wrote the page to {path}. Open it in a browser.\n"
    assert sparsemix.out == ""
    page = path.read_text(encoding="utf-8")
    assert "<title>Ads &lt;of&gt; May</title>" in page
    assert "Ads learnt" in page
    assert "Mean certainty" not in page


@pytest.mark.parametrize("options", [[], ["--batch-rows", 400]])
def test_rows_from_disk_are_summarised_as_rows_in_memory(sparsemix, table, model, tmp_path, options):
    path = tmp_path / "report.html"
    arguments = ["-n", 5, "--level", 0.8, "--title", "Ads", "--row-noun", "ads"]
    assert sparsemix("report", model, table, "-o", path, *arguments, *options, "--json") == 0
    rows, learnt = sm.read_table(table), sm.load_model(model)
    expected = summarize_model(learnt, rows, title="Ads", row_noun="ads", n_features=5, level=0.8)
    found = json.loads(sparsemix.out)
    assert found.pop("output") == str(path)
    for name in ("mean_probability", "mean_entropy"):
        assert found["certainty"].pop(name) == pytest.approx(expected["certainty"].pop(name), rel=1e-12)
    assert found == json.loads(json.dumps(expected))
    assert "Mean certainty" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [sm.BernoulliMixture, sm.MultinomialMixture])
def test_models_without_evidence_have_a_page_too(sparsemix, table, tmp_path, kind):
    path, page = tmp_path / "em.smx", tmp_path / "report.html"
    sm.save_model(kind(5, random_state=0).fit(sm.read_table(table)), path)
    assert sparsemix("report", path, table, "-o", page, "--json") == 0
    found = json.loads(sparsemix.out)
    assert (found["n_rows"], found["log_evidence"], found["log_evidence_per_row"]) == (1_500, None, None)
    assert "evidence of all" not in page.read_text(encoding="utf-8")


def test_a_table_without_rows_makes_no_page(sparsemix, model, tmp_path):
    empty, page = tmp_path / "empty.csv", tmp_path / "report.html"
    empty.write_text("ad,keyword\n", encoding="utf-8")
    assert sparsemix("report", model, empty, "-o", page) == 1
    assert "there is no row to report on" in sparsemix.err
    assert not page.exists()

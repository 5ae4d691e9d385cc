"""A threshold above all counts leaves empty rows, which is told once."""

import pytest

WARNING = (
    "warning: no value of the table is above 100 (--binarize), so that no row holds any keyword; the largest "
    "is 3."
)
KINDS = {
    "online": [],
    "online, streamed": ["--batch-rows", 2, "--n-passes", 2],
    "bernoulli-em": ["--model", "bernoulli-em", "--max-iter", 2],
    "bernoulli-em, streamed": ["--model", "bernoulli-em", "--max-iter", 2, "--batch-rows", 2],
}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ads.csv"
    path.write_text("ad,keyword,count\n1,tea,3\n1,car,1\n2,tea,2\n3,car,1\n4,pie,3\n")
    return path


def fit(sparsemix, table, *options):
    return sparsemix("fit", table, "-o", table.with_suffix(".smx"), "-k", 2, "--count", "count", *options)


@pytest.mark.parametrize("name", KINDS)
def test_a_threshold_above_all_counts(sparsemix, table, name):
    assert fit(sparsemix, table, *KINDS[name], "--binarize", 100) == 0
    assert sparsemix.err.splitlines().count(WARNING) == 1
    assert fit(sparsemix, table, *KINDS[name], "--binarize", 100, "--quiet") == 0
    assert sparsemix.err == ""
    assert fit(sparsemix, table, *KINDS[name], "--binarize", 2.5) == 0
    assert "no value of the table" not in sparsemix.err


def test_the_threshold_of_a_model_that_is_updated(sparsemix, table):
    assert fit(sparsemix, table, "--binarize", 2.5) == 0
    few = table.with_name("few.csv")
    few.write_text("ad,keyword,count\n5,tea,2\n6,car,1\n")
    assert sparsemix("update", table.with_suffix(".smx"), few, "--count", "count") == 0
    assert "warning: no value of the table is above 2.5 (--binarize)" in sparsemix.err

"""What `sparsemix ctr` says of users and ads that the model does not know."""

import json

import pytest

import sparsemix as sm

EVENTS = {
    "user": ["ann", "bob", "ann", "bob"] * 2,
    "ad": ["tea", "tea", "car", "car"] * 2,
    "event": ["impression"] * 4 + ["click"] * 4,
    "count": [20, 20, 20, 20, 8, 1, 1, 8],
}
USER = "The model does not know user 'eve': the rates are those of the ads, whoever the user is."
AD = "The model does not know ad 'bus': its rate is that of any unknown ad."


@pytest.fixture(scope="module")
def rates(tmp_path_factory):
    path = tmp_path_factory.mktemp("rates") / "rates.smx"
    sm.save_model(sm.ClickRateModel(2, smoothing=5.0, random_state=0).fit(EVENTS), path)
    return path


def test_unknown_users_and_ads_are_told(sparsemix, rates):
    assert sparsemix("ctr", rates, "--user", "eve") == 0
    assert sparsemix.err.splitlines() == [USER]
    assert sparsemix("ctr", rates, "--user", "ann", "--ad", "bus", "--ad", "tea", "--ad", "bus") == 0
    assert sparsemix.err.splitlines() == [AD]
    assert sparsemix("ctr", rates, "--user", "eve", "--ad", "bus", "--quiet", "--json") == 0
    assert sparsemix.err == ""
    found = json.loads(sparsemix.out)
    assert (found["known_user"], found["unknown_ads"]) == (False, ["bus"])
    model = sm.load_model(rates)
    assert found["rates"][0]["rate"] == model.predict(["eve"], ["bus"])[0]
    assert sparsemix("ctr", rates, "--user", "ann", "--json") == 0
    assert sparsemix.err == ""
    found = json.loads(sparsemix.out)
    assert (found["known_user"], found["unknown_ads"]) == (True, [])


def test_a_table_of_strangers_is_told(sparsemix, rates, tmp_path):
    pairs, out = tmp_path / "pairs.csv", tmp_path / "out.csv"
    pairs.write_text("user,ad\nANN,tea\nBOB,car\n")
    assert sparsemix("ctr", rates, pairs, "-o", out) == 0
    assert "The model knows no user of the table. Check --user-column, and that ids are" in sparsemix.err
    assert "knows no ad" not in sparsemix.err


def test_places_in_a_table_are_told_by_the_options_of_the_command(sparsemix, rates, tmp_path):
    pairs, out = tmp_path / "pairs.csv", tmp_path / "out.csv"
    pairs.write_text("who,ad\n,tea\n")
    assert sparsemix("ctr", rates, pairs, "-o", out, "--user-column", "who") == 1
    assert "line 2: --user-column who must be there in every record" in sparsemix.err
    assert sparsemix("ctr", rates, pairs, "-o", out) == 2
    assert "--user-column must be one of the columns ('who', 'ad')" in sparsemix.err

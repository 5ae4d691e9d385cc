"""The main job on real ads, where they are at hand: fit, clusters, suggest, assign, resume."""

import json

import pytest

from sparsemix.cli import main
from sparsemix.persistence import read_payload, state_hash


@pytest.fixture(scope="module")
def farm_ads(real_data):
    return real_data / "farm_ads" / "ads.parquet"


@pytest.fixture(scope="module")
def farm(farm_ads, tmp_path_factory):
    path = tmp_path_factory.mktemp("farm") / "farm.smx"
    assert main(["fit", str(farm_ads), "-o", str(path), "-k", "40", "--json", "--quiet"]) == 0
    return path


def test_clusters_are_topics(sparsemix, farm):
    assert sparsemix("clusters", farm, "--json") == 0
    tops = [
        {entry["feature"] for entry in each["features"]} for each in json.loads(sparsemix.out)["clusters"]
    ]
    assert any({"vet", "question", "answer"} <= top for top in tops)
    assert any({"symptom", "disease"} <= top for top in tops)
    assert any({"farm", "livestock"} <= top for top in tops)


def test_suggestions_are_sensible(sparsemix, farm):
    assert sparsemix("suggest", farm, "--keyword", "vet", "--keyword", "question", "--json", "-n", 6) == 0
    found = {each["keyword"] for each in json.loads(sparsemix.out)["suggestions"]}
    assert {"answer", "online", "asap"} <= found


def test_suggestions_for_a_real_ad(sparsemix, farm_ads, farm):
    assert sparsemix("suggest", farm, "--ad", 3, "--input", farm_ads, "--json") == 0
    found = json.loads(sparsemix.out)
    assert len(found["suggestions"]) == 10
    assert not set(found["accepted"]) & {each["keyword"] for each in found["suggestions"]}


def test_columns_are_guessed_and_assignments_written(sparsemix, real_data, tmp_path):
    ads = real_data / "snapchat_ads_2020" / "ads_keywords.parquet"
    model, output = tmp_path / "snap.smx", tmp_path / "snap.csv"
    assert sparsemix("fit", ads, "-o", model, "-k", 30) == 0
    assert f"Guessed --row 'ad_id', --feature 'keyword' for {ads}." in sparsemix.err
    assert sparsemix("assign", model, ads, "-o", output) == 0
    assert len(output.read_text(encoding="utf-8").splitlines()) == 1 + 883


def test_in_batches_or_whole_and_resumed_it_is_the_same_model(sparsemix, farm_ads, farm, tmp_path):
    path = tmp_path / "again.smx"
    options = ["-k", 40, "--quiet", "--checkpoint-every", 1_000, "--batch-rows", 777]
    assert sparsemix("fit", farm_ads, "-o", path, *options, "--resume") == 0
    assert state_hash(read_payload(path)) == state_hash(read_payload(farm))

"""Answers of models about rows on a cluster: those of one process, in the order of the rows."""

import numpy as np
import pytest
from cluster_cases import mixture, online, pieces
from numpy.testing import assert_array_equal
from scipy import sparse

from sparsemix import DataError, GammaPoissonFactors, ParameterError, read_table
from sparsemix.distributed import answers, predict, predict_proba

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table of ads in three files, and what `read_table` makes of it."""
    folder = tmp_path_factory.mktemp("ads")
    rng = np.random.default_rng(1)
    for number in range(3):
        lines = [f"{number}-{ad},word {word}" for ad in range(20) for word in rng.choice(9, 3, replace=False)]
        (folder / f"ads-{number}.csv").write_text("\n".join(["ad,keyword", *lines]))
    return folder, read_table(folder)


@pytest.mark.parametrize("new", [mixture, online], ids=["em", "online"])
def test_answers_are_those_of_one_process(client, rows, new):
    model = new().fit(rows)
    blocks = da.from_array(rows, chunks=(130, -1)).map_blocks(sparse.csr_array)
    assert_array_equal(predict(model, blocks, client=client), model.predict(rows))
    assert_array_equal(predict_proba(model, blocks, client=client), model.predict_proba(rows))


def test_any_question_may_be_asked_of_any_model(client, rows):
    model = GammaPoissonFactors(n_components=2, random_state=0).fit(rows)
    pairs = [dask.delayed((part, None)) for part in pieces(rows, 300)]
    found = list(answers(model, pairs, "transform", client=client))
    assert_array_equal(np.concatenate(found), model.transform(rows))
    assert list(answers(model, pairs, n_rows_known_to, client=client)) == [300, 300]


def n_rows_known_to(model, rows):
    return int((~model.unknown_rows(rows)).sum()) if hasattr(model, "unknown_rows") else len(rows)


def test_files_are_read_by_workers(client, table):
    folder, rows = table
    model = online(priming_rows=20).fit(rows)
    found = predict(model, folder, client=client, row="ad", feature="keyword")
    assert_array_equal(found, model.predict(rows))
    assert_array_equal(predict(model, sorted(folder.iterdir()), client=client), found)


def test_a_data_frame_is_matched_by_name(client):
    import pandas as pd

    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(np.eye(4, dtype=int)[[0, 1, 2, 3] * 5], columns=list("abcd"))
    model = mixture(n_components=2).fit(frame[list("dcba")])
    assert_array_equal(
        predict(model, dd.from_pandas(frame, npartitions=3), client=client), model.predict(frame)
    )


def test_only_a_few_batches_are_under_way(client, rows):
    model = mixture().fit(rows)
    taken = []

    def batches():
        for number, part in enumerate(pieces(rows, 10)):
            taken.append(number)
            yield dask.delayed(part)

    from sparsemix.distributed.cluster import Cluster

    works = Cluster(client, "here").in_order(dask.delayed(model.predict)(batch) for batch in batches())
    next(works)
    assert len(taken) == 1 + 2 * 2
    works.close()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "model.smx"}, "'model' of answers must be a model of sparsemix"),
        ({"question": "foretell"}, "'question' of answers must be a method of BernoulliMixture"),
        ({"source": 3}, "'source' of answers must be files, or a Dask array"),
        ({"source": []}, "'source' of answers must be files, or a Dask array"),
        ({"source": [np.eye(24)]}, "Tables in memory are for the model's own methods"),
        ({"client": "tcp://here:8786"}, "'client' of answers must be a distributed.Client"),
        ({"row": "ad"}, "'row' of answers is for files only"),
    ],
)
def test_wrong_use_is_told(client, rows, change, words):
    given = {
        "model": mixture().fit(rows),
        "source": da.from_array(rows, chunks=-1),
        "client": client,
    } | change
    with pytest.raises(ParameterError, match=words):
        list(answers(**given))


def test_blocks_must_hold_all_columns(client, rows):
    with pytest.raises(ParameterError, match=r"must be cut along its rows alone, .* Give rechunk"):
        predict(mixture().fit(rows), da.from_array(rows, chunks=(100, 12)), client=client)


def test_an_error_on_a_worker_is_that_of_the_library_and_names_the_file(client, table, tmp_path):
    folder, rows = table
    model = online(priming_rows=20).fit(rows)
    (tmp_path / "bad.csv").write_text("ad,keyword,n\na,b,-1\n")
    with pytest.raises(DataError, match=r"bad\.csv"):
        predict(model, tmp_path, client=client, row="ad", feature="keyword", count="n")
    with pytest.raises(DataError, match="does not exist"):
        predict(model, folder / "none.csv", client=client)

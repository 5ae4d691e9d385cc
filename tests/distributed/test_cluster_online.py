"""The online learner on a cluster: one child is the learner of one process, more children find the same topics."""

import numpy as np
import pytest
from cluster_cases import in_batches, mixture, online, pieces, state, topics

from sparsemix import (
    DataError,
    HashedGibbsMixture,
    OnlineBernoulliMixture,
    ParameterError,
    load_model,
    read_table,
)
from sparsemix.distributed import fit

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")


def in_blocks(rows, size):
    return da.from_array(rows, chunks=(size, -1))


@pytest.mark.parametrize("size", [600, 170])
def test_one_child_gives_the_bits_of_one_process(client, rows, labels, size):
    model = online()
    run = fit(model, in_blocks(rows, size), da.from_array(labels, chunks=size), client=client, n_children=1)
    batches = list(zip(pieces(rows, size), pieces(labels, size), strict=True))
    assert state(model) == state(in_batches(online(), batches))
    assert run.n_rows == len(rows)
    assert run.joins[0].n_rows == 200  # the priming


def test_one_child_waits_and_repairs_as_one_process_does(client):
    """A topic that comes late: its rows wait, and are clustered at a join."""
    rows = np.vstack([topics(400), 1.0 - topics(200, n_topics=1, seed=5)])
    options = {"n_components": 6, "reservoir_rows": 40}
    model = online(**options)
    fit(model, in_blocks(rows, 130), client=client, n_children=1)
    assert state(model) == state(in_batches(online(**options), pieces(rows, 130)))


def test_many_children_find_the_same_topics(client):
    rows = topics(3_000)
    alone, model = in_batches(online(), [rows]), online()
    run = fit(model, in_blocks(rows, 900), client=client, n_children=4)
    assert model.n_rows_seen_ == run.n_rows == 3_000
    assert model.score(rows) == pytest.approx(alone.score(rows), rel=1e-3)
    assert max(join.n_messages for join in run.joins) == 4
    assert all(join.n_bytes > 0 and join.n_bytes_of_model > 0 for join in run.joins[1:])


def test_new_keywords_become_features_in_the_order_of_the_files(client, tmp_path):
    rng = np.random.default_rng(0)
    for number in range(4):
        words = [f"word {word}" for word in rng.integers(number, 12 + 3 * number, 240)]
        lines = [f"{number * 60 + place // 4},{word}" for place, word in enumerate(words)]
        (tmp_path / f"{number}.csv").write_text("\n".join(["ad,keyword", *lines]))
    model = online(priming_rows=70, binarize=0.0)
    fit(model, tmp_path, client=client, n_children=1, row="ad", feature="keyword")
    parts = [read_table(file, row="ad", feature="keyword") for file in sorted(tmp_path.iterdir())]
    twin = in_batches(online(priming_rows=70, binarize=0.0), parts)
    assert state(model) == state(twin)
    assert list(model.feature_names_in_) == list(twin.feature_names_in_)


def test_labels_of_files_are_components_in_the_order_of_their_appearance(client, tmp_path):
    for number, labels in enumerate(["xy", "yz"]):
        lines = [f"{number}-{place},{label}{place % 3},{label}" for place, label in enumerate(labels * 30)]
        (tmp_path / f"{number}.csv").write_text("\n".join(["ad,keyword,kind", *lines]))
    model = online(n_components=3, priming_rows=110)
    reading = {"row": "ad", "feature": "keyword", "label": "kind"}
    run = fit(model, tmp_path, client=client, **reading)
    assert run.label_names == ["x", "y", "z"]
    table = read_table(tmp_path, **reading)
    assert (model.predict(table) == table.labels).all()


@pytest.mark.parametrize("n_children", [1, 3])
def test_a_fit_that_was_broken_off_goes_on_to_the_same_bits(client, rows, tmp_path, n_children):
    source, file, whole = in_blocks(rows, 130), tmp_path / "model.smx", online()
    run = fit(whole, source, client=client, n_children=n_children)
    for last in (2, len(run.joins) // 2):
        file.unlink(missing_ok=True)

        def stop(join, last=last):
            if join.number == last:
                raise KeyboardInterrupt

        options = {"client": client, "n_children": n_children, "checkpoint": file}
        with pytest.raises(KeyboardInterrupt):
            fit(online(), source, on_join=stop, **options)
        again = OnlineBernoulliMixture()
        fit(again, source, resume=True, **options)
        assert state(again) == state(whole) == state(load_model(file))


def test_a_checkpoint_goes_on_with_its_own_batches_only(client, rows, tmp_path):
    file = tmp_path / "model.smx"

    def stop(join):
        if join.number == 2:
            raise KeyboardInterrupt

    options = {"client": client, "checkpoint": file}
    with pytest.raises(KeyboardInterrupt):
        fit(online(), in_blocks(rows, 130), on_join=stop, **options)
    for other in (in_blocks(rows[:210], 130), in_blocks(rows[:, :20], 130)):
        with pytest.raises(DataError, match="not those that the checkpoint has learnt"):
            fit(online(), other, resume=True, **options)
    with pytest.raises(ParameterError, match="'checkpoint' of fit must be the file of a BernoulliMixture"):
        fit(mixture(), in_blocks(rows, 130), resume=True, **options)


def test_few_rows_or_none(client, rows):
    model = online()
    fit(model, in_blocks(rows[:50], 20), client=client)
    assert state(model) == state(in_batches(online(), pieces(rows[:50], 20)))
    with pytest.raises(DataError, match="'source' of fit must have at least one row"):
        fit(online(), da.zeros((0, 3), chunks=(1, 3)), client=client)


def test_what_one_pass_on_a_cluster_cannot_do_is_told(client, rows):
    source = in_blocks(rows, 130)
    with pytest.raises(ParameterError, match="'n_passes' of fit must be 1 on a cluster"):
        fit(online(n_passes=2), source, client=client)
    for wrong in (0, 10**30):
        with pytest.raises(
            ParameterError, match="'n_children' of fit must be an integer >= 1, at most 10,000"
        ):
            fit(online(), source, client=client, n_children=wrong)
    for odd in ({"checkpoint": 3}, {"resume": "x"}, {"keep_rows": 3}):
        with pytest.raises(ParameterError, match=f"'{next(iter(odd))}' of fit must be"):
            fit(online(), source, client=client, **odd)
    with pytest.raises(ParameterError, match="Other models need all rows in one place"):
        fit(HashedGibbsMixture(), source, client=client)

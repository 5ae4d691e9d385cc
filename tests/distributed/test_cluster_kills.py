"""Workers that are killed in the middle of a batch: the result keeps every bit, and every row counts once."""

import logging
import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from cluster_cases import mixture, online, pieces, state, topics

from sparsemix import ClusterError, load_model
from sparsemix.distributed import answers, fit

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def processes():
    """Two workers in processes of their own, which come back when they are killed."""
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": ":0",
        "silence_logs": logging.CRITICAL,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def deadly(part, mark):
    """A batch that kills the first worker that loads it."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return part
    return os.kill(os.getpid(), signal.SIGKILL)


def batches(rows, size, killers=(), folder=None):
    parts = pieces(rows, size)
    return [
        dask.delayed(deadly)(part, str(folder / f"killed-{number}"))
        if number in killers
        else dask.delayed(part)
        for number, part in enumerate(parts)
    ]


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_batch_changes_no_bit(client, processes, tmp_path):
    rows, model, twin = topics(600), online(), online()
    fit(twin, batches(rows, 150), client=client, n_children=3)
    run = fit(model, batches(rows, 150, {1}, tmp_path), client=processes, n_children=3)
    assert len(list(tmp_path.iterdir())) == 1
    assert run.n_rows == 600
    assert state(model) == state(twin)


@pytest.mark.slow
def test_em_and_answers_survive_killed_workers(client, processes, tmp_path):
    rows, model, twin = topics(600), mixture(), mixture()
    fit(twin, batches(rows, 100), client=client)
    fit(model, batches(rows, 100, {0, 2}, tmp_path), client=processes)
    assert len(list(tmp_path.iterdir())) == 2
    assert state(model) == state(twin)
    (tmp_path / "killed-0").unlink()
    found = list(answers(model, batches(rows, 100, {0}, tmp_path), client=processes))
    assert (np.concatenate(found) == twin.predict(rows)).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("new", [mixture, online], ids=["em", "online"])
def test_workers_killed_at_any_time_change_no_bit(client, processes, new, seed):
    rows, model, twin = topics(3_000, seed=seed), new(), new()
    fit(twin, batches(rows, 200), client=client)
    rng, over, kills = np.random.default_rng(seed), threading.Event(), []

    def kill_now_and_then():
        while not over.wait(rng.uniform(0.3, 1.0)) and len(kills) < 3:
            if len(processes.nthreads()) == 2:  # the other one goes on
                pids = processes.run(os.getpid, on_error="ignore")
                kills.append(rng.choice(list(pids.values())))
                os.kill(kills[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        while not kills:  # a fit may be over before the first
            fit(model, batches(rows, 200), client=processes)
    finally:
        over.set()
        killer.join()
    assert state(model) == state(twin)


@pytest.mark.slow
def test_a_batch_that_kills_every_worker_is_given_up(processes):
    rows = topics(100)
    forever = [dask.delayed(os.kill)(dask.delayed(os.getpid)(), signal.SIGKILL)]
    with pytest.raises(ClusterError, match="workers were lost again and again over the same batch"):
        fit(mixture(), [*batches(rows, 50), *forever], client=processes)


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_told(tmp_path):
    rows, file = topics(600), tmp_path / "model.smx"
    cluster = distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address=":0", silence_logs=logging.CRITICAL
    )
    with distributed.Client(cluster) as client:

        def leave(join):
            if join.number == 2:
                cluster.close()

        with pytest.raises(ClusterError, match="the scheduler was lost"):
            fit(online(), batches(rows, 100), client=client, checkpoint=file, on_join=leave)
    assert load_model(file).n_rows_seen_ > 200

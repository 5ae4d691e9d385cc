"""Open the cluster that a command was given, and close it afterwards."""

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sparsemix.cli.progress import waiting
from sparsemix.foundation.errors import ClusterError
from sparsemix.foundation.extras import dask

_PATIENCE = "10s"


@contextmanager
def opened_client(
    *, workers: int | None = None, dask_address: str | None = None, quiet: bool = False
) -> Iterator[Any]:
    """Give a client of new processes on this machine, or of the scheduler at an address.

    Raises
    ------
    MissingExtraError
        When Dask is not installed.
    ClusterError
        When there is no scheduler at the address, or it has no workers.
    """
    distributed = dask("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if workers is not None:
        with waiting(f"Starting {workers} processes", quiet=quiet), _deaf_to_ctrl_c():
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
            )
        with cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        asyncio.run(_knock(dask_address))
        client = distributed.Client(dask_address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # TypeError where certificates are missing
        raise ClusterError(
            f"no Dask scheduler answers at {dask_address!r}: {error}. Check the address of --dask."
        ) from error
    with client:
        if not client.nthreads():
            raise ClusterError(
                f"the Dask scheduler at {dask_address!r} has no workers. Start some: dask worker ADDRESS."
            )
        yield client


async def _knock(address: str | None) -> None:
    """Connect and hang up: a client that nobody answers would end late, with errors of its own."""
    security = dask("distributed").Security()
    asked = security.get_connection_args("client")
    caller = await dask("distributed.comm").connect(address, timeout=_PATIENCE, **asked)
    await caller.close()


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Let processes that start meanwhile ignore Ctrl-C, which a terminal sends to all of a group: this one answers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

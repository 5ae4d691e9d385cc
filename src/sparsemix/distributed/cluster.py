"""Work on a Dask cluster: what was lost with a worker is done again, and nothing is left behind when the work ends."""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sparsemix.foundation.errors import ClusterError, parameter_error
from sparsemix.foundation.extras import dask

PACKAGE = "sparsemix"
BATCHES_PER_THREAD = 2  # handed out at once, so that no worker waits for the next


class Cluster:
    """The workers of a client.

    Parameters
    ----------
    client : distributed.Client or None
        None takes the one that was opened last.
    owner : str
        Who asks, for messages.

    Raises
    ------
    ParameterError
        If `client` is no client, or there is none.
    MissingExtraError
        If Dask is not installed.
    ClusterError
        If workers have not the version of the package that is used here.
    """

    def __init__(self, client: Any, owner: str) -> None:
        distributed = dask("distributed")
        if client is None:
            try:
                client = distributed.get_client()
            except ValueError:
                client = None
        if not isinstance(client, distributed.Client):
            rule = "a distributed.Client, or None where one is open"
            remedy = "Open one: client = distributed.Client(n_workers=4, threads_per_worker=1)."
            raise parameter_error("client", owner, rule, client, remedy)
        self.client = client
        _check_versions(client)

    def result(self, work: Any) -> Any:
        """What delayed work comes to."""
        return self.results([work])[0]

    def results(self, works: list[Any]) -> list[Any]:
        """What delayed works come to, in their order."""
        futures = self.start(works)
        return [self.wait(future) for future in futures]

    def wait(self, future: Any) -> Any:
        """The result of a future; it is taken back if the wait ends in an error."""
        with _in_our_words():
            try:
                return future.result()
            except BaseException:
                _take_back(future)
                raise

    def start(self, work: Any) -> Any:
        """The future of delayed work, or those of a list, which begins at once; models in it may be large."""
        quiet = dask("dask.config").set({"distributed.admin.large-graph-warning-threshold": "1TB"})
        with _in_our_words(), quiet:
            return self.client.compute(work, optimize_graph=False)

    def kept(self, batches: list[Any]) -> list[Any]:
        """The same batches, loaded once and held by workers; one that is lost is loaded anew."""
        return list(self.client.persist(batches, optimize_graph=False))

    def in_order(self, works: Iterable[Any]) -> Iterator[Any]:
        """Results of delayed works in their order; a few at a time are under way or wait for their turn."""
        waiting: deque[Any] = deque()
        most = BATCHES_PER_THREAD * self.n_threads()
        try:
            for work in works:
                waiting.append(self.start(work))
                if len(waiting) > most:
                    yield self.wait(waiting.popleft())
            while waiting:
                yield self.wait(waiting.popleft())
        finally:
            for future in waiting:
                _take_back(future)

    def n_threads(self) -> int:
        """Threads of all workers; at least one, for workers may still be on their way."""
        return max(1, sum(map(int, self.client.nthreads().values())))


def _check_versions(client: Any) -> None:
    """Ask workers for their version; one without the package would only go away, and the work would wait for ever."""
    try:
        ours = version(PACKAGE)
    except PackageNotFoundError:
        return
    with _in_our_words():
        found = client.run(version, PACKAGE, on_error="return")
    for worker, theirs in found.items():
        if theirs != ours and isinstance(theirs, str | PackageNotFoundError):
            has = f"has {PACKAGE} {theirs}" if isinstance(theirs, str) else f"lacks {PACKAGE}"
            raise ClusterError(
                f"the worker at {worker} {has}, but here it is {ours}. Install the same version on all machines."
            )


def _take_back(future: Any) -> None:
    """Let nobody work on it any more; where nobody is left that is so anyway."""
    with suppress(Exception):
        future.cancel()


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Turn errors about workers and connections into ClusterError."""
    from concurrent.futures import CancelledError

    client, killed = dask("distributed.client"), dask("distributed").KilledWorker
    closed = dask("distributed.comm").CommClosedError
    try:
        yield
    except killed as error:
        raise ClusterError(
            "workers were lost again and again over the same batch. They may need more memory: give smaller batches, "
            f"or fewer threads to each worker. ({error})"
        ) from error
    except (CancelledError, closed, TimeoutError, getattr(client, "ClosedClientError", closed)) as error:
        raise ClusterError(f"the scheduler was lost: {error or type(error).__name__}.") from error

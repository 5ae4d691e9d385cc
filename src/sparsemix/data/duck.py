"""The one way to open DuckDB: quiet, and without fetching extensions from the network."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

Answer = TypeVar("Answer")

WAKING_SECONDS = 0.1

INTERRUPTED = "Query interrupted"
"""What the RuntimeError says that DuckDB raises in place of a KeyboardInterrupt."""


@contextmanager
def open_duckdb(file: Path | None = None, temp_folder: Path | None = None) -> Iterator[Any]:
    """Give a connection and close it afterwards; Ctrl-C during a query is a KeyboardInterrupt as anywhere else.

    Parameters
    ----------
    file : Path, optional
        Where the data base is kept; the default is in memory.
    temp_folder : Path, optional
        Where DuckDB puts what does not fit in memory.
    """
    settings: dict[str, Any] = {"autoinstall_known_extensions": "false"}
    if temp_folder is not None:
        settings["temp_directory"] = str(temp_folder)
    connection = duckdb.connect(":memory:" if file is None else file, config=settings)
    try:
        connection.execute("SET enable_progress_bar = false")
        yield connection
    except (duckdb.InterruptException, RuntimeError) as error:
        if isinstance(error, duckdb.InterruptException) or str(error) == INTERRUPTED:
            raise KeyboardInterrupt from error
        raise
    finally:
        connection.close()


def interruptible(connection: Any, ask: Callable[[], Answer]) -> Answer:
    """Run a long query so that Ctrl-C ends it at once; on the main thread DuckDB may notice only when it is done.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    ask : callable
        Runs the query on that connection.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        answer = pool.submit(ask)
        try:
            # In turns, for a library may have set a handler of signals that does not wake a thread that waits.
            while not answer.done():
                wait([answer], timeout=WAKING_SECONDS)
        except KeyboardInterrupt:
            while not answer.done():  # again and again, since the query may not have begun
                connection.interrupt()
                wait([answer], timeout=WAKING_SECONDS)
            raise
        return answer.result()

"""Commands in processes of their own: seconds, and the most memory that they and their children held together."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

PAUSE = 0.2  # seconds between two looks at the memory


class Taken(NamedTuple):
    """What a command took: seconds by the clock, peak of memory in bytes, what it printed, and its exit code."""

    seconds: float
    peak_bytes: int
    output: str
    exit_code: int


def run(arguments: Sequence[object], kill_when: Callable[[], bool] | None = None) -> Taken:
    """Run ``sparsemix`` with some arguments; kill it, as a lost machine would be, when a condition holds."""
    command = [str(Path(sys.executable).with_name("sparsemix")), *map(str, arguments)]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    peaks = [0]
    watcher = threading.Thread(target=_watch, args=(process, peaks, kill_when), daemon=True)
    watcher.start()
    output, _ = process.communicate()
    watcher.join()
    return Taken(time.perf_counter() - start, peaks[0], output, process.returncode)


def _watch(process: subprocess.Popen, peaks: list[int], kill_when: Callable[[], bool] | None) -> None:
    while process.poll() is None:
        peaks[0] = max(peaks[0], _resident_bytes(process.pid))
        if kill_when is not None and kill_when():
            os.killpg(process.pid, signal.SIGKILL)
            return
        time.sleep(PAUSE)


def _resident_bytes(group: int) -> int:
    """Resident memory of all processes of a session; what they share counts for each."""
    total = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == group:
                total += int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):  # it has ended meanwhile
            continue
    return total

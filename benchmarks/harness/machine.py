"""What a table of times must say about where it was measured, and the time and memory of this process."""

import os
import platform
import resource
import time
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
MEGABYTE = 1e6


def describe() -> str:
    """Return one sentence with the processor, its cores, the memory and the versions; no host name."""
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"{_cpu_model()}, {os.cpu_count()} cores, {_total_memory_gb():.0f} GB of memory; "
        f"{platform.system()}, Python {platform.python_version()}, {libraries}. One thread."
    )


def use_one_thread() -> None:
    """Let child processes start with one thread in every numerical library."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"


def load() -> float:
    """Return how many processes ran or wanted to, on average over the last minute; NaN where unknown."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


class Stopwatch:
    """Seconds since it was made, by the clock and of the processor (all threads of this process)."""

    def __init__(self) -> None:
        self._clock, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return (seconds, CPU seconds)."""
        return time.perf_counter() - self._clock, time.process_time() - self._cpu


def reset_peak() -> None:
    """Start a new high-water mark of this process's memory, where the system can (Linux)."""
    control = Path("/proc/self/clear_refs")
    if control.exists():
        control.write_text("5")


def peak_bytes() -> int:
    """Return the most memory this process has held resident.

    ``ru_maxrss`` of a child also remembers its parent before ``exec``; the kernel's own mark does not.
    """
    status = _status()
    if "VmHWM" in status:
        return status["VmHWM"]
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def current_bytes() -> int:
    """Return the memory this process holds resident now (the peak where the system does not say)."""
    return _status().get("VmRSS", 0) or peak_bytes()


def _status() -> dict[str, int]:
    path = Path("/proc/self/status")
    if not path.exists():
        return {}
    fields = (line.split() for line in path.read_text().splitlines())
    return {words[0][:-1]: int(words[1]) * 1024 for words in fields if words[-1] == "kB"}


def _cpu_model() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _total_memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9

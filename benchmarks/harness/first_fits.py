"""A first fit of a small table by every model, each in a process of its own: seconds, and what is compiled in them.

``python benchmarks/harness/first_fits.py KIND`` fits one model and prints what it took as JSON.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

N_ROWS, N_FEATURES = 300, 40


class Taken(NamedTuple):
    """Seconds of a process by the clock and of the processor, and what it printed."""

    seconds: float
    cpu_seconds: float
    output: str


def run(command: list[str], cache: Path) -> Taken:
    """Run a command with a folder of its own for compiled kernels."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    surroundings = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(seconds, cpu, done.stdout)


def run_fit(kind: str, cache: Path) -> tuple[Taken, dict[str, Any]]:
    """Fit a model in a process of its own; what the process took, and what it says about it."""
    taken = run([sys.executable, __file__, kind], cache)
    return taken, json.loads(taken.output)


def fit(kind: str) -> dict[str, Any]:
    """Fit one model with its defaults, and predict where it predicts; seconds of the fit, and of each compilation."""
    from numba.core import event

    from sparsemix.registry import model_class

    rows = (np.random.default_rng(0).random((N_ROWS, N_FEATURES)) < 0.15).astype(int)
    model: Any = model_class(kind)(**({"n_components": 5} if _has_components(kind) else {}), random_state=0)
    with event.install_recorder("numba:compile") as recorder:
        start = time.perf_counter()
        _learn_and_ask(model, kind, rows)
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "compiled": _compiled(recorder.buffer)}


def _learn_and_ask(model: Any, kind: str, rows: Any) -> None:
    if kind == "click-rate-model":
        users, ads = np.nonzero(rows)
        shown = {"user": users, "ad": ads, "event": np.full(users.size, "impression")}
        model.fit({name: np.concatenate([each, each[:99]]) for name, each in shown.items()})
        model.predict(users[:9], ads[:9])
        return
    times = {"times": np.arange(len(rows))} if "time-sensitive" in kind else {}
    if times:
        model.set_params(half_life=100.0)
    model.fit(rows, **times)
    if hasattr(model, "predict"):
        model.predict(rows[:9], **({"times": np.full(9, len(rows))} if times else {}))


def _has_components(kind: str) -> bool:
    return "time-sensitive" not in kind


def _compiled(events: list[tuple[float, Any]]) -> list[tuple[str, float]]:
    """Outermost compilations by their seconds, longest first: what they call is compiled within them."""
    found: dict[str, float] = {}
    open_since: list[float] = []
    for when, each in events:
        if each.is_start:
            open_since.append(when)
        else:
            start = open_since.pop()
            if not open_since:
                name = each.data["dispatcher"].py_func.__qualname__
                found[name] = found.get(name, 0.0) + when - start
    return sorted(found.items(), key=lambda item: -item[1])


if __name__ == "__main__":
    print(json.dumps(fit(sys.argv[1])))

"""Runs command lines in processes of their own and pulls the plug on them at the Nth call of a function, or of any.

The processes are forked from one that has loaded the compiled kernels, which takes longer than all that they do.
"""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """How a process ended (a negative number is the signal that killed it), and what it printed."""

    returncode: int
    stdout: str
    stderr: str


class PlugPuller:
    """The process to fork from; `folder` takes what the others print."""

    def __init__(self, folder):
        self._outputs = [Path(folder) / "stdout", Path(folder) / "stderr"]
        self._calls = Path(folder) / "calls"
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process with threads is no good to fork
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def calls_of(self, *arguments):
        """How many calls of functions, compiled ones included, a command line makes; it runs to its end."""
        assert self(*arguments).returncode == 0
        return int(self._calls.read_text(encoding="utf-8"))

    def __call__(self, *arguments, target="", call=0, number=0):
        """Run a command line and send it the signal `number` at a call of the function `target`, or of any."""
        order = {
            "arguments": [str(each) for each in arguments],
            "target": target,
            "call": call,
            "number": number,
        }
        order["outputs"] = [str(path) for path in self._outputs]
        order["calls"] = str(self._calls)
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return Run(code, *(path.read_text(encoding="utf-8") for path in self._outputs))

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def interrupt(target, call, number):
    module_name, _, name = target.rpartition(".")
    module = importlib.import_module(module_name)
    original, calls = getattr(module, name), 0

    def interrupted(*args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), number)
        return original(*args, **kwargs)

    setattr(module, name, interrupted)


def count_calls(call, number, path):
    """Send the signal at the call of any function; write how many there were."""
    calls = 0

    def counted(_frame, event, _function):
        nonlocal calls
        if event in {"call", "c_call"}:
            calls += 1
            if calls == call:
                os.kill(os.getpid(), number)

    def stop():
        sys.setprofile(None)
        Path(path).write_text(str(calls), encoding="utf-8")

    sys.setprofile(counted)
    return stop


def run(order):
    from sparsemix.cli import main

    for descriptor, path in enumerate(order["outputs"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.argv[1:] = order["arguments"]
    if order["target"]:
        interrupt(order["target"], order["call"], order["number"])
        code = main()
    else:
        stop = count_calls(order["call"], order["number"], order["calls"])
        code = main()
        stop()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def serve():
    import numpy as np

    import sparsemix.cli.app  # noqa: F401
    from sparsemix import OnlineBernoulliMixture

    OnlineBernoulliMixture(2, priming_rows=20, random_state=0).fit(np.repeat(np.eye(2), 20, axis=0))
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(run(json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    serve()

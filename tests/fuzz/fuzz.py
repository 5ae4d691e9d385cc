"""Fuzz a target, guided by what it reaches: ``python tests/fuzz/fuzz.py table_file --seconds 600``.

Needs ``pip install atheris``. It begins with the inputs in ``corpus``, and with small models of every kind; the input
that breaks something is written to the folder of scratch files, which is printed.
"""

import argparse
import importlib
import sys
import tempfile
from itertools import chain
from pathlib import Path

import atheris
from fuzz_mutations import changed_model_file

FOLDER = Path(__file__).parent
SOURCE = FOLDER.parents[1] / "src"
GUIDED = ("sparsemix.persistence", "sparsemix.data", "sparsemix.models")
COMPILER = "sparsemix.numeric.jit import"
TARGETS = sorted(path.name for path in FOLDER.joinpath("corpus").iterdir())


def instrumented_target(name):
    """A target that tells the fuzzer what it reaches; what is to be compiled is left as it is."""
    paths = sorted(SOURCE.rglob("[a-z]*.py"))
    modules = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in paths}
    compiled = [
        module
        for module, path in modules.items()
        if COMPILER in path.read_text(encoding="utf-8") or "numeric" in module
    ]
    with atheris.instrument_imports(include=GUIDED, exclude=compiled):
        for module in modules:
            if module.startswith(GUIDED):
                importlib.import_module(module)
    return getattr(importlib.import_module("fuzz_targets"), name)


def mutate(content, most, seed):
    """A whole container with one change in it half of the time, else any change of bytes."""
    changed = changed_model_file(content, seed) if seed % 2 else None
    return atheris.Mutate(content, most) if changed is None else changed[:most]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    options = parser.parse_args()
    target = instrumented_target(options.target)
    scratch = Path(tempfile.mkdtemp(prefix=f"fuzz-{options.target}-"))
    print(f"scratch files: {scratch}")
    seeds = [FOLDER / "corpus" / options.target]
    if options.target != "table_file":
        seeds += sorted(FOLDER.parent.glob("**/golden"))
    for path in chain.from_iterable(map(Path.iterdir, seeds)):
        target(path.read_bytes())  # compiles, which would take too long for an input
    limits = [f"-max_total_time={options.seconds}", "-max_len=20000", "-rss_limit_mb=4096", "-timeout=120"]
    arguments = [sys.argv[0], *limits, f"-artifact_prefix={scratch}/", str(scratch), *map(str, seeds)]
    mutator = {} if options.target == "table_file" else {"custom_mutator": mutate}
    atheris.Setup(arguments, target, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

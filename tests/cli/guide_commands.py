"""Run the commands of the guide in order and compare what they print with what the guide shows.

``python tests/cli/guide_commands.py docs/guide/command_line.md`` writes what they print into the guide anew.

A block is ``console``: a command after ``$``, then what it prints. A block ``csv`` is a file with the name in its
``title``.
"""

import contextlib
import io
import math
import re
import shlex
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(
    r'^```(?:console\n\$ (?P<command>.*)\n(?P<output>(?:.*\n)*?)|csv title="(?P<file>[^"]+)"\n(?P<content>(?:.*\n)*?))'
    r"```\n",
    re.MULTILINE,
)
SECONDS = re.compile(r" [\d,]+\.\d +-$", re.MULTILINE)  # of `compare`, which no two runs have in common
FIRST_RUN = re.compile(r"^First run on this machine: .*\n", re.MULTILINE)
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def run(line):
    """Return what a command line prints, messages included but for the first run's, and its exit code."""
    from sparsemix.cli import main

    program, *arguments = shlex.split(line)
    assert program == "sparsemix"
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        code = main(arguments)
    return FIRST_RUN.sub("", shown.getvalue()), code


def in_order(page):
    """Yield the blocks and what their commands print now, in a folder with the table of the demo."""
    from sparsemix.cli.demo import make_demo_ads

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_demo_ads().write_csv(Path("demo_ads.csv"))
        Path("today").mkdir()
        make_demo_ads(500, 1).write_csv(Path("today/demo_ads.csv"))
        for found in BLOCK.finditer(page):
            if found["file"]:
                Path(found["file"]).write_text(found["content"], encoding="utf-8")
            else:
                yield found, *run(found["command"])


def same_but_for_rounding(shown, expected):
    """Equal words, and numbers that differ by no more than another machine's arithmetic may cause."""
    shown, expected = (SECONDS.sub("", text) for text in (shown, expected))
    texts = [NUMBER.sub("#", " ".join(text.split())) for text in (shown, expected)]
    if texts[0] != texts[1]:
        return False
    numbers = [[float(each.replace(",", "")) for each in NUMBER.findall(text)] for text in (shown, expected)]
    return all(math.isclose(a, b, rel_tol=0.02, abs_tol=0.02) for a, b in zip(*numbers, strict=True))


if __name__ == "__main__":
    path = Path(sys.argv[1])
    old = path.read_text("utf-8")
    parts, end = [], 0
    for found, shown, _code in in_order(old):
        parts += [old[end : found.start()], f"```console\n$ {found['command']}\n{shown}```\n"]
        end = found.end()
    path.write_text("".join([*parts, old[end:]]), "utf-8")

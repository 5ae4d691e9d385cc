"""Run the Python blocks of a page in order and compare what they print with the text blocks after them.

``python tests/house/runnable_pages.py`` writes the outputs into the pages anew.
"""

import contextlib
import io
import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sparsemix.cli.demo.ads import make_demo_ads

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    DOCS / "tour.md",
    DOCS / "guide" / "em_mixtures.md",
    DOCS / "guide" / "hashed_gibbs.md",
    DOCS / "guide" / "click_rates.md",
    DOCS / "guide" / "mailbox.md",
    DOCS / "guide" / "uncertainty.md",
    DOCS / "guide" / "streaming.md",
    DOCS / "guide" / "distributed.md",
    DOCS / "systems" / "tdpm.md",
)
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL
)
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


@dataclass(frozen=True)
class Block:
    """A Python block, the output that the page shows for it, and the line where it begins."""

    code: str
    output: str | None
    line: int


def python_blocks(page: str) -> list[Block]:
    return [
        Block(found["code"], found["output"], page.count("\n", 0, found.start()) + 2)
        for found in BLOCK.finditer(page)
    ]


def shell_lines(page: str) -> list[str]:
    """The commands of the page's shell blocks."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def run(block: Block, names: dict[str, object], source: str) -> str:
    """Execute a block among `names` and return what it prints."""
    shown = io.StringIO()
    code = compile("\n" * (block.line - 1) + block.code, source, "exec")
    with contextlib.redirect_stdout(shown):
        exec(code, names)
    return "".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())


def same_but_for_rounding(shown: str, expected: str) -> bool:
    """Equal words, and numbers that differ by no more than another machine's arithmetic may cause."""
    if NUMBER.sub("#", shown) != NUMBER.sub("#", expected):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(expected), strict=True)
    return all(math.isclose(_value(a), _value(b), rel_tol=0.02, abs_tol=0.02) for a, b in pairs)


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def with_fresh_outputs(page: str, source: str) -> str:
    """Return the page with every output as it is now; blocks that print nothing have none."""
    names: dict[str, object] = {}
    parts, end = [], 0
    for found, block in zip(BLOCK.finditer(page), python_blocks(page), strict=True):
        output = run(block, names, source)
        text = f"\n```text\n{output}```\n" if output else ""
        parts += [page[end : found.start()], f"```python\n{block.code}```\n", text]
        end = found.end()
    return "".join([*parts, page[end:]])


@contextlib.contextmanager
def folder_of_the_demo():
    """Work in a temporary folder that holds what the demo makes up."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_demo_ads().write_csv(Path("demo_ads.csv"))
        yield


if __name__ == "__main__":
    for path in PAGES:
        with folder_of_the_demo():
            fresh = with_fresh_outputs(path.read_text("utf-8"), str(path))
        path.write_text(fresh, "utf-8")

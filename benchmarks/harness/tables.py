"""Markdown tables and the file that holds them."""

import shlex
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).resolve().parent.parent / "results"


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; numbers must be formatted by the caller, None is shown as a dash."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join("–" if cell is None else str(cell) for cell in line) + " |" for line in lines
    )


def write_page(name: str, title: str, machine: str, sections: Sequence[str]) -> Path:
    """Write ``results/<name>.md``: title, the command that makes it, the machine, then `sections`."""
    command = shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    day = datetime.now(tz=UTC).date().isoformat()
    head = f"# {title}\n\nMade by `{command}` on {day}.\n\nMachine: {machine}"
    path = RESULTS / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n\n".join([head, *sections]) + "\n", encoding="utf-8")
    return path

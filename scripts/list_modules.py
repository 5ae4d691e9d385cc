"""Write the tables of modules in the architecture page anew: each module with the first line of its docstring."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sparsemix"
PAGE = ROOT / "docs" / "developer" / "architecture.md"
ROOMS = (
    "cli", "cli/commands", "cli/demo", "reporting", "reproduction", "distributed", "", "models/online_profiles",
    "models/em", "models/hashed_gibbs", "models/time_sensitive", "models/gamma_poisson",
    "answers", "chains", "metrics", "persistence", "data", "probability", "numeric", "foundation",
)  # fmt: skip
"""Folders of the package, from the top layer down; the empty one is the package itself."""

SECTION = re.compile(r"(<!-- modules -->\n).*?(<!-- end of modules -->)", re.DOTALL)


def page_with_modules(page: str) -> str:
    """Return the page with the tables as the code is now."""
    tables = "\n".join(room_table(room) for room in ROOMS)
    return SECTION.sub(lambda found: f"{found[1]}\n{tables}\n{found[2]}", page)


def room_table(room: str) -> str:
    """Return the heading and table of one folder."""
    folder = PACKAGE / room
    name = ".".join(["sparsemix", *room.split("/")]).rstrip(".")
    lines = [f"### `{name}`\n", duty(folder / "__init__.py"), "\n| module | duty |\n|---|---|"]
    lines += [f"| `{path.stem}` | {duty(path)} |" for path in modules(folder)]
    return "\n".join([*lines, ""])


def modules(folder: Path) -> list[Path]:
    """Return the modules that lie in a folder itself."""
    return sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")


def duty(path: Path) -> str:
    """Return the first line of a module's docstring, without the restructured text marks and the pipe of tables."""
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0].replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page_with_modules(PAGE.read_text("utf-8")), "utf-8")

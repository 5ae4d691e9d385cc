"""Nothing that a user can reach is without words: parameters, attributes, methods, extras, programs."""

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest

import sparsemix
from sparsemix.registry import model_class, model_kinds

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
kinds = pytest.mark.parametrize("kind", model_kinds())


def described(model, section):
    """Names that a section of a class's docstring describes, in the form ``a, b : type`` or ``a, b``."""
    text = inspect.cleandoc(model.__doc__)
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^(\w+(?:, \w+)*)(?: :|$)", found[1] if found else "", re.MULTILINE)
    return {name for line in lines for name in line.split(", ")}


@kinds
def test_every_parameter_of_a_model_is_described(kind):
    model = model_class(kind)
    assert described(model, "Parameters") == set(model().get_params())


@kinds
def test_every_attribute_of_a_model_is_described(kind):
    model = model_class(kind)
    computed = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    without = {
        name for name in computed - described(model, "Attributes") if not inspect.getdoc(getattr(model, name))
    }
    assert without == set()


@kinds
def test_a_model_is_in_the_pages_and_not_in_the_reference_alone(kind):
    name = model_class(kind).__name__
    guides = [page for page in PAGES if "reference" not in page.parts and page.name != "architecture.md"]
    assert any(name in page.read_text("utf-8") for page in guides)


@pytest.mark.parametrize("name", sorted(set(sparsemix.__all__) - {"__version__"}))
def test_public_names_and_their_methods_have_docstrings(name):
    thing = getattr(sparsemix, name)
    assert inspect.getdoc(thing)
    members = vars(thing).items() if inspect.isclass(thing) else ()
    own = [key for key, member in members if not key.startswith("_") and callable(member)]
    assert [key for key in own if not inspect.getdoc(getattr(thing, key))] == []


@pytest.mark.parametrize(
    "module", ["", ".chains", ".data", ".distributed", ".metrics", ".persistence", ".reporting"]
)
def test_public_functions_and_models_have_examples(module):
    """What a function returns has no example of its own: the function's shows it."""
    place = importlib.import_module(f"sparsemix{module}")
    public = {name: getattr(place, name) for name in place.__all__}
    shown = {
        name: inspect.getdoc(thing) or ""
        for name, thing in public.items()
        if inspect.isfunction(thing) or hasattr(thing, "get_params")
    }
    assert shown
    assert [name for name, text in shown.items() if ">>>" not in text] == []


@pytest.mark.parametrize("extra", PROJECT["optional-dependencies"])
def test_an_extra_is_documented(extra):
    assert re.search(rf"(?:sparsemix|\.)\[{extra}\]", TEXT), (
        f"say in the pages what the extra '{extra}' is for"
    )


@pytest.mark.parametrize("program", PROJECT["scripts"])
def test_a_program_is_documented(program):
    assert f"{program} demo" in (ROOT / "README.md").read_text("utf-8")


def test_every_benchmark_is_in_their_table_and_no_other():
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py")}
    table = re.findall(
        r"^\| `(\w+\.py)` \|", (ROOT / "benchmarks/README.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(table) == sorted(scripts)

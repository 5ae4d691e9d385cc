"""What holds for the package as a whole."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import sparsemix

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sparsemix"
HEAVY = (
    "numba", "duckdb", "sklearn", "pyarrow", "pandas", "polars", "scipy", "numpy", "typer", "rich", "jinja2",
    "safetensors", "dask", "distributed",
)  # fmt: skip


def modules_loaded_by(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_loads_nothing_heavy():
    assert modules_loaded_by("import sparsemix") & set(HEAVY) == set()


def test_reading_code_does_not_load_the_compiler():
    assert "numba" not in modules_loaded_by("from sparsemix import read_table")


def test_the_cluster_is_loaded_when_it_is_used():
    assert modules_loaded_by("import sparsemix.distributed") & {"dask", "distributed", "tornado"} == set()


def test_every_public_name_can_be_loaded():
    assert all(getattr(sparsemix, name) is not None for name in sparsemix.__all__)
    assert set(sparsemix.__all__) <= set(dir(sparsemix))


def test_modules_of_functions_are_loaded_on_first_use():
    names = [f"sm.{name}.__all__" for name in sparsemix._MODULES]
    assert "numpy" in modules_loaded_by(f"import sparsemix as sm; {', '.join(names)}")
    assert set(sparsemix._MODULES) <= set(dir(sparsemix))


def test_public_names_are_the_ones_with_a_home():
    assert set(sparsemix.__all__) - {"__version__"} == set(sparsemix._HOME)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'MultinomialMixtur'"):
        sparsemix.MultinomialMixtur  # noqa: B018


def test_only_numeric_knows_the_compiler():
    offenders = [
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "numeric" and re.search(r"\bnumba\b|@n?jit\b", path.read_text("utf-8"))
    ]
    assert not offenders, f"use `kernel` of sparsemix.numeric.jit in {offenders}"


def test_fast_math_keeps_infinity():
    policy = (PACKAGE / "numeric" / "jit.py").read_text("utf-8")
    assert not re.search(r"[\"'](nnan|ninf|fast)[\"']|fastmath=True", policy)


def test_types_are_shipped():
    assert (files("sparsemix") / "py.typed").is_file()


def test_one_version():
    with (ROOT / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["version"]
    assert sparsemix.__version__ == declared == version("sparsemix")
    assert f"\n## {declared} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_nothing_prints_but_the_command_line():
    printers = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"^\s*print\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert {name for name in printers if not name.startswith("cli/")} <= {
        "models/online_profiles/estimator.py",  # verbose=1
        "models/em/mixture.py",
        "models/hashed_gibbs/mixture.py",
        "models/time_sensitive/estimator.py",
        "models/gamma_poisson/estimator.py",
    }


@pytest.mark.parametrize("folder", ["src", "docs", "tests", "benchmarks", "scripts", ".ci"])
def test_no_path_of_somebodys_machine(folder):
    home = re.compile(r"(?<![\w.~])/(?:home|root|Users|usr/local)/\w")
    texts = (
        path
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md", ".toml", ".yml", ".html", ""}
    )
    assert [p for p in texts if p.is_file() and home.search(p.read_text("utf-8", "replace"))] == []


def test_files_stay_small():
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert max(lengths.values()) <= 450, max(lengths, key=lengths.__getitem__)

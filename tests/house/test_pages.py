"""Pages that run, pages that must be complete, and links that must lead somewhere."""

import importlib.util
import re
import shlex
from pathlib import Path

import parameter_tables
import pytest
import runnable_pages

import sparsemix
import sparsemix.chains
import sparsemix.data
import sparsemix.metrics
import sparsemix.persistence
import sparsemix.reporting
from sparsemix.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in runnable_pages.shell_lines(README):
        program, *arguments = shlex.split(line)
        assert program == "sparsemix"
        assert main(arguments) == 0, f"{line}\n{capsys.readouterr().err}"
    [block] = runnable_pages.python_blocks(README)
    shown = runnable_pages.run(block, {}, "README.md")
    assert "ball python" in shown
    assert "cleaning services" in shown


@pytest.mark.parametrize("language", ["python", "sh"])
def test_the_readme_has_ten_lines(language):
    [block] = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert len([line for line in block.splitlines() if line.strip()]) == 10


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/sparsemix demo",
        "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest",
    ],
)
def test_the_readme_has_its_two_commands(command):
    assert f"\n    {command}\n" in README


@pytest.mark.parametrize("page", runnable_pages.PAGES, ids=lambda page: page.name)
def test_pages_run_and_show_what_they_print(page, capsys):
    text = page.read_text("utf-8")
    names: dict[str, object] = {}
    with runnable_pages.folder_of_the_demo():
        for block in runnable_pages.python_blocks(text):
            shown = runnable_pages.run(block, names, str(page))
            expected = block.output or ""
            assert runnable_pages.same_but_for_rounding(shown, expected), (
                f"{page.name}, line {block.line}, prints\n{shown}\nbut shows\n{expected}\n'just pages' writes it anew"
            )
        for line in runnable_pages.shell_lines(text):
            program, *arguments = shlex.split(line)
            assert program == "sparsemix"
            assert main(arguments) == 0, f"{line}\n{capsys.readouterr().err}"


def test_rounding_is_forgiven_and_words_are_not():
    same = runnable_pages.same_but_for_rounding
    assert same("12 ads, 50.1%", "12 ads, 50.2%")
    assert not same("12 ads, 50.1%", "12 ads, 58.1%")
    assert not same("12 ads", "12 rows")


@pytest.mark.parametrize(
    "module",
    [
        sparsemix,
        sparsemix.chains,
        sparsemix.data,
        sparsemix.metrics,
        sparsemix.persistence,
        sparsemix.reporting,
    ],
)
def test_every_public_name_is_in_the_reference(module):
    pages = "\n".join(path.read_text("utf-8") for path in (DOCS / "reference").glob("*.md"))
    documented = {name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", pages, re.MULTILINE)}
    assert set(module.__all__) - documented - {"__version__"} == set()


def test_the_architecture_page_knows_every_module():
    script = ROOT / "scripts" / "list_modules.py"
    spec = importlib.util.spec_from_file_location("list_modules", script)
    list_modules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(list_modules)
    package = ROOT / "src" / "sparsemix"
    rooms = {
        str(path.parent.relative_to(package)).strip(".")
        for path in package.rglob("*.py")
        if path.stem[0] != "_"
    }
    assert rooms == set(list_modules.ROOMS)
    page = list_modules.PAGE.read_text("utf-8")
    assert list_modules.page_with_modules(page) == page, "'just pages' writes the tables of modules anew"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"])
def test_links_of_pages_outside_the_site_lead_somewhere(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)#\s]+)", path.read_text("utf-8"))
    assert [link for link in links if "://" not in link and not (path.parent / link).exists()] == []


@pytest.mark.parametrize("guide", parameter_tables.TABLES, ids=lambda guide: guide.name)
def test_parameters_of_the_models_are_in_their_guide(guide):
    defaults = parameter_tables.defaults_of(parameter_tables.TABLES[guide])
    page = guide.read_text("utf-8")
    assert sorted(parameter_tables.names_in(page)) == sorted(defaults)
    assert parameter_tables.with_fresh_defaults(page, defaults) == page, (
        "'just pages' writes the defaults anew"
    )


def test_stale_defaults_are_written_anew():
    page = (
        '| parameter | default |\n|---|---|\n| `tol` | 10 | stops |\n| `init` | "auto": a word | starts |\n'
    )
    fresh = parameter_tables.with_fresh_defaults
    assert fresh(page, {"tol": "10", "init": '"auto"'}) == page
    assert fresh(page, {"tol": "1", "init": '"random"'}) == page.replace("10", "1").replace(
        '"auto": a word', '"random"'
    )


def test_defaults_of_models_that_differ_are_both_shown():
    class One:
        def get_params(self):
            return {"tol": 0.1, "init": "a"}

    class Two:
        def get_params(self):
            return {"tol": 0.2, "init": "a", "more": None}

    expected = {"tol": "0.1 (One), 0.2 (Two)", "init": '"a"', "more": "None"}
    assert parameter_tables.defaults_of([One, Two]) == expected


def test_pages_need_nothing_from_elsewhere():
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in settings
    assert "extra_javascript" not in settings
    assert "http" not in settings

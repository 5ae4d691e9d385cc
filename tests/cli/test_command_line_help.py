"""Every command and option explains itself, here and in the guide, and help is light."""

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from sparsemix.cli import main
from sparsemix.cli.app import PROGRAM, app

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "command_line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands
HEAVY = [
    "numba",
    "duckdb",
    "pyarrow",
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "jinja2",
    "safetensors",
    "numpy",
]


def section(command):
    """Return the part of the guide that is about one command."""
    start = GUIDE.index(f"## `{PROGRAM} {command}`")
    return GUIDE[start : GUIDE.find("\n## ", start)]


def options_of(command):
    return [param for param in COMMANDS[command].params if param.param_type_name == "option"]


def test_the_commands_are_these():
    assert sorted(COMMANDS) == [
        *(
            "assign",
            "clusters",
            "compare",
            "ctr",
            "demo",
            "fit",
            "mailbox",
            "profile",
            "report",
            "reproduce",
            "score",
            "suggest",
        ),
        "update",
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_documented(command):
    assert f"## `{PROGRAM} {command}`" in GUIDE, f"add '{command}' to docs/guide/command_line.md"
    assert COMMANDS[command].help


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented(command):
    for option in options_of(command):
        assert option.help, f"{option.name} of {command} has no help"
        for name in [*option.opts, *option.secondary_opts]:
            pattern = rf"`[^`]*{re.escape(name)}\b[^`]*`"
            assert re.search(pattern, section(command)), (
                f"add {name} to the section on {command} of the guide"
            )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_guide_has_no_option_that_does_not_exist(command):
    known = {name for option in options_of(command) for name in [*option.opts, *option.secondary_opts]}
    table = [line for line in section(command).splitlines() if line.startswith("| `-")]
    named = {name for line in table for name in re.findall(r"(?<![\w-])--?[a-z][\w-]*", line.split("|")[1])}
    assert named <= known


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples_that_parse(command, capsys):
    assert main([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{PROGRAM} {command}" in shown
    heading, *examples = COMMANDS[command].epilog.split("\n\n")
    assert heading == "Examples:"
    for example in examples:
        known = {name for option in options_of(command) for name in option.opts}
        assert example.startswith(f"{PROGRAM} {command}")
        assert set(re.findall(r"(?<=\s)--?[a-z][\w-]*", example)) <= known


def test_help_alone_and_version(capsys):
    assert main([]) == 0
    everything = capsys.readouterr().out
    assert main(["--help"]) == 0
    assert capsys.readouterr().out == everything
    assert all(command in everything for command in COMMANDS)
    assert main(["--version"]) == 0
    assert re.fullmatch(rf"{PROGRAM} \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("command", "option"),
    [("compare", "held_out"), ("clusters", "level"), ("suggest", "level"), ("report", "level")],
)
def test_help_says_in_words_which_ends_a_share_may_not_have(command, option, capsys):
    [found] = [param for param in options_of(command) if param.name == option]
    assert found.help.endswith(", above 0 and below 1.")
    assert main([command, "--help"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if found.opts[0] in line.split()]
    assert "<=" not in line


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    code = (
        f"import sys, json; from sparsemix.cli import main; main({arguments!r});"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]), file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stderr) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_body_is_short(command):
    tree = ast.parse(inspect.getsource(inspect.unwrap(COMMANDS[command].callback)))
    docstring, *body = tree.body[0].body
    assert isinstance(docstring, ast.Expr)
    assert body[-1].end_lineno - body[0].lineno + 1 <= 20

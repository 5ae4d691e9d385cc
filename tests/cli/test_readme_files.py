"""The README's examples and the script of the transcript do what a reader expects of them."""

import re
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SHELL = [shlex.split(line) for line in README.splitlines() if line.startswith("sparsemix ")]
OUTPUTS = {command[command.index("-o") + 1] for command in SHELL if "-o" in command}
SAVED = set(re.findall(r'save_model\(\w+, "([^"]+)"\)', README))


def test_python_and_the_command_line_write_different_models():
    assert SAVED
    assert not SAVED & OUTPUTS


def test_what_the_examples_write_is_no_part_of_the_project():
    ignored = [line.lstrip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()]
    written = SAVED | OUTPUTS | {"demo_ads.csv", "demo_ads.smx", "report.html"}
    assert {"clusters.parquet", "ads.smx"} <= written
    assert [name for name in sorted(written) if not any(fnmatch(name, line) for line in ignored)] == []


def test_the_script_of_the_transcript_explains_itself():
    page = ROOT / "docs" / "transcript.md"
    before = page.stat().st_mtime_ns
    command = [sys.executable, ROOT / "scripts" / "make_transcript.py", "--help"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "SPARSEMIX_DATA" in run.stdout
    assert page.stat().st_mtime_ns == before

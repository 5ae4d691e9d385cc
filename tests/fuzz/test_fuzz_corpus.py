"""Inputs that fuzzing has found, and the targets that they are for; `fuzz.py` looks for more."""

from pathlib import Path

import pytest
from fuzz_mutations import changed_model_file
from fuzz_targets import TARGETS, sealed_model_file

CORPUS = Path(__file__).parent / "corpus"
GOLDEN = sorted(Path(__file__).parents[1].glob("**/golden/*.smx"))


def test_there_are_inputs_for_every_target():
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_found_breaks_nothing(target):
    inputs = sorted((CORPUS / target).iterdir())
    assert inputs
    for path in inputs:
        TARGETS[target](path.read_bytes())


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_changes_inside_whole_files_break_nothing(path):
    content = path.read_bytes()
    changed = [found for seed in range(60) if (found := changed_model_file(content, seed)) is not None]
    assert len(changed) > 30
    for found in changed:
        sealed_model_file(found)

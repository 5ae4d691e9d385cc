# Shortcuts; `just` alone lists them. Without just: the same commands by hand.

set positional-arguments

_default:
    @just --list

# An environment with everything for development, in .venv
install:
    python3 -m venv .venv
    .venv/bin/pip install -e '.[dev]'

# All gates, or the named ones: just check lint types
check *gates:
    scripts/check "$@"

# Quick tests, as in the README
test *arguments:
    .venv/bin/python -m pytest "$@"

# Statistical and large tests too
test-all:
    .venv/bin/python -m pytest -m 'slow or not slow'

# Put code into the agreed form
format:
    .venv/bin/ruff format .
    .venv/bin/ruff check --fix .

# The documentation while it is written, at http://127.0.0.1:8000
docs:
    .venv/bin/mkdocs serve

# Write what is made from the code anew: outputs of pages that run, tables of defaults and modules, the picture
pages:
    .venv/bin/python tests/house/runnable_pages.py
    .venv/bin/python tests/house/parameter_tables.py
    .venv/bin/python tests/cli/guide_commands.py docs/guide/command_line.md
    .venv/bin/python scripts/list_modules.py
    .venv/bin/python scripts/draw_clusters.py

# What a continuous-integration job runs: fresh environment, tests, gates
ci:
    .ci/run

# Remove caches, also of compiled kernels (needed after editing a kernel that other files call)
clean:
    find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
    rm -rf "${NUMBA_CACHE_DIR:-.numba_cache}" .mypy_cache .ruff_cache .pytest_cache .hypothesis site dist

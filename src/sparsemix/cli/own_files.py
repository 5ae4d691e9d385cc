"""Recognise the files that the commands write: models, assignments, reports."""

from pathlib import Path

ASSIGNMENT_COLUMNS = ["row", "cluster", "probability", "entropy"]
RATE_COLUMNS = ["user", "ad", "rate", "low", "high", "ad_rate"]

_PAGE_MARK = "Written by sparsemix"


def is_model_file(path: Path) -> bool:
    """Whether a file has the header of a model file; its content is not read."""
    from safetensors import SafetensorError, safe_open

    from sparsemix.persistence.header import FORMAT

    try:
        with safe_open(path, framework="numpy") as file:
            return bool((file.metadata() or {}).get("format") == FORMAT)
    except (OSError, SafetensorError):
        return False


def is_table_of(path: Path, columns: list[str]) -> bool:
    """Whether a file is a table that ``assign`` or ``ctr`` has written, by its columns."""
    from pyarrow import ArrowException, parquet

    if path.suffix.lower() == ".csv":
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline(1_000).replace('"', "").strip().split(",") == columns
    try:
        return bool(parquet.read_schema(path).names == columns)
    except (OSError, ArrowException):
        return False


def is_reproduction(path: Path) -> bool:
    """Whether a file is a page that ``reproduce`` has written, or the table beside it."""
    page = path.with_suffix(".html")
    return page.exists() and is_report(page)


def is_report(path: Path) -> bool:
    """Whether a file is a page that ``report``, ``demo`` or ``reproduce`` has written."""
    return path.is_file() and _PAGE_MARK in path.read_text("utf-8", "replace")

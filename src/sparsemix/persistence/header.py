"""The header of a model file: which fields it has, and what is wrong with one that breaks the rules."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sparsemix import __version__
from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.persistence.digest import canonical_json
from sparsemix.persistence.payload import Payload

FORMAT = "sparsemix"
FORMAT_VERSION = 1

_FIELDS = frozenset(
    {"format", "format_version", "kind", "library_version", "created_at", "parameters", "metadata", "sha256"}
)


def header_fields(payload: Payload) -> dict[str, str]:
    """Return every field of the header but the checksum."""
    return {
        "format": FORMAT,
        "format_version": str(FORMAT_VERSION),
        "kind": payload.kind,
        "library_version": __version__,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "parameters": canonical_json(payload.parameters),
        "metadata": canonical_json(payload.metadata),
    }


def check_fields(fields: Mapping[str, str]) -> None:
    """Raise ModelFileError unless this version of sparsemix wrote these fields or can read them."""
    if fields.get("format") != FORMAT:
        raise ModelFileError(
            "it is a safetensors file of another program. Give a file that sparsemix has written (save_model)"
        )
    _check_version(fields)
    missing, unknown = sorted(_FIELDS - fields.keys()), sorted(fields.keys() - _FIELDS)
    if missing:
        raise ModelFileError(f"its header lacks {', '.join(missing)}. Restore it from a copy")
    if unknown:
        raise ModelFileError(f"its header has an unknown field {shorten(unknown[0])}. Restore it from a copy")


def parse_object(fields: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return the JSON object in field `name`."""
    try:
        value = json.loads(fields[name])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the field {name!r} of its header is not JSON") from error
    if not isinstance(value, dict):
        raise ModelFileError(f"the field {name!r} of its header is not a JSON object")
    return value


def _check_version(fields: Mapping[str, str]) -> None:
    text = fields.get("format_version", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) >= 1):
        raise ModelFileError(f"its format_version is {shorten(text)}, not an integer >= 1")
    if int(text) > FORMAT_VERSION:
        writer = shorten(fields.get("library_version", "unknown"))
        raise ModelFileError(
            f"it has format version {text}, but sparsemix {__version__} reads up to {FORMAT_VERSION}. "
            f"Install the version of sparsemix that wrote it ({writer}) or a later one"
        )

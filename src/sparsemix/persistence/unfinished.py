"""A run that was interrupted, in the payload of the model that it is to go on with."""

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.persistence.payload import Payload

_RUN, _PREFIX = "run", "run_"
Arrays = dict[str, NDArray[Any]]


def with_run(stored: Payload, metadata: dict[str, Any], arrays: Arrays) -> Payload:
    """The payload of a model with what is known of its run."""
    return replace(
        stored,
        metadata=stored.metadata | {_RUN: metadata},
        arrays=stored.arrays | {_PREFIX + name: array for name, array in arrays.items()},
    )


def without_run(stored: Payload) -> Payload:
    """The payload of the model alone."""
    return replace(
        stored,
        metadata={name: value for name, value in stored.metadata.items() if name != _RUN},
        arrays={name: array for name, array in stored.arrays.items() if not name.startswith(_PREFIX)},
    )


def run_in(stored: Payload) -> tuple[dict[str, Any], Arrays] | None:
    """What `with_run` has put there, None if there is no run; ModelFileError if it is none."""
    arrays = {name.removeprefix(_PREFIX): a for name, a in stored.arrays.items() if name.startswith(_PREFIX)}
    if _RUN not in stored.metadata and not arrays:
        return None
    metadata = stored.metadata.get(_RUN)
    if not isinstance(metadata, dict):
        raise ModelFileError(f"its run is {shorten(metadata)}")
    return metadata, arrays

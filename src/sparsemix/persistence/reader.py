"""Read a model file: everything is checked before any model exists, and nothing in the file is executed."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.persistence import foreign
from sparsemix.persistence.digest import file_digest
from sparsemix.persistence.header import check_fields, parse_object
from sparsemix.persistence.names import NAME_ARRAYS, decode_names
from sparsemix.persistence.payload import STORED_DTYPES, Payload

_LENGTH_BYTES = 8  # a safetensors file begins with the length of its header
_WANTED = "Give a file that save_model or `sparsemix fit` has written"


def read_payload(path: str | os.PathLike[str], *, mmap: bool = True) -> Payload:
    """Read and check a model file.

    Parameters
    ----------
    path : str or PathLike
    mmap : bool, default=True
        Leave the arrays on disk, read-only, and let the system load what is used. With False they are
        read into memory and may be changed.

    Returns
    -------
    Payload

    Raises
    ------
    ModelFileError
        When the file is missing, foreign, damaged, cut short or written by a later version. The message
        has the path, what is wrong and what to do.

    Examples
    --------
    >>> read_payload("no_such_file.smx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ModelFileError: cannot read the model file 'no_such_file.smx': there is no ...
    """
    try:
        return _read(Path(path), mmap)
    except ModelFileError as error:
        raise ModelFileError(f"cannot read the model file {os.fspath(path)!r}: {error}.") from error
    except OSError as error:
        reason = error.strerror or "the system cannot read it"
        remedy = "Check the path and your rights to read it."
        raise ModelFileError(f"cannot read the model file {os.fspath(path)!r}: {reason}. {remedy}") from error


def _read(path: Path, mmap: bool) -> Payload:
    _check_is_file(path)
    _check_container(path)
    content = np.memmap(path, dtype=np.uint8, mode="r") if mmap else np.fromfile(path, dtype=np.uint8)
    fields, arrays = _split(np.asarray(content))
    if fields.pop("sha256") != file_digest(fields, arrays):
        raise ModelFileError("it is damaged: its checksum does not fit its content. Restore it from a copy")
    return Payload(
        kind=fields["kind"],
        parameters=parse_object(fields, "parameters"),
        metadata=parse_object(fields, "metadata"),
        feature_names=decode_names(arrays),
        arrays={name: array for name, array in arrays.items() if name not in NAME_ARRAYS},
    )


def _check_is_file(path: Path) -> None:
    if not path.exists():
        raise ModelFileError("there is no such file. Check the path")
    if path.is_dir():
        raise ModelFileError(f"it is a folder, not a file. {_WANTED}")
    if not stat.S_ISREG(path.stat().st_mode):
        raise ModelFileError(f"it is a device or a pipe, not a file. {_WANTED}")
    if path.stat().st_size == 0:
        raise ModelFileError("it is empty; perhaps the writing of it was cut short. Restore it from a copy")


def _check_container(path: Path) -> None:
    # The library checks the header's length, its JSON, and that shapes and offsets fill the file exactly.
    try:
        with safe_open(path, framework="numpy"):
            pass
    except SafetensorError as error:
        raise ModelFileError(_what_is_wrong(path)) from error


def _what_is_wrong(path: Path) -> str:
    with path.open("rb") as file:
        looks_like = foreign.describe(file.read(foreign.BYTES_LOOKED_AT))
    if looks_like is None:
        return f"it is not a model file, is damaged or cut short. {_WANTED}, or restore it from a copy"
    return f"it is not a model file: it looks like {looks_like}. {_WANTED}; tables are for read_table"


def _split(content: NDArray[np.uint8]) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    length = int.from_bytes(content[:_LENGTH_BYTES].tobytes(), "little")
    header = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length].tobytes())
    fields = header.pop("__metadata__", None) or {}
    check_fields(fields)
    body = content[_LENGTH_BYTES + length :]
    return fields, {name: _array(body, name, entry) for name, entry in header.items()}


def _array(body: NDArray[np.uint8], name: str, entry: dict[str, Any]) -> NDArray[Any]:
    if entry["dtype"] not in STORED_DTYPES:
        raise ModelFileError(
            f"its array {shorten(name)} has the element type {entry['dtype']}, which no model uses"
        )
    first, last = entry["data_offsets"]
    try:
        array = _aligned(body[first:last], STORED_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    except (ValueError, OverflowError) as error:
        raise ModelFileError(f"its array {shorten(name)} has an impossible shape") from error
    if array.dtype == bool and array.size and array.view(np.uint8).max() > 1:
        raise ModelFileError(f"its array {shorten(name)} is damaged: a truth value is neither 0 nor 1")
    return array


def _aligned(section: NDArray[np.uint8], dtype: str) -> NDArray[Any]:
    values = section.view(dtype)
    return values if values.flags.aligned else values.copy()

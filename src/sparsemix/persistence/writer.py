"""Write a model file."""

import os

from safetensors import SafetensorError
from safetensors.numpy import save_file

from sparsemix.foundation.errors import ModelFileError
from sparsemix.persistence.atomic import replacing
from sparsemix.persistence.digest import file_digest
from sparsemix.persistence.header import header_fields
from sparsemix.persistence.payload import Payload, check_payload, stored_arrays


def write_payload(path: str | os.PathLike[str], payload: Payload) -> None:
    """Write `payload` as one safetensors file; a file that is there stays whole until the new one is.

    Parameters
    ----------
    path : str or PathLike
    payload : Payload

    Raises
    ------
    ParameterError
        When the payload holds what a file cannot hold exactly, such as a Python object.
    ModelFileError
        When the file cannot be written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from sparsemix.persistence import read_payload
    >>> payload = Payload("online-bernoulli-mixture", arrays={"alpha": np.ones((2, 3))})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_payload(f"{folder}/model.smx", payload)
    ...     read_payload(f"{folder}/model.smx").arrays["alpha"].shape
    (2, 3)
    """
    check_payload(payload)
    arrays, fields = stored_arrays(payload), header_fields(payload)
    fields["sha256"] = file_digest(fields, arrays)
    try:
        with replacing(path) as temporary:
            save_file(arrays, temporary, metadata=fields)
    except (OSError, SafetensorError, ValueError) as error:  # ValueError: a NUL in the path
        reason = "the path or the content cannot be written"
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
        raise ModelFileError(
            f"cannot write the model file {os.fspath(path)!r}: {reason}. Nothing was changed there. "
            f"Choose an existing folder that you may write to and that has space left."
        ) from error

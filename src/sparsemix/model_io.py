"""Save and load models of every kind."""

import os
from typing import Any

from sparsemix.foundation.errors import ModelFileError, SparsemixError, parameter_error
from sparsemix.persistence import read_payload, write_payload
from sparsemix.registry import SavableModel, model_class, model_kinds


def save_model(model: SavableModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a file; a file that is there stays whole until the new one is.

    Parameters
    ----------
    model : estimator
        Fitted, or in the middle of a stream of `partial_fit`.
    path : str or PathLike
        By custom ends in ``.smx``.

    Raises
    ------
    ParameterError
        When `model` is not a model of sparsemix, or one of its parameters is not plain (a random generator as
        `random_state`, say).
    ModelFileError
        When the file cannot be written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from sparsemix import OnlineBernoulliMixture, load_model
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/ads.smx")
    ...     same = load_model(f"{folder}/ads.smx")
    >>> bool((same.predict(rows) == model.predict(rows)).all())
    True
    """
    if getattr(type(model), "model_kind", None) not in model_kinds():
        remedy = "Models of other libraries have their own way of saving."
        raise parameter_error("model", "save_model", "a model of sparsemix", model, remedy)
    write_payload(path, model.to_payload())


def load_model(path: str | os.PathLike[str], *, mmap: bool = True) -> Any:
    """Load a model that `save_model` has written.

    Files may come from anywhere: a hostile or damaged one raises an error and executes nothing.

    Parameters
    ----------
    path : str or PathLike
    mmap : bool, default=True
        Leave large arrays on disk until they are used.

    Returns
    -------
    estimator
        Equal to the bit to the one that was saved.

    Raises
    ------
    ModelFileError
        When the file is missing, foreign, damaged or too new, with the path and what to do.

    Examples
    --------
    >>> load_model("no_such_file.smx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ModelFileError: cannot read the model file 'no_such_file.smx': there is no ...
    """
    payload = read_payload(path, mmap=mmap)
    try:
        return model_class(payload.kind).from_payload(payload)
    except (SparsemixError, KeyError, TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise ModelFileError(f"cannot read the model file {os.fspath(path)!r}: {reason}.") from error

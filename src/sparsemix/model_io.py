"""Save and load models of every kind."""

import os
from typing import Any

from sparsemix.foundation.errors import ModelFileError, ParameterError, SparsemixError, parameter_error
from sparsemix.persistence import read_payload, write_payload
from sparsemix.registry import SavableModel, check_parameters, model_class, model_kinds


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
        When `model` is not a model of sparsemix, `path` is no path, or a parameter of the model breaks its rule, having
        been set since the model was fitted, or is not plain (an array, say).
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
    if not _is_model(model):
        remedy = "Models of other libraries have their own way of saving."
        if _is_model(path):
            remedy = "The arguments are the other way round: save_model(model, path)."
        raise parameter_error("model", "save_model", "a model of sparsemix", model, remedy)
    _check_path(path, "save_model")
    stored = model.to_payload()
    try:
        check_parameters(model)
    except ParameterError as error:
        raise ParameterError(
            f"{error} Set it to a good value first: such a file could not be loaded."
        ) from error
    write_payload(path, stored)


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
    ParameterError
        When `path` is no path, or `mmap` neither True nor False.
    ModelFileError
        When the file is missing, foreign, damaged or too new, or holds a parameter that breaks its rule, with the path
        and what to do.

    Examples
    --------
    >>> load_model("no_such_file.smx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sparsemix.foundation.errors.ModelFileError: cannot read the model file 'no_such_file.smx': there is no ...
    """
    _check_path(path, "load_model")
    if not isinstance(mmap, bool):
        raise parameter_error("mmap", "load_model", "True or False", mmap)
    payload = read_payload(path, mmap=mmap)
    try:
        model = model_class(payload.kind).from_payload(payload)
        check_parameters(model)
        return model
    except MemoryError as error:
        reason = "the model that it describes takes more memory than there is. Load it on a larger machine"
        raise ModelFileError(f"cannot read the model file {os.fspath(path)!r}: {reason}.") from error
    except ParameterError as error:
        raise ModelFileError(
            f"cannot read the model file {os.fspath(path)!r}: a parameter in it breaks its rule: {error} Write the "
            f"file anew with save_model."
        ) from error
    except (SparsemixError, ArithmeticError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, SparsemixError) else "its content makes no model of its kind"
        reason = reason.rstrip(".")
        raise ModelFileError(f"cannot read the model file {os.fspath(path)!r}: {reason}.") from error


def _is_model(thing: object) -> bool:
    return getattr(type(thing), "model_kind", None) in model_kinds()


def _check_path(path: object, owner: str) -> None:
    if isinstance(path, str | os.PathLike) and isinstance(os.fspath(path), str) and os.fspath(path):
        return
    remedy = "It is a model already; give the file that it is in." if _is_model(path) else ""
    raise parameter_error("path", owner, "the path of a file, as text or Path", path, remedy)

"""What goes over the wire: models as they are in files, and how many bytes there are in a message."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.foundation.extras import dask
from sparsemix.persistence import Payload
from sparsemix.registry import model_class


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call for a worker, delayed; delayed and future arguments are computed before, and anew if they are lost."""
    return dask("dask").delayed(function, name=function.__name__, pure=False)(*arguments)


def held(model: Any) -> Any:
    """A model for workers, delayed: built once and copied from one to the other."""
    return call(unpacked, model.to_payload())


def unpacked(payload: Payload) -> Any:
    """The model in a payload."""
    return model_class(payload.kind).from_payload(payload)


def n_bytes(message: Any) -> int:
    """Bytes of the arrays in nested tuples, lists, dicts, objects and sparse matrices.

    Examples
    --------
    >>> n_bytes((np.zeros(3), {"counts": sparse.csr_array((2, 2))}))
    36
    """
    return sum(array.nbytes for array in _arrays(message))


def _arrays(thing: Any) -> Iterator[Any]:
    if isinstance(thing, np.ndarray):
        yield thing
    elif sparse.issparse(thing):
        form: Any = thing
        yield from (form.data, form.indices, form.indptr)
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from _arrays(each)
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from _arrays(each)
    elif hasattr(thing, "__dataclass_fields__"):
        for name in thing.__dataclass_fields__:
            yield from _arrays(getattr(thing, name))

"""Questions about rows, asked of a model on all workers."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.distributed.batches import opened
from sparsemix.distributed.cluster import Cluster
from sparsemix.distributed.sources import as_batches
from sparsemix.distributed.wire import call, held
from sparsemix.foundation.errors import parameter_error
from sparsemix.registry import SavableModel, model_kinds

Question = str | Callable[[Any, Any], Any]


def answers(
    model: SavableModel, source: Any, question: Question = "predict", *, client: Any = None, **reading: Any
) -> Iterator[Any]:
    """Ask a model about each batch, on the workers, and yield the answers in the order of the batches.

    Parameters
    ----------
    model : fitted estimator
        Sent to each worker once.
    source : path, list of paths, Dask array or data frame, or list of delayed or future batches
        As in `fit`; labels in pairs ``(X, y)`` are left aside.
    question : str or callable, default="predict"
        A method that takes rows, of whatever model (``"transform"``, ``"score_samples"``), or a function of the model
        and the rows that workers can import.
    client : distributed.Client, optional
        By default the one that was opened last.
    **reading
        Arguments of `read_table`, for files alone.

    Yields
    ------
    answer
        What the method or function gives for a batch. Only a few batches are under way at once, so that memory does
        not grow with the rows.

    Raises
    ------
    ParameterError
        If `model` is no model, it has no such method, or `source` is none.
    DataError
        As the model's method.
    ClusterError
        If workers or the scheduler are lost for good.

    Notes
    -----
    The model goes to the scheduler once, as it is in a file, and from there to workers. A batch whose worker is lost is
    asked again, and the answers are the same.

    Examples
    --------
    >>> import numpy as np, dask.array as da
    >>> from distributed import Client
    >>> from sparsemix import BernoulliMixture
    >>> from sparsemix.distributed import answers
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = BernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> blocks = da.from_array(rows, chunks=(40, 2))
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     [len(scores) for scores in answers(model, blocks, "score_samples", client=client)]
    [40, 40, 20]
    """
    if getattr(type(model), "model_kind", None) not in model_kinds():
        raise parameter_error("model", "answers", "a model of sparsemix", model)
    if not callable(question) and not callable(getattr(model, str(question), None)):
        rule = f"a method of {type(model).__name__} that takes rows, or a function"
        raise parameter_error("question", "answers", rule, question)
    cluster = Cluster(client, "answers")
    batches = as_batches(source, None, reading, "answers")
    return _asked(cluster, model, batches, question)


def _asked(cluster: Cluster, model: Any, batches: list[Any], question: Question) -> Iterator[Any]:
    ready = cluster.start(held(model))
    yield from cluster.in_order(call(ask, ready, batch, question) for batch in batches)


def ask(model: Any, batch: Any, question: Question) -> Any:
    """What a model says about a batch; runs on a worker."""
    rows, _ = opened(batch)
    return question(model, rows) if callable(question) else getattr(model, question)(rows)


def predict(model: SavableModel, source: Any, *, client: Any = None, **reading: Any) -> NDArray[Any]:
    """Most probable component of each row, (n_rows,), in the order of the batches; as `answers`.

    Examples
    --------
    >>> import numpy as np, dask.array as da
    >>> from distributed import Client
    >>> from sparsemix import OnlineBernoulliMixture
    >>> from sparsemix.distributed import predict
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     found = predict(model, da.from_array(rows, chunks=(30, 2)), client=client)
    >>> bool((found == model.predict(rows)).all())
    True
    """
    return _joined(answers(model, source, "predict", client=client, **reading))


def predict_proba(model: SavableModel, source: Any, *, client: Any = None, **reading: Any) -> NDArray[Any]:
    """Responsibilities, (n_rows, n_components), in the order of the batches; as `answers`.

    Examples
    --------
    >>> import numpy as np, dask.array as da
    >>> from distributed import Client
    >>> from sparsemix import BernoulliMixture
    >>> from sparsemix.distributed import predict_proba
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = BernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     predict_proba(model, da.from_array(rows, chunks=(40, 2)), client=client).shape
    (100, 2)
    """
    return _joined(answers(model, source, "predict_proba", client=client, **reading))


def _joined(parts: Iterator[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(list(parts))

"""Which cluster each row belongs to, and how sure that is."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class AssigningModel(Protocol):
    """What a model must offer to be asked for assignments."""

    component_ids_: NDArray[Any]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return (n_rows, n_live) responsibilities."""
        ...


class Assignments(NamedTuple):
    """Clusters of rows.

    Attributes
    ----------
    clusters : (n_rows,) int64
        Component id of the most probable cluster; -1 is the clutter cluster.
    probabilities : (n_rows,) float64
        Its probability.
    entropies : (n_rows,) float64
        Entropy of all the row's probabilities in nats; 0 is certain.
    """

    clusters: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    entropies: NDArray[np.float64]


def assign(model: AssigningModel, rows: Any) -> Assignments:
    """Return the most probable cluster of each row, its probability, and the entropy.

    Parameters
    ----------
    model : fitted mixture
    rows : anything that the model's `predict` takes

    Returns
    -------
    Assignments

    Examples
    --------
    >>> from sparsemix import OnlineBernoulliMixture
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> found = assign(model, rows)
    >>> bool((found.clusters == model.predict(rows)).all()), bool((found.probabilities > 0.9).all())
    (True, True)
    """
    responsibilities = model.predict_proba(rows)
    ids = np.asarray(model.component_ids_, dtype=np.int64)
    best = responsibilities.argmax(axis=1)
    logs = np.log(responsibilities, out=np.zeros_like(responsibilities), where=responsibilities > 0)
    return Assignments(
        clusters=ids[best],
        probabilities=np.take_along_axis(responsibilities, best[:, None], axis=1)[:, 0],
        entropies=np.maximum(-(responsibilities * logs).sum(axis=1), 0.0),
    )

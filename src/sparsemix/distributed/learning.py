"""Learning on all workers of a cluster."""

import os
from pathlib import Path
from typing import Any

from sparsemix.distributed.cluster import Cluster
from sparsemix.distributed.mixtures import RowsOnWorkers
from sparsemix.distributed.online import Rounds
from sparsemix.distributed.run import OnJoin, Run
from sparsemix.distributed.sources import as_batches
from sparsemix.foundation.checks import at_least, callable_or_none, truth_value
from sparsemix.foundation.errors import parameter_error
from sparsemix.foundation.wording import kind_of
from sparsemix.model_io import load_model, save_model
from sparsemix.models.em import BernoulliMixture, MultinomialMixture
from sparsemix.models.online_profiles import OnlineBernoulliMixture

EM = (MultinomialMixture, BernoulliMixture)
CHILDREN, MOST_CHILDREN = 8, 10_000


def fit(
    model: Any,
    source: Any,
    y: Any = None,
    *,
    client: Any = None,
    n_children: int = CHILDREN,
    keep_rows: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    on_join: OnJoin | None = None,
    **reading: Any,
) -> Run:
    """Learn from rows that lie on disk or on workers; no row comes to the caller or the scheduler.

    Parameters
    ----------
    model : OnlineBernoulliMixture, MultinomialMixture or BernoulliMixture
        Fitted in place, with its own parameters; it has no `labels_` then, `predict` finds them.
    source : path, list of paths, Dask array or data frame, or list of delayed or future batches
        Files that all workers can read, each a batch that holds its rows whole; blocks of rows, sparse or dense;
        partitions of a data frame with a column for each feature; or batches as in `fit_batches`, each `X` or a pair
        ``(X, y)``.
    y : Dask array, optional
        Components that rows of a collection are known to belong to, or -1, cut as it is.
    client : distributed.Client, optional
        By default the one that was opened last.
    n_children : int, default=8
        Of the online learner: how many learn side by side from the same posterior. The model depends on it, but not on
        the number of workers; 1 gives what `partial_fit` of the batches and `prime` give, to the bit.
    keep_rows : bool, default=False
        Of EM: whether workers keep the rows in their memory between epochs; without it they load them anew.
    checkpoint : str or PathLike, optional
        A model file that is written after each join; not for EM with several starts or in leaps.
    resume : bool, default=False
        Go on from `checkpoint`, if it is there, with its parameters; the same rows give the same bits as if there had
        been no break.
    on_join : callable, optional
        Told a `Join` after each, when the model has it; what it raises ends the fit, and the model stays as it was
        after that join.
    **reading
        Arguments of `read_table`, for files alone; ``label=`` is the column of known components.

    Returns
    -------
    Run
        Joins with their rows, bytes and seconds.

    Raises
    ------
    ParameterError
        If a parameter, `source` or `client` breaks its rule.
    DataError
        As the model's `fit`; it names the file.
    ModelFileError
        If `checkpoint` is no file of such a model.
    ClusterError
        If workers or the scheduler are lost for good.

    Notes
    -----
    The result is the same to the bit for any number of workers, in any order of their answers, and if workers are lost:
    what they were at is done again elsewhere, and every row counts once.

    EM: expected counts of batches are added in a tree whose form depends on the number of batches alone. The result
    equals `fit_batches` but for rounding, and with one batch to the bit.

    An epoch costs O(nnz x n_components) on the workers. A message holds the non-zero expected counts of its batch, 12
    bytes each; the scheduler holds parameters, 8 bytes for each component and feature.

    Online learner (ADS, section 4.2): the first rows prime the model on one worker. Then there are rounds, in which
    each child learns a share of the rows, as many as the learner alone would before it looks at its components anew,
    and all together at most half of the rows before them; shares end where batches do. What has changed comes back,
    20 bytes for each explicit feature of a component, and is added in the order of the rows; components come and go
    between rounds only. A child whose share of the rows that may wait is full leaves the rest of its rows to a further
    step of the same round.

    Examples
    --------
    >>> import numpy as np, dask.array as da
    >>> from distributed import Client
    >>> from sparsemix import BernoulliMixture
    >>> from sparsemix.distributed import fit
    >>> rng = np.random.default_rng(0)
    >>> ads = np.vstack([rng.random((50, 8)) < [0.9] * 4 + [0.1] * 4, rng.random((50, 8)) < [0.1] * 4 + [0.9] * 4])
    >>> model = BernoulliMixture(n_components=2, random_state=0)
    >>> with Client(processes=False, dashboard_address=":0") as client:
    ...     run = fit(model, da.from_array(ads, chunks=(40, 8)), client=client)
    >>> run.joins[0].n_messages, run.joins[0].n_rows, len(run.joins) == model.n_iter_
    (3, 100, True)
    """
    if not isinstance(model, (OnlineBernoulliMixture, *EM)):
        rule = "an OnlineBernoulliMixture, a MultinomialMixture or a BernoulliMixture"
        raise parameter_error("model", "fit", rule, model, "Other models need all rows in one place.")
    at_least("n_children", "fit", n_children, 1, most=MOST_CHILDREN)
    for name, value in (("keep_rows", keep_rows), ("resume", resume)):
        truth_value(name, "fit", value)
    callable_or_none("on_join", "fit", on_join)
    cluster, run = Cluster(client, "fit"), Run(on_join=on_join)
    batches = as_batches(source, y, reading, "fit")
    file = _file_of(checkpoint)
    goes_on = False
    if resume and file is not None and file.exists():
        _adopt(model, file)
        goes_on = True
    if isinstance(model, OnlineBernoulliMixture):
        _fit_online(model, cluster, batches, int(n_children), run, file, goes_on=goes_on)
    else:
        n_rows = model.n_rows_seen_ if goes_on else None
        rows = RowsOnWorkers(cluster, cluster.kept(batches) if keep_rows else batches, model, run, n_rows)
        _fit_em(model, rows, run, file, goes_on=goes_on)
    return run


def _file_of(checkpoint: Any) -> Path | None:
    if checkpoint is None:
        return None
    if not isinstance(checkpoint, str | os.PathLike):
        raise parameter_error("checkpoint", "fit", "None or the path of a model file", checkpoint)
    return Path(checkpoint)


def _fit_online(
    model: Any,
    cluster: Cluster,
    batches: list[Any],
    n_children: int,
    run: Run,
    file: Path | None,
    *,
    goes_on: bool,
) -> None:
    if model.n_passes != 1:
        remedy = "Rows are not read twice there; more rows at first, by priming_rows, help as well."
        raise parameter_error("n_passes", "fit", "1 on a cluster", model.n_passes, remedy)
    if not goes_on:
        model.__dict__.pop("_learner", None)

    def save() -> None:
        if file is not None:
            save_model(model, file)

    Rounds(cluster, batches, model, n_children=n_children, run=run, save=save).learn()


def _fit_em(model: Any, rows: RowsOnWorkers, run: Run, file: Path | None, *, goes_on: bool) -> None:
    if file is not None and (model.n_init > 1 or model.accelerate):
        rule = "None with several starts or accelerate=True, which cannot go on to the same bits"
        raise parameter_error("checkpoint", "fit", rule, str(file))
    asked = {"warm_start": model.warm_start, "max_iter": model.max_iter}
    ours = asked
    if goes_on:  # the last epoch is looked at again
        ours = {"warm_start": True, "max_iter": max(1, model.max_iter - model.n_iter_ + 1)}

    def follow(_epoch: Any) -> None:
        if file is not None:
            save_model(model.set_params(**asked), file)
            model.set_params(**ours)
        run.add(rows.last_join)

    model.set_params(**ours)
    try:
        model.fit_elsewhere(rows, on_epoch=follow)
    finally:
        model.set_params(**asked)


def _adopt(model: Any, file: Path) -> None:
    """Let a model be as the one in a file."""
    found = load_model(file)
    if type(found) is not type(model):
        rule = f"the file of {kind_of(model)}"
        raise parameter_error("checkpoint", "fit", rule, str(file), f"It holds {kind_of(found)}.")
    model.__dict__.update(found.__dict__)

"""The public class of clusters in time, by Gibbs sampling."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sparsemix.chains.grouping import by_size
from sparsemix.data.digests import digest_of
from sparsemix.foundation.checks import callable_or_none
from sparsemix.foundation.errors import DataError
from sparsemix.models.time_sensitive import building, checks, run_payload
from sparsemix.models.time_sensitive.engine import Chain
from sparsemix.models.time_sensitive.learning import learn, learnt
from sparsemix.models.time_sensitive.mixture import MixtureInTime
from sparsemix.models.time_sensitive.reading import Table
from sparsemix.models.time_sensitive.runs import LEARNER, Progress, Run, Start, new_run
from sparsemix.models.time_sensitive.sampling import chosen, sample
from sparsemix.models.time_sensitive.solution import Solution, with_partition
from sparsemix.models.time_sensitive.state import IntVector, Prior, Rows
from sparsemix.models.time_sensitive.time_kernels import TimeKernel
from sparsemix.models.time_sensitive.times import times_of
from sparsemix.persistence import Payload
from sparsemix.persistence.unfinished import without_run


class TimeSensitiveMixture(MixtureInTime):
    """Clusters in time: a Dirichlet process mixture in which old rows count less, by collapsed Gibbs sampling.

    A row joins a cluster with a probability that grows with the cluster's recent rows, as weighed by a time kernel, or
    begins a new one (TDPM, eq 5). The number of clusters follows from the data. With the step kernel it is the standard
    Dirichlet process mixture, which knows no time.

    Parameters
    ----------
    concentration : float, default=1.0
        Weight of a new cluster, beside the weight 1 of a row that has just come.
    time_kernel : {"exponential", "step"} or TimeKernel, default="exponential"
    decay_rate, half_life : float per second, and duration such as "3d", default=None
        Of the exponential kernel; give one. Without either the half-life is 7 days.
    strict : bool, default=False
        Whether rows of equal times know nothing of each other, as in the paper. Else the later in `X` sees the earlier.
    family : {"multinomial", "bernoulli"}, default="multinomial"
        Words of a text, or presence of keywords.
    smoothing : float, default=0.1
        Pseudo-count of every feature in every cluster, multinomial rows.
    prior_mean, prior_strength : "empirical" or float, and float, default="empirical" and 1.0
        Mean of the features' probabilities, and how many rows it counts for; Bernoulli rows.
    negligible : float in (0, 1], default=1e-12
        A cluster whose history weighs less than this share of a new one takes no rows, whatever their words say: 40
        half-lives after its last row. Smaller is more exact, and slower by the logarithm.
    n_sweeps, burn_in, thin : int, default=60, 20, 4
        Visits to all rows; how many come before the first draw is kept; and one draw for how many.
    split_merge : float >= 0, default=0.2
        Moves for each row in a sweep that propose to cut a cluster in two or to join two.
    learn : bool, default=False
        Whether to learn the concentration, and the rate of the exponential kernel (unless `strict`), in as many sweeps
        of a chain as `burn_in`, at least 10, before the others begin.
    n_chains : int, default=1
        Independent chains.
    init : "sequential" or (n_rows,) array of int, default="sequential"
        Rows enter one after another in the order of time; or start in given clusters, and those with -1 enter.
    binarize : float >= 0 or None, default=None
        For Bernoulli rows: values above it count as present. None takes zeros and ones only.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
        Go on with a `fit` that was interrupted, to the same bits as without. X, times and what decides the posterior
        and the draws must be the same; start and seed stay those of that fit, and another `split_merge` holds for
        sweeps to come.
    n_jobs : int or None, default=None
        Threads, each of which runs chains of its own; the answer does not depend on it.
    verbose : int, default=0
        Print a line a sweep.

    Attributes
    ----------
    labels_ : (n_rows,) ndarray of int
        One partition for all draws, largest cluster first: that of the least expected variation of information that a
        search finds; with a kernel of bounded support the best draw.
    draws_ : (n_draws, n_rows) ndarray of int32
        Kept draws, chain after chain; labels mean nothing across draws.
    log_joint_ : (n_chains, n_sweeps) ndarray
        Log probability of rows and partition together after each sweep, nats.
    n_clusters_, moves_, split_merges_ : (n_chains, n_sweeps) ndarray of int
        Clusters after each sweep, rows that changed theirs one by one, and clusters that were cut or joined.
    concentration_, time_kernel_ : float and TimeKernel
        Those that were sampled with, as given or learnt.
    decay_rates_ : (n_clusters,) ndarray
        Per second, of each cluster of `labels_`; where each has its own, the most probable ones given the partition.
    learning_ : (n_steps, 2) ndarray
        Concentration and rate after each step of learning.
    weights_ : (n_clusters,) ndarray
    component_ids_ : (n_clusters,) ndarray of int
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    A sweep visits rows in the order of time and looks only at clusters that have rows before and after the visited one,
    that are about to begin, or whose history still weighs more than `negligible` of a new cluster. For a row with f
    features it costs O(those clusters + f times those of them that hold the feature), and with the exponential kernel
    the members that come within its memory; other kernels add up all members within their support. Memory is O(nnz).

    Examples
    --------
    Two threads about the same words, ten days apart:

    >>> import numpy as np
    >>> import sparsemix as sm
    >>> days = np.concatenate([np.arange(6) / 6, 10 + np.arange(6) / 6])
    >>> texts = np.tile([[2, 1, 0], [1, 2, 0]], (6, 1))
    >>> model = sm.TimeSensitiveMixture(half_life="6h", concentration=0.1, random_state=0)
    >>> model.fit(texts, times=days * 86400).labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """

    model_kind: ClassVar[str] = "time-sensitive-mixture"
    _run: Run | None = None  # that was interrupted
    _new_settings = checks.without_rows

    def __init__(
        self,
        concentration: float = 1.0,
        *,
        time_kernel: str | TimeKernel = "exponential",
        decay_rate: float | None = None,
        half_life: Any = None,
        strict: bool = False,
        family: str = "multinomial",
        smoothing: float = 0.1,
        prior_mean: str | float = "empirical",
        prior_strength: float = 1.0,
        negligible: float = 1e-12,
        n_sweeps: int = 60,
        burn_in: int = 20,
        thin: int = 4,
        split_merge: float = 0.2,
        learn: bool = False,
        n_chains: int = 1,
        init: str | ArrayLike = "sequential",
        binarize: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.concentration = concentration
        self.time_kernel = time_kernel
        self.decay_rate = decay_rate
        self.half_life = half_life
        self.strict = strict
        self.family = family
        self.smoothing = smoothing
        self.prior_mean = prior_mean
        self.prior_strength = prior_strength
        self.negligible = negligible
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.split_merge = split_merge
        self.learn = learn
        self.n_chains = n_chains
        self.init = init
        self.binarize = binarize
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: object = None,  # noqa: ARG002
        *,
        times: Any = None,
        on_sweep: Callable[[Progress], None] | None = None,
    ) -> Self:
        """Sample the clusters of all rows.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Whole numbers >= 0; zeros and ones for Bernoulli rows.
        y : ignored
        times : (n_rows,) ISO texts, seconds since 1970 or datetimes, in any order
            None takes those of a Dataset. The step kernel needs none.
        on_sweep : callable, optional
            Told a `Progress` after each sweep, with the number -1 for the chain that learns; what it raises ends the
            fit. An interrupted fit keeps what was drawn, see `is_complete_`.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows, or holds values that the family does not know, or `times` or `init` do not fit, or if a
            warm start is given other rows or times than the fit that was interrupted.
        """
        owner = type(self).__name__
        callable_or_none("on_sweep", owner, on_sweep)
        settings, kernel = checks.without_rows(self)
        table = Table(X, self.family, self.binarize, owner)
        features = table.features(owner)
        seconds = times_of(X, times, table.n_rows, owner, needed=kernel.kind != "step")
        hyper, start = checks.hyperparameters(self, table), checks.start_of(self, table.n_rows)
        checks.memory(self, settings, table.n_rows)
        order = np.argsort(seconds, kind="stable")
        matrix, digest = table.matrix[order], digest_of(table.matrix, seconds)
        run = new_run(settings, Start(hyper, kernel, start[order], order, digest))
        if self.warm_start and self._run is not None:
            run = checks.going_on(self, self._run, run, self._features, features)
        no_rates = np.empty(0, np.int64)
        begun = Solution(hyper, kernel, seconds[order], run.start.assigned, matrix, None, features, no_rates)
        rows = building.rows_of(matrix, np.arange(order.size))
        self._check_start(begun)
        self._go_on(run, begun, rows, partial(self._follow, on_sweep))
        return self

    @property
    def is_complete_(self) -> bool:
        """Whether all sweeps of `fit` were made; if not, the same `fit` with `warm_start=True` goes on.

        Until then `labels_` is where the rows are in the chain with the highest log joint, `draws_` and `learning_`
        have what there is so far, and `log_joint_` NaN, the other traces -1 for sweeps to come.
        """
        self._opened()
        return self._run is None

    @property
    def n_rows_seen_(self) -> int:
        """Rows that were learnt."""
        return int(self._opened().times.size)

    @property
    def n_sweeps_in_all(self) -> int:
        """Sweeps that `fit` makes with these parameters: of all chains, and of the one that learns."""
        return int(self.n_chains) * int(self.n_sweeps) + checks.steps_of_learning(self)

    def to_payload(self) -> Payload:
        """The exact state for a model file: rows, their times and clusters; draws only if the fit was interrupted.

        ParameterError if the time kernel is a function.
        """
        stored = super().to_payload()
        return stored if self._run is None else run_payload.added(stored, self._run)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = super().from_payload(without_run(stored))
        run = run_payload.unpack(stored, model._clusters)
        if run is not None:
            model._keep(run, model._clusters, is_complete=False)
        return model

    def _check_start(self, begun: Solution) -> None:
        timing = building.timing_of(begun.kernel, begun.times, 1.0, **begun.hyper.rules)
        if not building.fill(building.no_clusters(begun.times.size), timing, begun.labels):
            raise DataError(
                f"'init' of {type(self).__name__} must put no row into a cluster of which nothing weighs any more, but "
                f"this kernel forgets. Set init='sequential'."
            )

    def _go_on(self, run: Run, begun: Solution, rows: Rows, follow: Callable[[Progress], None]) -> None:
        """Make the sweeps that are left, and keep what there is at their end or when they are interrupted."""
        try:
            solution = self._sampled(run, begun, rows, follow)
        except BaseException:
            if run.has_begun():
                self._keep(run, _shown(run, begun, by_size(run.latest())), is_complete=False)
            raise
        self._keep(run, solution, is_complete=True)

    def _sampled(self, run: Run, begun: Solution, rows: Rows, follow: Callable[[Progress], None]) -> Solution:
        """Learn and sample what is left, and choose one partition for all draws."""
        prior, moves_per_row = _prior_of(begun, rows), float(self.split_merge)
        learn(run, rows, prior, begun.times, moves_per_row, follow)
        hyper, kernel = learnt(run)
        prior = prior._replace(concentration=hyper.concentration)
        timing = building.timing_of(kernel, begun.times, hyper.concentration, **hyper.rules)
        sample(partial(Chain, rows, prior, timing, moves_per_row), run, follow)
        return _shown(run, begun, chosen(run, search=bool(np.isinf(timing.support))))

    def _follow(self, on_sweep: Callable[[Progress], None] | None, progress: Progress) -> None:
        if self.verbose:
            chain = "learning" if progress.chain == LEARNER else f"chain {progress.chain + 1}"
            of = f"[{type(self).__name__}] {chain}, sweep {progress.sweep + 1}"
            print(
                f"{of}: log joint {progress.result.log_joint:.6g}, {progress.result.n_clusters} clusters, "
                f"{progress.result.n_moved} rows moved"
            )
        if on_sweep is not None:
            on_sweep(progress)

    def _keep(self, run: Run, solution: Solution, *, is_complete: bool) -> None:
        """Show what was sampled, and remember the run if it is to go on."""
        order, draws = run.start.order, run.kept()
        self.draws_, self.labels_ = np.empty_like(draws), np.empty_like(solution.labels)
        self.draws_[:, order], self.labels_[order] = draws, solution.labels
        self.log_joint_, self.n_clusters_ = run.log_joint, run.n_clusters
        self.moves_, self.split_merges_ = run.n_moved, run.n_split_merge
        self.learning_ = run.learning[: run.n_learnt()]
        self._adopt(solution)
        self._run = None if is_complete else run


def _shown(run: Run, begun: Solution, labels: IntVector) -> Solution:
    """A partition, with what is learnt so far."""
    hyper, kernel = learnt(run)
    return with_partition(begun._replace(hyper=hyper, kernel=kernel), labels)


def _prior_of(begun: Solution, rows: Rows) -> Prior:
    hyper = begun.hyper
    numbers = (hyper.family, hyper.concentration, hyper.a, hyper.b)
    return building.prior_of(rows, begun.features.n_features, *numbers)

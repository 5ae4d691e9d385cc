"""The public class of the online mixture of Bernoulli profiles."""

import time
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sparsemix.data.labels import known_labels
from sparsemix.foundation.errors import DataError
from sparsemix.models.online_profiles import checks, payload
from sparsemix.models.online_profiles.answering import Answering
from sparsemix.persistence import Payload
from sparsemix.persistence.unpacking import parameters_of

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


class OnlineBernoulliMixture(Answering, ClusterMixin, BaseEstimator):
    """Bayesian mixture of Bernoulli profiles, learnt in one pass over sparse binary rows.

    Every row (an ad, say) belongs to one of `n_components` clusters, and every cluster holds each feature (a
    keyword) with a probability of its own, about which the model keeps a Beta distribution. The first rows are
    held back and clustered together; after that each row is seen once, by assumed density filtering. Rows that fit
    no cluster wait until there are enough of them to tell whether they are clusters of their own.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Most clusters that the model may have; clusters without rows are removed, and two may become one to make
        room for a topic that comes late. "auto" lets their number grow and shrink by evidence, up to 1,000.
    weight_concentration : float, default=1.0
        Dirichlet pseudo-count per cluster.
    prior_mean : float in (0, 1) or "empirical", default="empirical"
        Prior probability that a row holds a feature; "empirical" is the share of ones in the first rows.
    prior_strength : float or "auto", default="auto"
        Pseudo-count of each feature's prior Beta; "auto" takes the one of highest evidence in the first rows.
    priming_rows : int or "auto", default="auto"
        Rows that are held back and clustered together before the stream begins. "auto" means 100 per cluster and
        at least 20,000. Where clusters overlap, up to eight times as many stay at hand, see Notes.
    clutter : bool, default=False
        Whether rows that fit nowhere go to a clutter component, with one probability for all features and the id -1.
    binarize : float >= 0 or None, default=None
        Values above it count as present. None takes zeros and ones only.
    min_responsibility : float in [0, 1), default=0.001
        A cluster that is responsible for a row by less learns nothing from it.
    cull_threshold : float >= 0, default=0.002
        A feature stops having a Beta of its own in a cluster where that changes responsibilities by less, in nats a
        row; by a tenth of it in a stream whose first rows clusters share. 0 keeps every feature that a cluster
        has seen.
    min_component_share : float in [0, 1), default=0.02
        Clusters with less than this share of an average cluster's rows are removed, unless a label has named them;
        the others learn their rows.
    staleness : float in [0, 1], default=0.1
        Responsibilities may come from parameters that miss the last rows, up to this share of the stream. 0 is the
        paper's scheme, exact and slow: new parameters after every row.
    reservoir_rows : int or "auto", default="auto"
        Most rows that wait because they fit no cluster; when they are so many, they are clustered. "auto" means 10
        per cluster and at least 1,000, with `half_life_rows` at most a quarter of it. With 0 every row is learnt at
        once and no cluster is born after the first rows, as in the paper.
    half_life_rows : float >= 1 or None, default=None
        After so many more rows, a row counts half: all that was learnt decays towards the prior. None never forgets.
        A stream that goes on and on ends with the evidence of ``half_life_rows / ln 2`` rows.
    n_passes : int, default=1
        How often `fit` reads the rows. Each further pass replaces about two thirds of the evidence, whose total
        stays the number of rows.
    random_state : int, RandomState or None, default=None
        Seed of the clustering of the first rows and of those that waited; nothing else is random.
    n_jobs : int or None, default=None
        Threads that learn and answer; None is one, -1 all processors. No answer depends on it.
    verbose : int, default=0
        Print a line when the first rows have been clustered.

    Attributes
    ----------
    weights_ : (n_live,) ndarray
        Expected share of each live component, in the order of `component_ids_`.
    component_ids_ : (n_live,) ndarray of int
        Ids of the live components, never used twice; -1 is the clutter.
    labels_ : (n_rows,) ndarray of int
        Component of each row given to `fit`.
    log_evidence_ : float
        Log evidence, nats: of the first rows and their partition, plus the log density of every later row before
        it was learnt.
    lineage_ : list of LineageEvent
        What happened to the components: row, event ("born", "merged", "removed"), component, detail.
    n_rows_seen_ : int
    n_passes_ : int
        Passes over the rows, by `fit` or `learn_again`.
    n_features_in_ : int
        Features seen so far; grows with named columns.
    feature_names_in_ : (n_features_in_,) ndarray of str
        Only where columns have names.
    timings_ : dict
        Seconds spent in "priming", "streaming" and, after `fit`, "labelling".

    Notes
    -----
    Rows of the same columns that arrive by `partial_fit` in any batching give the same bits as all at once. Order
    matters: this is a model of a stream. Cost a row: O(clusters + features of the row x clusters that know them).
    Rows that waited cost some 30 passes over them and a few over the parameters, once every `reservoir_rows` such
    rows; until then answers come from a model that has learnt them without new clusters. Where several clusters share
    more than a tenth of the first rows, all rows stay at hand until there are eight times `priming_rows`, and are
    shared out anew when they have doubled: up to 30 passes over them, each time. A birth adds counts of rows, a merge
    adds pseudo-counts: the evidence of all clusters together stays that of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> rng = np.random.default_rng(0)
    >>> ads = np.vstack([rng.random((50, 8)) < [0.9] * 4 + [0.1] * 4, rng.random((50, 8)) < [0.1] * 4 + [0.9] * 4])
    >>> model = sm.OnlineBernoulliMixture(n_components=2, random_state=0).fit(ads)
    >>> len(set(model.labels_[:50])), len(set(model.labels_))
    (1, 2)
    >>> [s.feature for s in model.suggest([0, 1], n=2)]
    [3, 2]
    """

    model_kind: ClassVar[str] = "online-bernoulli-mixture"
    takes_counts: ClassVar[bool] = False

    def __init__(
        self,
        n_components: int | str = 10,
        *,
        weight_concentration: float = 1.0,
        prior_mean: float | str = "empirical",
        prior_strength: float | str = "auto",
        priming_rows: int | str = "auto",
        clutter: bool = False,
        binarize: float | None = None,
        min_responsibility: float = 1e-3,
        cull_threshold: float = 2e-3,
        min_component_share: float = 0.02,
        staleness: float = 0.1,
        reservoir_rows: int | str = "auto",
        half_life_rows: float | None = None,
        n_passes: int = 1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.weight_concentration = weight_concentration
        self.prior_mean = prior_mean
        self.prior_strength = prior_strength
        self.priming_rows = priming_rows
        self.clutter = clutter
        self.binarize = binarize
        self.min_responsibility = min_responsibility
        self.cull_threshold = cull_threshold
        self.min_component_share = min_component_share
        self.staleness = staleness
        self.reservoir_rows = reservoir_rows
        self.half_life_rows = half_life_rows
        self.n_passes = n_passes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn all rows in one pass, from nothing.

        Parameters
        ----------
        X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
            Zeros and ones.
        y : (n_rows,) array of int, optional
            Component that a row is known to belong to, 0 to ``n_components - 1``, or -1.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If a parameter breaks its rule.
        DataError
            If `X` has no rows or holds other values than 0 and 1, or `y` does not fit.
        """
        settings = self._new_settings()
        rows = self._rows(X)
        if rows.n_rows == 0:
            raise DataError(
                "'X' of fit must have at least one row, but found array with 0 sample(s). Add rows."
            )
        labels = known_labels(y, rows.n_rows, settings.n_components)
        self._start(settings, rows)
        self._learn(rows, labels)
        self.prime()
        for _ in range(self.n_passes - 1):
            self._learner.learn_again([(rows, labels)])
        self._adopt(self._learner)
        started = time.perf_counter()
        answers = [self._view.assignments(block, self._n_threads()) for block in self._learner.blocks(rows)]
        self.labels_ = np.concatenate(answers)
        self.timings_["labelling"] = time.perf_counter() - started
        return self

    def partial_fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn more rows of a stream; parameters are as in `fit`.

        Until `priming_rows` rows are there they are only held back; predictions then come from a model primed with
        what there is.

        Returns
        -------
        self
        """
        rows = self._rows(X)
        is_new = not hasattr(self, "_learner")
        settings = self._new_settings() if is_new else self._learner.settings
        labels = known_labels(y, rows.n_rows, settings.n_components)
        if is_new:
            self._start(settings, rows)
        self._learn(rows, labels)
        return self

    def learn_again(self, batches: Iterable[tuple[Any, ArrayLike | None]]) -> Self:
        """Learn all rows once more, as `fit` does with `n_passes`.

        Parameters
        ----------
        batches : iterable of (X, y)
            All rows that the model has seen, whole or in batches; `X` and `y` as in `fit`, `y` may be None.

        Returns
        -------
        self

        Notes
        -----
        The evidence is scaled back after every twentieth of the rows, and at the end of a batch: other batches are a
        slightly different model.

        Examples
        --------
        >>> import numpy as np
        >>> import sparsemix as sm
        >>> ads = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 50, axis=0)
        >>> model = sm.OnlineBernoulliMixture(n_components=2, random_state=0).partial_fit(ads).prime()
        >>> model.learn_again([(ads[:50], None), (ads[50:], None)]).n_passes_
        2
        """
        pairs = checks.pairs_of(batches)
        self.prime()
        most = self._learner.settings.n_components
        tables = ((self._rows(X), y) for X, y in pairs)
        self._learner.learn_again((rows, known_labels(y, rows.n_rows, most)) for rows, y in tables)
        self._adopt(self._learner)
        return self

    def prime(self) -> Self:
        """End the priming now, with the rows that are there, and begin the stream; rows that wait are clustered.

        Rows that stay at hand are let go, after a last look if there are a quarter more of them than at the last.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._learner.n_threads = self._n_threads()
        self._learner.prime()
        self._adopt(self._learner)
        if self.verbose:
            detail = self.lineage_[0].detail
            print(f"[{type(self).__name__}] {detail} in {self.timings_['priming']:.1f} s")
        return self

    def to_payload(self) -> Payload:
        """The exact state for a model file, also in the middle of a stream."""
        check_is_fitted(self)
        return payload.pack(self.model_kind, self.get_params(), self._learner)

    @classmethod
    def from_payload(cls, stored: Payload) -> Self:
        """The model that `to_payload` packed; ModelFileError if anything does not fit."""
        model = cls(**parameters_of(stored, cls))
        model._adopt(payload.unpack(stored, cls))
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

"""The public classes: mixtures of multinomials and of Bernoulli profiles."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sparsemix.models.em.mixture import Mixture
from sparsemix.models.em.state import FloatMatrix


class MultinomialMixture(Mixture):
    """Mixture of multinomials over counts, by hard or soft expectation maximisation, with partial labels.

    Every row (a document) belongs to one of `n_components` clusters, and every cluster draws its features (words)
    with probabilities of its own: naive Bayes with classes that nobody, or not everybody, has told.

    Parameters
    ----------
    n_components : int, default=10
        Clusters.
    algorithm : {"soft", "hard"}, default="soft"
        Whether a row counts for every cluster by its responsibility, or for the most probable one alone (of equals
        the first).
    init : {"repaired", "k-means++", "random"} or (n_rows, n_components) array, default="repaired"
        Where EM starts. "k-means++": from rows far from one another, in the divergence of the family; "repaired": from
        the same, and then splits and merges that raise the evidence; "random": from random responsibilities; an array:
        from given ones.
    n_init : int, default=1
        Starts; the one with the highest objective stays.
    max_iter : int, default=100
        Most epochs of a start.
    tol : float, default=1e-4
        A start ends when an epoch raises the objective by less, nats for each row (by weight).
    accelerate : bool, default=False
        Whether soft EM runs in leaps (SQUAREM), which takes fewer epochs where clusters overlap; the objective still
        never falls, and other starts may win.
    smoothing : float, default=0.5
        Pseudo-count of every feature in every cluster; 0 is maximum likelihood.
    class_weight_prior : float, default=0.0
        Pseudo-count of rows in every cluster.
    unlabeled_weight : float in [0, 1], default=1.0
        How much a row without a label counts, beside one with a label (Nigam et al. 2000). `smoothing` does not shrink
        with it: give less of both.
    seed_words : dict, optional
        For some clusters features that stand for them: ``{0: ["spam", "award"]}``. Those that no row has are left out,
        with an `UnknownFeaturesWarning`.
    seed_weight : float, default=10.0
        Pseudo-count of each of those.
    warm_start : bool, default=False
        Whether `fit` goes on from the fit before; with the same rows `trace_` and `n_iter_` go on too.
    random_state : int, RandomState or None, default=None
        Seed of the starts; nothing else is random.
    n_jobs : int or None, default=None
        Threads of the E step; the answer does not depend on it.
    verbose : int, default=0
        Print a line an epoch.

    Attributes
    ----------
    weights_ : (n_components,) ndarray
        Mixing weights p(k).
    word_probabilities_ : (n_components, n_features) ndarray
        p(w|k); the same as `profiles_`.
    labels_ : (n_rows,) ndarray of int
        Most probable component of each row given to `fit`; the known one where `y` tells it. Not after `fit_batches`.
    trace_ : (n_iter_,) ndarray
        Objective after each epoch, nats; it never falls by more than rounding.
    objective_ : str
        What that is: log likelihood, or with pseudo-counts log likelihood plus log prior; hard EM has the
        classification log likelihood, in which each row counts for its own component alone.
    log_likelihood_, n_iter_, converged_, n_impossible_ : of the best start
        Log likelihood of the rows, nats, without the prior; epochs; whether the last one gained less than `tol`; rows
        that no component can have made.
    n_rows_seen_ : int
        Rows that were learnt.
    component_ids_ : (n_components,) ndarray of int
        ``0 .. n_components - 1``.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    With all rows labelled and no `class_weight_prior` this is scikit-learn's `MultinomialNB`. An epoch costs
    O(nnz x n_components); no array of (n_rows, n_components) is made. Log likelihoods are of the words in their order,
    without multinomial coefficients (TEXT, eq 3.2). Parameters are checked by `fit`, which raises ParameterError.

    Examples
    --------
    The chapter's four documents: two speak of awards, two of Enron.

    >>> import numpy as np
    >>> import sparsemix as sm
    >>> words = ["america", "award", "canada", "enron", "notification", "payment"]
    >>> documents = np.array([[0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 1]])
    >>> model = sm.MultinomialMixture(n_components=2, random_state=0).fit(documents)
    >>> first, second, third, fourth = model.labels_
    >>> first == fourth, second == third, first == second
    (np.True_, np.True_, np.False_)

    One document is known to be of component 1; -1 is unknown.

    >>> model.fit(documents, y=[1, -1, -1, -1]).labels_
    array([1, 0, 0, 1])
    """

    model_kind: ClassVar[str] = "multinomial-mixture"
    takes_counts: ClassVar[bool] = True
    _family_name: ClassVar[str] = "multinomial"

    def __init__(
        self,
        n_components: int = 10,
        *,
        algorithm: str = "soft",
        init: str | ArrayLike = "repaired",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        accelerate: bool = False,
        smoothing: float = 0.5,
        class_weight_prior: float = 0.0,
        unlabeled_weight: float = 1.0,
        seed_words: Mapping[int, Sequence[Any]] | None = None,
        seed_weight: float = 10.0,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.smoothing = smoothing
        self.class_weight_prior = class_weight_prior
        self.unlabeled_weight = unlabeled_weight
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def word_probabilities_(self) -> FloatMatrix:
        """p(w|k), (n_components, n_features); rows sum to one."""
        return self.profiles_


class BernoulliMixture(Mixture):
    """Mixture of Bernoulli profiles over zeros and ones, by hard or soft expectation maximisation, with partial labels.

    The batch counterpart of `OnlineBernoulliMixture`: many passes, a point estimate, all features in every cluster.

    Parameters
    ----------
    n_components, algorithm, init, n_init, max_iter, tol, accelerate : as in `MultinomialMixture`.
    smoothing : float, default=0.3
        Pseudo-count of "on" and of "off" for every feature in every cluster; 0 is maximum likelihood.
    class_weight_prior, unlabeled_weight, seed_words, seed_weight, warm_start, random_state, n_jobs, verbose :
        As in `MultinomialMixture`.
    binarize : float >= 0 or None, default=None
        Values above it count as present. None takes zeros and ones only.

    Attributes
    ----------
    weights_ : (n_components,) ndarray
        Mixing weights p(k).
    profiles_ : (n_components, n_features) ndarray
        Probability that a row of the cluster holds the feature.
    labels_, trace_, objective_, log_likelihood_, n_iter_, converged_, n_impossible_, n_rows_seen_ :
        As in `MultinomialMixture`.
    component_ids_, n_features_in_, feature_names_in_ :
        As in `MultinomialMixture`.

    Notes
    -----
    With all rows labelled and no `class_weight_prior` this is scikit-learn's `BernoulliNB`. An epoch costs
    O(nnz x n_components): features that a row lacks are counted once for each component. Parameters are checked by
    `fit`, which raises ParameterError.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> rng = np.random.default_rng(0)
    >>> ads = np.vstack([rng.random((50, 8)) < [0.9] * 4 + [0.1] * 4, rng.random((50, 8)) < [0.1] * 4 + [0.9] * 4])
    >>> model = sm.BernoulliMixture(n_components=2, random_state=0).fit(ads)
    >>> len(set(model.labels_[:50])), len(set(model.labels_))
    (1, 2)
    """

    model_kind: ClassVar[str] = "bernoulli-mixture"
    takes_counts: ClassVar[bool] = False
    _family_name: ClassVar[str] = "bernoulli"

    def __init__(
        self,
        n_components: int = 10,
        *,
        algorithm: str = "soft",
        init: str | ArrayLike = "repaired",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        accelerate: bool = False,
        smoothing: float = 0.3,
        class_weight_prior: float = 0.0,
        unlabeled_weight: float = 1.0,
        seed_words: Mapping[int, Sequence[Any]] | None = None,
        seed_weight: float = 10.0,
        binarize: float | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.smoothing = smoothing
        self.class_weight_prior = class_weight_prior
        self.unlabeled_weight = unlabeled_weight
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.binarize = binarize
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

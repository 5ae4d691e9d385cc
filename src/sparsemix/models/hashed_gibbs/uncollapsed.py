"""The public class of uncollapsed sampling."""

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sparsemix.models.hashed_gibbs.mixture import GibbsMixture
from sparsemix.models.hashed_gibbs.runs import Settings
from sparsemix.models.hashed_gibbs.sampling import ChainMaker
from sparsemix.models.hashed_gibbs.uncollapsed_chain import UncollapsedChain


class UncollapsedGibbsMixture(GibbsMixture):
    """Mixture by Gibbs sampling that draws weights and profiles: what FASTEX (section 4.1) is compared with.

    A sweep draws the weights from their Dirichlet posterior and the profiles from theirs (Dirichlet, Gamma or Beta),
    then the clusters of all rows given those. It has the posterior of `HashedGibbsMixture` with a finite prior, but
    moves in smaller steps, and looks at every cluster for every row.

    Parameters
    ----------
    n_components : int, default=100
    family : {"multinomial", "poisson", "bernoulli"}, default="multinomial"
        Words of a text, independent counts, or presence of keywords.
    weight_concentration : float, default=1.0
        Pseudo-count of rows in each cluster.
    smoothing : float, default=0.1
        Pseudo-count of every feature in every cluster, multinomial rows.
    prior_mean, prior_strength : "empirical" or float, and float, default="empirical" and 1.0
        Mean of the features' probabilities (Bernoulli) or rates (Poisson), and how many rows it counts for.
    n_sweeps, burn_in, thin : int, default=40, 20, 4
        Draws of everything; how many come before the first that is kept; and one kept draw for how many.
    n_chains : int, default=1
        Independent chains.
    init : {"random"} or (n_rows,) array of int, default="random"
        Clusters at the start; rows with -1 start anywhere.
    binarize : float >= 0 or None, default=None
        For Bernoulli rows: values above it count as present. None takes zeros and ones only.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
        Go on with a `fit` that was interrupted, to the same bits as without. X and what decides the posterior and
        the draws must be the same; start and seed stay those of that fit.
    n_jobs : int or None, default=None
        Threads, shared by the chains; the answer does not depend on it.
    verbose : int, default=0
        Print a line a sweep.

    Attributes
    ----------
    labels_, draws_, weights_, component_ids_, log_joint_, n_clusters_, acceptance_rate_, moves_, is_complete_
        As in `HashedGibbsMixture`; every move is accepted. `log_joint_` has weights and profiles integrated out.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Notes
    -----
    Cost of a sweep: O(n_components (nnz + n_features)). Memory: 8 bytes for each feature in each component of each
    chain that runs, and O(nnz).

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 30)
    >>> texts = rng.poisson(np.where(truth[:, None] == np.arange(10) // 5, 1.0, 0.05))
    >>> model = sm.UncollapsedGibbsMixture(2, random_state=0).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[29]), bool(model.labels_[0] == model.labels_[30])
    (True, False)
    """

    model_kind: ClassVar[str] = "uncollapsed-gibbs-mixture"
    starts: ClassVar[tuple[str, ...]] = ("random",)
    process: ClassVar[str] = "finite"
    proposal: ClassVar[str] = "table"
    concentration: ClassVar[float] = 1.0
    discount: ClassVar[float] = 0.0

    def __init__(
        self,
        n_components: int = 100,
        *,
        family: str = "multinomial",
        weight_concentration: float = 1.0,
        smoothing: float = 0.1,
        prior_mean: str | float = "empirical",
        prior_strength: float = 1.0,
        n_sweeps: int = 40,
        burn_in: int = 20,
        thin: int = 4,
        n_chains: int = 1,
        init: str | ArrayLike = "random",
        binarize: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.family = family
        self.weight_concentration = weight_concentration
        self.smoothing = smoothing
        self.prior_mean = prior_mean
        self.prior_strength = prior_strength
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.thin = thin
        self.n_chains = n_chains
        self.init = init
        self.binarize = binarize
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _chain_maker(self, rows: Any, prior: Any, settings: Settings) -> ChainMaker:
        return partial(UncollapsedChain, rows, prior, settings.n_components, settings.threads_of_a_chain())

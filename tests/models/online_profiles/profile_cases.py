"""Small rows, posteriors and streams for the tests of the online mixture, and their dense twins."""

import numpy as np

from sparsemix import OnlineBernoulliMixture
from sparsemix.data.inputs import RowBlock, as_binary_rows
from sparsemix.models.online_profiles import index_kernels
from sparsemix.models.online_profiles.background import NO_BACKGROUND
from sparsemix.models.online_profiles.equations import DenseState
from sparsemix.models.online_profiles.prediction import View
from sparsemix.models.online_profiles.reservoir import Reservoir
from sparsemix.models.online_profiles.state import NO_ENTRIES, Entries, Posterior, build_index, packed
from sparsemix.models.online_profiles.stream import Settings, Stream
from sparsemix.persistence import state_hash
from sparsemix.probability.beta_bernoulli import BetaPrior

NAMES = list("abcdefgh")
MODES = ["compiled", "interpreted"]


def as_mode(kernel, mode):
    """The kernel, or the plain function behind it; they are the same where compilation is switched off."""
    return getattr(kernel, "py_func", kernel) if mode == "interpreted" else kernel


def topic_rows(n_rows, n_topics=2, n_features=8, *, on=0.9, off=0.05, seed=0):
    """Rows (bool) of topics that share the features between them, and their topics."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(n_topics, size=n_rows)
    own = np.arange(n_features) % n_topics == topics[:, None]
    return rng.random((n_rows, n_features)) < np.where(own, on, off), topics


def block_of(rows):
    rows = np.asarray(rows)
    return as_binary_rows(rows).block(0, rows.shape[0])


def row_block(*rows):
    """Rows given by the features that they hold."""
    columns = np.array([column for row in rows for column in sorted(row)], np.int32)
    return RowBlock(np.cumsum([0, *map(len, rows)]).astype(np.int64), columns)


def exact_settings(**changes):
    """The paper's scheme to the letter: nothing is late, dropped, culled or removed."""
    exact = {
        "n_components": 3,
        "weight_concentration": 0.01,
        "prior_mean": None,
        "prior_strength": None,
        "priming_rows": 10,
        "clutter": False,
        "min_responsibility": 0.0,
        "explicit_responsibility": 0.0,
        "cull_threshold": 0.0,
        "min_component_share": 0.0,
        "staleness": 0.0,
        "reservoir_rows": 0,
        "half_life_rows": None,
        "first_components": 3,
        "seed": 0,
    }
    return Settings(**exact | changes)


def random_posterior(seed, n_components=3, n_features=7, *, explicit=0.5, common=0, scale=4.0):
    """Posterior with random Betas; the last `common` features have one Beta for all components."""
    rng = np.random.default_rng(seed)
    held = rng.random((n_components, n_features)) < explicit
    held[:, n_features - common :] = False
    feature = [rng.permutation(np.flatnonzero(own)) for own in held]
    n_entries = int(held.sum())

    def betas(size):
        return rng.gamma(2.0, scale / 2, size) + 0.05

    return packed(
        rng.gamma(2.0, 1.0, n_components) + 0.1,
        (betas(n_components) / 3, betas(n_components)),
        held.sum(axis=1).astype(np.int64),
        Entries(np.concatenate(feature).astype(np.int32), betas(n_entries), betas(n_entries)),
        Entries(np.arange(n_features - common, n_features, dtype=np.int32), betas(common), betas(common))
        if common
        else NO_ENTRIES,
    )


def settled(posterior):
    copy = Posterior(*(column.copy() for column in posterior))
    index_kernels.settle(copy)
    return copy


def dense_state(posterior, n_features):
    """The dense posterior that the sparse one stands for."""
    posterior = settled(posterior)
    alpha = np.repeat(posterior.default_alpha[:, None], n_features, axis=1)
    beta = np.repeat(posterior.default_beta[:, None], n_features, axis=1)
    used, owner = posterior.used(), posterior.owner()
    alpha[owner, posterior.feature[used]] = posterior.alpha[used]
    beta[owner, posterior.feature[used]] = posterior.beta[used]
    alpha[:, posterior.common_feature] = posterior.common_alpha
    beta[:, posterior.common_feature] = posterior.common_beta
    return DenseState(alpha, beta, posterior.weight_concentration.copy())


def stream_of(posterior, n_features, component_ids=None):
    """A stream that begins with this posterior, as if it were the prior."""
    ids = np.arange(posterior.n_components) if component_ids is None else np.array(component_ids)
    return Stream(
        prior=BetaPrior(0.5, 0.5),
        posterior=posterior,
        index=build_index(settled(posterior), n_features),
        background=NO_BACKGROUND,
        waiting=Reservoir(0),
        component_ids=ids.astype(np.int64),
        named_ids=np.empty(0, np.int64),
        n_features=n_features,
        n_rows=0,
        next_index=0,
        next_cull=0,
        next_id=int(ids.max()) + 1,
        n_rows_faded=0,
        log_evidence=0.0,
    )


def view_of(posterior, n_features, component_ids=None):
    return View.of(stream_of(posterior, n_features, component_ids), n_features, 1.0)


def new_model(**changes):
    return OnlineBernoulliMixture(**{"n_components": 2, "priming_rows": 50, "random_state": 0} | changes)


def hash_of(model):
    return state_hash(model.to_payload())

"""Exponential forgetting: what was learnt decays towards the prior (the equation is in `equations.forget`)."""

import numpy as np

from sparsemix.models.online_profiles.merging import Prior
from sparsemix.models.online_profiles.state import Entries, Posterior, common_of, entries_of, packed
from sparsemix.probability.beta_bernoulli import BetaPrior


def forget(posterior: Posterior, prior: Prior, kept: float) -> Posterior:
    """Settled posterior of which the share `kept`, in (0, 1], of all evidence is left; O(explicit features)."""
    defaults = Entries(posterior.feature[:0], posterior.default_alpha, posterior.default_beta)
    faded = _faded(defaults, prior.beta, kept)
    gamma = prior.weight_concentration
    return packed(
        gamma + kept * (posterior.weight_concentration - gamma),
        (faded.alpha, faded.beta),
        posterior.size,
        _faded(entries_of(posterior), prior.beta, kept),
        _faded(common_of(posterior), prior.beta, kept),
    )


def _faded(betas: Entries, prior: BetaPrior, kept: float) -> Entries:
    alpha = prior.alpha + kept * (betas.alpha - prior.alpha)
    return Entries(betas.feature, alpha, prior.beta + kept * (betas.beta - prior.beta))


def share_kept(n_rows: int, half_life_rows: float) -> float:
    """Share of the evidence that is left after so many more rows.

    Examples
    --------
    >>> share_kept(2_000, 1_000.0)
    0.25
    """
    return float(np.exp2(-n_rows / half_life_rows))

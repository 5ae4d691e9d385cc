"""GAP: Gamma-Poisson factor models of users x events, and click-through rates.

| paper | code | shape |
|---|---|---|
| X, x_ij | `rows` | (n_rows, n_features) CSR of counts |
| U, u_ik | `user_factors` | (n_rows, n_components) |
| V, v_jk | `feature_factors`; inside the slice (n_features, n_components) | (n_components, n_features) |
| Y = U V' | `rates` | never as a whole |
| alpha_k, beta_k | `shape`, `rate` | (n_components,) |
| gamma | `concentration` | a number |
| h_jk(i) | summed: `user_counts`, `feature_counts` | (n_rows, n_components), (n_features, n_components) |

Each component's feature factors sum to one, so that a user's factor is the number of events expected of the component.
Read `equations` first. `engine` is a sweep of EM and its loops, `sampling` a chain of Gibbs sampling; `learning` has
starts and chains, `runs` and `run_payload` those that are interrupted, `folding` new users and new features, `answers`
what is asked of factors, on `kernels` and `state`.
Click rates: `click_rate` on `events`, `rates`, `beta_binomial` (the rates of ads alone) and `calibration`;
`event_splits` cuts their tables in two.
The baseline with normal noise: `bayesian_nmf` on `nmf_sampling`.
"""

from sparsemix.models.gamma_poisson.bayesian_nmf import BayesianNMF
from sparsemix.models.gamma_poisson.click_rate import ClickRateModel
from sparsemix.models.gamma_poisson.estimator import GammaPoissonFactors
from sparsemix.models.gamma_poisson.event_splits import EventSplit, split_events

__all__ = ["BayesianNMF", "ClickRateModel", "EventSplit", "GammaPoissonFactors", "split_events"]

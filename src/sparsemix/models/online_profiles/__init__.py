"""ADS: online Bayesian mixture of Bernoulli profiles by assumed density filtering.

| in the paper | in the code | shape |
|---|---|---|
| x_i, S_i | `rows`, the columns of a row | CSR |
| c_i | component, by position or by id | |
| pi, gamma | `weights`, `weight_concentration` | (n_components,) |
| t_kd, mu_kd | profile, its mean | explicit features only |
| alpha_kd, beta_kd | `alpha`, `beta` | (n_entries,) |
| default Beta | `default_alpha`, `default_beta` | (n_components,) |
| r_ik (eq 3) | `responsibilities` | (n_rows, n_components) |

Read `equations` first: the paper in NumPy. `engine` is the loop: `priming`, then `kernels` on `state`, now and then
`culling`, `removal`, `forgetting` and the `repair` of what fits no component. `estimator` is the public class; it
answers from a `prediction.View` of the state, through `suggest`, `summaries` and `sampling`. `payload` turns it into a
file's content and back.
"""

from sparsemix.models.online_profiles.estimator import OnlineBernoulliMixture

__all__ = ["OnlineBernoulliMixture"]

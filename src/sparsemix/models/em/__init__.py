"""TEXT: mixtures of multinomials and of Bernoulli profiles by expectation maximisation.

| paper | code | shape |
|---|---|---|
| d_i, x_iw | `rows` | (n_rows, n_features) CSR |
| p(k) | `weights` | (n_components,) |
| p(w given k) | `word_probabilities`, `profiles` | (n_components, n_features) |
| P(k given d_i), Q_i(k) | `responsibilities` | (n_rows, n_components) |
| E[c(k)] | `Statistics.sizes` | (n_components,) |
| E[c(k, w)] | `Statistics.counts` | (n_features, n_components) |
| log L, F | `log_likelihood`, `trace` | nats |

Read `equations` first: the chapter in NumPy. `engine` is the loop, over `families` and `kernels` on `state`; `starts`
and `learning` are where it begins and which start wins. `estimator` has the public classes on the common `mixture`,
which reads rows by `reading` and answers by `answers`. `choice` compares numbers of components.
"""

from sparsemix.models.em.choice import Candidate, compare_n_components
from sparsemix.models.em.estimator import BernoulliMixture, MultinomialMixture

__all__ = ["BernoulliMixture", "Candidate", "MultinomialMixture", "compare_n_components"]

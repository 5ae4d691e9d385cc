"""FASTEX: collapsed sampling of mixtures with very many clusters, by proposals that need not look at each.

| paper | code | shape |
|---|---|---|
| x_i | `rows` | (n_rows, n_features), indexed |
| y_i | `assigned` | (n_rows,) |
| m_y, m_y mu[X given y] | `Clusters.sizes`, `Clusters.cell_counts` | (n_components,), a cell per feature in a cluster |
| m_0, m_0 mu_0 | `Prior.a`, `Prior.b`, `Prior.concentration` | |
| theta* | `equations.parameters` | (n_features,) |
| l, h(v), w_i | `n_bits`, `Signatures.bits`, `Signatures.signs` | |
| q, p, r | sweeps of `*_kernels`, `log_target`, `log_ratio` | |

Read `equations` first: the paper in NumPy. `cell_kernels` and `kernels` keep the statistics of clusters and score a
row; the sweeps differ in what they propose: `exact_kernels` looks at every cluster, `index_kernels` at those that hold
rare features of the row, `hash_kernels` at the bits of all (`signatures`). `engine` is one chain, `sampling` runs them;
a `solution` is what is left of them, and answers; `entering` lets new rows into it. Rows of real numbers have modules
of their own, `real_*`, behind the same chain and the same estimator. `uncollapsed_chain` is the paper's baseline.
"""

from sparsemix.models.hashed_gibbs.estimator import HashedGibbsMixture
from sparsemix.models.hashed_gibbs.uncollapsed import UncollapsedGibbsMixture

__all__ = ["HashedGibbsMixture", "UncollapsedGibbsMixture"]

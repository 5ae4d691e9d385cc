"""TDPM: time-sensitive Dirichlet process mixtures, clusters of rows that come and go.

| paper | code | shape |
|---|---|---|
| d_i, t_i | `Rows`, `Timing.times`, in the order of time | (n_rows, n_features), (n_rows,) |
| s_i | `Chains.assigned`, `labels_` | (n_rows,) |
| k(t), lambda | `TimeKernel`, `decay_rate` | |
| w(t, j) | `Chains.weight`, `history` | (n_rows,) |
| alpha | `concentration` | |
| beta m | `Prior.a` | |
| u(c) | `score_near` | (n_candidates,) |

Read `equations` first: the paper in NumPy. `chain_kernels` keep the members of each cluster linked in the order of time
and weigh its history and future; `row_kernels` score rows by lists of the clusters near by; `score_kernels` put both
together for all candidates; `kernels` move a window of such clusters along the stream; `split_kernels` cut and join
clusters. `engine` is one chain, `sampling` runs them; a `solution` is what is left of them, and answers.

A stream is learnt in one pass instead: `stream_kernels` keep live clusters only, `window_kernels` look at the last rows
again, and `stream` runs both.
"""

from sparsemix.models.time_sensitive.estimator import TimeSensitiveMixture
from sparsemix.models.time_sensitive.streaming import StreamingTimeSensitiveMixture
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

__all__ = ["StreamingTimeSensitiveMixture", "TimeKernel", "TimeSensitiveMixture"]

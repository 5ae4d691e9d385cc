"""What the next draw needs: rows in time order, the prior, chains of members, and a window on the clusters near by."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
IntVector = NDArray[np.int64]
IntMatrix = NDArray[np.int64]
SmallVector = NDArray[np.int32]

MULTINOMIAL, BERNOULLI = 0, 1
FAMILIES = {"multinomial": MULTINOMIAL, "bernoulli": BERNOULLI}
# From that of the member before (exponential), as the number of members before (step), or by a sum over them.
RECURSION, COUNT, SUM = 0, 1, 2


class Rows(NamedTuple):
    """Rows of counts in the order of their times, CSR.

    indptr : (n_rows + 1,); counts : (nnz,); lengths : (n_rows,) sums of the counts.
    columns : (nnz,) numbers of the features among those that any row holds; n_met : how many these are.
    """

    indptr: IntVector
    columns: SmallVector
    counts: SmallVector
    lengths: IntVector
    n_met: int


class Prior(NamedTuple):
    """Family and hyperparameters.

    family : one of the numbers above.
    concentration : of the process.
    a : pseudo-count of every feature in every cluster, or of "on"; b : pseudo-count of "off".
    log_a, log_b : (n,) log(a + n) and log(b + n) for counts n from 0.
    """

    family: int
    concentration: float
    a: float
    b: float
    n_features: int
    log_a: FloatVector
    log_b: FloatVector


class Timing(NamedTuple):
    """Times of the rows, and the time kernel in numbers.

    times : (n_rows,) seconds since the first, ascending.
    kind : one of `time_kernels.KINDS`; rate, period, width, exponent, support : as in `TimeKernel`.
    way : how the weight of a history is found, one of the numbers above.
    tied : weight of a row at age zero: 1, or 0 if rows of equal time know nothing of each other.
    negligible : relative change of a weight that is not followed further.
    log_least : log of the weight below which a cluster of the past is not looked at.
    ahead : seconds before its first row that a cluster is looked at.
    table : (n_pairs,) weights of pairs of rows for a kernel that is a function; those of row i with the rows after it
    begin at ``first[i]``.
    rates, log_shares : (n_rates,) decay rates that a cluster may have, the slowest first, and their log probabilities.
    """

    times: FloatVector
    kind: int
    rate: float
    period: float
    width: float
    exponent: float
    support: float
    way: int
    tied: float
    negligible: float
    log_least: float
    ahead: float
    table: FloatVector
    first: IntVector
    rates: FloatVector
    log_shares: FloatVector


class Chains(NamedTuple):
    """Members of each cluster, one linked to the next in the order of time.

    assigned : (n_rows,) cluster, -1 for none; before, after : (n_rows,) member before and after, -1 for none.
    weight : (n_rows,) weight of the row's own history in its cluster, 0 for the first member.
    decay : (n_rows,) with a recursion: what is left of a weight from the member before to this one.
    reach : (n_slots,) with a recursion: log weight of a history up to the cursor, as it would be at time zero.
    head : (n_slots,) first member, -1 without members; cursor : last member before the row that is visited.
    free : (n_slots,) stack of unused clusters; n_free : (1,).
    rate : (n_slots,) which of ``Timing.rates`` the cluster has.
    sums : (n_rows,) weights of all earlier rows for each row, where there are several rates; else nothing.
    """

    assigned: IntVector
    before: IntVector
    after: IntVector
    weight: FloatVector
    decay: FloatVector
    reach: FloatVector
    head: IntVector
    cursor: IntVector
    free: IntVector
    n_free: IntVector
    rate: IntVector
    sums: FloatVector


class Window(NamedTuple):
    """Clusters that the visited row may join, and what they hold.

    active : (n_slots,) clusters in the order of their first members; n_active : (1,); ahead : (1,) next row to enter.
    sizes, totals : (n_slots,) members of an active cluster, also the later ones, and sums of their counts.
    n_held : (n_slots,) different features.
    off : (n_slots,) Bernoulli rows: sum of log(b + size - n_w) over all features.
    log_size : (n_slots,) log(1 + size); bulk : (n_slots,) multinomial rows: log(a n_features + total).
    start, n_listed : (n_lists,) where each list begins, and how long it is; keys, cells : its clusters and counts.
    Lists are those of the features met, and after them, for Bernoulli rows, of v = 1, 2, ...: how many features a
    cluster holds v times.
    before, levels, changes : (2 * entries of the longest row,) what a change of lists reads and leaves behind.
    gain : (n_slots,) zeros between visits.
    factors, scores : (n_slots + n_rates,) log prior weights of the candidates, and those with the predictives.
    crowding : (n_rates,) what a row with each rate does to the weights of all later rows, in logs.
    """

    active: IntVector
    n_active: IntVector
    ahead: IntVector
    sizes: IntVector
    totals: IntVector
    n_held: IntVector
    off: FloatVector
    log_size: FloatVector
    bulk: FloatVector
    start: IntVector
    n_listed: SmallVector
    keys: SmallVector
    cells: SmallVector
    before: SmallVector
    levels: SmallVector
    changes: SmallVector
    gain: FloatVector
    factors: FloatVector
    scores: FloatVector
    crowding: FloatVector


class Halves(NamedTuple):
    """Two halves of the members of a cluster, or of two clusters; room for them, to be written on.

    members : (n_rows,) in the order of time; side : (n_rows,) half that each is in, 0 or 1.
    counts : (n_met, 2) of each feature in each half, zeros between moves; sums : (2, 2) rows and tokens of each half.
    weights : (2,) of the history of each half, up to its last row; last : (2,) that row, -1 for none.
    """

    members: IntVector
    side: IntVector
    counts: IntMatrix
    sums: IntMatrix
    weights: FloatVector
    last: IntVector

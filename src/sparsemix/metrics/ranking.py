"""How many hidden keywords a ranked list brings back."""

from collections.abc import Collection, Hashable, Sequence

import numpy as np

from sparsemix.foundation.errors import parameter_error
from sparsemix.metrics.inputs import check_same_rows


def recall_at(
    hidden: Sequence[Collection[Hashable]], ranked: Sequence[Sequence[Hashable]], n: int = 10
) -> float:
    """Return the mean share of each row's hidden features among the first `n` ranked ones.

    Parameters
    ----------
    hidden : sequence of collections
        Features that were taken out of each row; rows without any are left out of the mean.
    ranked : sequence of sequences
        Features suggested for each row, best first.
    n : int, default 10
        How many suggestions count.

    Returns
    -------
    float
        In [0, 1]; nan when no row has a hidden feature. A row with more than `n` hidden features stays
        below 1.

    Raises
    ------
    ParameterError
        If `n` is below 1.
    DataError
        If the numbers of rows differ.

    Examples
    --------
    >>> recall_at([{"pest control", "ants"}, {"windows"}], [["ants", "bees"], ["windows"]], n=2)
    0.75
    """
    if n < 1:
        raise parameter_error("n", "recall_at", "an integer >= 1", n)
    check_same_rows("hidden", len(hidden), "ranked", len(ranked))
    shares = [
        len(set(wanted).intersection(suggested[:n])) / len(set(wanted))
        for wanted, suggested in zip(hidden, ranked, strict=True)
        if len(wanted)
    ]
    return float(np.mean(shares)) if shares else float("nan")

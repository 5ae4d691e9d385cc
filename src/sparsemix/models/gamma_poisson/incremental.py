"""New users that a model learns without going back to the others."""

import numpy as np

from sparsemix.models.gamma_poisson import engine, folding
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Factors, FloatMatrix, Rows, normalised
from sparsemix.models.gamma_poisson.user_tables import fill, new_table
from sparsemix.numeric.threads import thread_runner


def with_users(solution: Solution, rows: Rows) -> Solution:
    """The model with new users behind the others (incremental EM, one step for the features).

    The events that features have made for the users before stand as they are, and those of the new users are added.
    """
    users, features = solution.factors
    new = folding.fold_in_users(rows, features, solution.prior, is_sampled=False)
    with thread_runner(1) as run:
        found = engine.split(engine.Table(rows, len(features)), Factors(new, features), run)
    counts = features * solution.component_counts + found.feature_counts
    return solution._replace(
        factors=Factors(_joined(users, new), normalised(counts)),
        component_counts=counts.sum(axis=0),
    )


def _joined(users: FloatMatrix, new: FloatMatrix) -> FloatMatrix:
    """All users, where the first are."""
    joined = new_table(len(users) + len(new), users.shape[1], on_disk=isinstance(users, np.memmap))
    fill(joined[: len(users)], lambda some: some, users)
    joined[len(users) :] = new
    return joined

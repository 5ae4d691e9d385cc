"""What users hand over, as blocks of rows for the engine."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.count_inputs import CountRows, as_count_rows
from sparsemix.data.feature_names import FeatureNames, Names, check_distinct
from sparsemix.data.inputs import BinaryRows, RowBlock, as_binary_rows
from sparsemix.data.labels import known_labels
from sparsemix.foundation.checks import threshold
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.em.packed import with_codes
from sparsemix.models.em.state import FloatVector, IntVector, Rows

Table = CountRows | BinaryRows


class Part(NamedTuple):
    """Rows of one table with what is known about them.

    labels : (n_rows,) component of a row that is known, else -1; row_weights : (n_rows,) how much a row counts.
    """

    table: Table
    labels: IntVector
    row_weights: FloatVector


class Look(NamedTuple):
    """What is to be known about the rows of one table before any is learnt.

    n_labelled : rows whose component is known; names : (n_features,) names of the columns, or None; weight : sum of
    what the rows count.
    """

    n_rows: int
    n_labelled: int
    n_features: int
    names: Names | None
    weight: float


def as_rows(X: Any, family: str, binarize: float | None, owner: str) -> Table:
    """The rows that a family is for, see `READERS`; DataError if `X` has others."""
    return READERS[family](X, binarize, owner)


def _counts(X: Any, binarize: float | None, owner: str) -> CountRows:  # noqa: ARG001
    return as_count_rows(X, owner=owner)


def _zeros_and_ones(X: Any, binarize: float | None, owner: str) -> BinaryRows:
    threshold(owner, binarize)
    return as_binary_rows(X, binarize=binarize, owner=owner)


READERS: dict[str, Callable[[Any, float | None, str], Table]] = {
    "multinomial": _counts,
    "bernoulli": _zeros_and_ones,
}


def part_of(table: Table, y: Any, weights: FloatVector, n_components: int, unlabeled_weight: float) -> Part:
    """The rows with their labels; those without one weigh less."""
    labels = known_labels(y, table.n_rows, n_components)
    return Part(table, labels, np.where(labels >= 0, weights, weights * unlabeled_weight))


def batches_of(open_batches: Any, as_part: Callable[[Any, Any], Part]) -> Iterator[Part]:
    """The batches, each `X` alone or a pair ``(X, y)``; ParameterError unless they can be had by a call."""
    remedy = "Give lambda: sparsemix.iter_batches(path, rows=100_000)."
    if not callable(open_batches):
        rule = "callable, to read the table once an epoch"
        raise parameter_error("batches", "fit_batches", rule, open_batches, remedy)
    batches = open_batches()
    if not isinstance(batches, Iterable):
        raise parameter_error("batches", "fit_batches", "a callable that returns batches", batches, remedy)
    for batch in batches:
        yield as_part(*(batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)))


def survey(
    parts: Iterable[Part], owner: str, features: FeatureNames | None = None
) -> tuple[FeatureNames, int]:
    """Features of all parts, by name where columns have names, and the number of rows.

    `features` are those to begin with. Raises DataError if there is nothing to learn from.
    """
    return union(map(look_at, parts), owner, features)


def look_at(part: Part) -> Look:
    """What `union` needs to know about a part."""
    table = part.table
    n_labelled = int(np.count_nonzero(part.labels >= 0))
    return Look(table.n_rows, n_labelled, table.n_features, table.names, float(part.row_weights.sum()))


def union(
    looks: Iterable[Look], owner: str, features: FeatureNames | None = None
) -> tuple[FeatureNames, int]:
    """As `survey`, from what is known about each part."""
    n_rows, weight = 0, 0.0
    for look in looks:
        n_rows, weight = n_rows + look.n_rows, weight + look.weight
        if features is None:
            if look.names is not None:
                check_distinct(look.names)
            features = FeatureNames(look.n_features, look.names)
        else:
            columns = features.columns_of(look.n_features, look.names, owner=owner)
            features = features.extended(columns, look.names)
    if features is None or not n_rows:
        # scikit-learn looks for these words.
        raise DataError("'X' of fit must have at least one row, but found array with 0 sample(s). Add rows.")
    if not features.n_features:
        raise DataError("'X' of fit must hold features, but none of its rows has any. Add rows that do.")
    if not weight:
        raise DataError("'y' must hold labels where unlabeled_weight is 0, but no row with one has a weight.")
    return features, n_rows


def read(
    table: Table,
    features: FeatureNames,
    labels: IntVector | None = None,
    row_weights: FloatVector | None = None,
    *,
    owner: str,
) -> Iterator[tuple[Rows, NDArray[np.bool_]]]:
    """The rows in blocks, and which of them hold features, but none that the model knows; unknown ones are left out.

    Raises DataError if no column is known.
    """
    columns = features.known_columns_of(table.n_features, table.names, owner=owner)
    first = 0
    for block in table.blocks(columns):
        n_rows = block.indptr.size - 1
        part = slice(first, first + n_rows)
        rows = Rows(
            block.indptr,
            block.columns,
            np.ones(block.columns.size) if isinstance(block, RowBlock) else block.values,
            np.full(n_rows, -1) if labels is None else labels[part],
            np.ones(n_rows) if row_weights is None else row_weights[part],
        )
        if columns is None:
            yield rows, np.zeros(n_rows, bool)
        else:
            known = rows.known(features.n_features)
            yield known, (np.diff(rows.indptr) > 0) & (np.diff(known.indptr) == 0)
        first += n_rows


def read_again(parts: Iterable[Part], features: FeatureNames, n_rows: int, owner: str) -> Iterator[Rows]:
    """All rows in blocks, for one epoch; DataError unless there are `n_rows` of them."""
    found = 0
    for part in parts:
        found += part.table.n_rows
        yield from (
            rows for rows, _ in read(part.table, features, part.labels, part.row_weights, owner=owner)
        )
    if found != n_rows:
        raise DataError(
            f"'batches' of fit_batches must give the same rows at each call, but there were {n_rows} rows and then "
            f"{found}. Open the table anew in each call."
        )


def coded_rows(
    parts: Iterable[Part], features: FeatureNames, n_rows: int, n_components: int, owner: str
) -> Iterator[Rows]:
    """As `read_again`, in the form that is the fastest for the engine."""
    for rows in read_again(parts, features, n_rows, owner):
        yield with_codes(rows, features.n_features, n_components)

"""What an update has added to a model, and whether it looks like rows that the model had learnt before."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from sparsemix.cli.blocks import BLOCK_ROWS, cut
from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.inputs import Source
from sparsemix.cli.learning import learn
from sparsemix.cli.numbers import source_for
from sparsemix.cli.tables import percent
from sparsemix.cli.watching import WatchedBatches
from sparsemix.foundation.errors import DataError, listed
from sparsemix.foundation.wording import counted

_HARDLY_ANY = (
    0.05  # share of the keywords of a table; a model that knew fewer is likely to be another table's
)


class Before(NamedTuple):
    """Sizes of a model before an update.

    Attributes
    ----------
    n_rows, n_features : int
    names : list of str or None
        Keywords in the order in which the model has met them.
    takes_real_numbers : bool
        Whether all rows have all features.
    """

    n_rows: int
    n_features: int
    names: list[str] | None
    takes_real_numbers: bool = False

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the sizes of a model as it is now."""
        names = getattr(model, "feature_names_in_", None)
        return cls(
            int(model.n_rows_seen_),
            int(model.n_features_in_),
            None if names is None else list(names),
            bool(getattr(model, "takes_real_numbers", False)),
        )

    def look_like(self, batches: WatchedBatches) -> bool:
        """Whether the model seems to have learnt nothing but these rows, once or several times.

        It has, when it met the same keywords in the same order, and its rows are a multiple of these. Tables of real
        numbers have the same features always, which tells nothing.
        """
        if self.takes_real_numbers or self.names is None or batches.names is None or not batches.n_rows:
            return False
        return self.n_rows % batches.n_rows == 0 and self.names == list(batches.names)

    def n_known(self, batches: WatchedBatches) -> int | None:
        """How many keywords of these rows the model knew; None where keywords have no names."""
        if self.names is None or batches.names is None:
            return None
        return len(set(self.names).intersection(batches.names))


def learn_more(
    model: Any, source: Source, batch_rows: int | None, *, may_be_unrelated: bool, quiet: bool
) -> tuple[Before, WatchedBatches]:
    """Let a model learn the rows of a table, and return what it was before and what it has learnt.

    Parameters
    ----------
    model : online model
        Changed in place.
    source : Source
    batch_rows : int or None
    may_be_unrelated, quiet : bool
        As in `check_related`, whose errors it raises.
    """
    before = Before.of(model)
    source = replace(source, threshold=getattr(model, "binarize", None) or None)
    batches = WatchedBatches(source_for(model, source).stream(batch_rows))
    learn(model, cut(batches, [BLOCK_ROWS]), total=None, quiet=quiet)
    check_related(before, batches, may_be_unrelated=may_be_unrelated, quiet=quiet)
    return before, batches


def check_related(before: Before, batches: WatchedBatches, *, may_be_unrelated: bool, quiet: bool) -> None:
    """Look at how many of the keywords of an update the model knew; to be asked before anything is saved.

    Parameters
    ----------
    before : Before
    batches : WatchedBatches
        All of them have passed.
    may_be_unrelated : bool
        Whether the model may know none of them.
    quiet : bool
        Do not warn when it knew hardly any.

    Raises
    ------
    DataError
        When it knew none.
    """
    names = [] if batches.names is None else list(batches.names)
    n_known, n_keywords = before.n_known(batches), len(names)
    if n_known is None or n_known >= _HARDLY_ANY * n_keywords:
        return
    if n_known == 0 and not may_be_unrelated:
        raise DataError(
            f"the model knows none of {counted(n_keywords, 'keyword')} of the table: {listed(names, 3)}. "
            f"Check that feature= is the column that the model has learnt. If all keywords are new indeed, "
            f"--unrelated learns them; nothing has been learnt now."
        )
    note(
        f"warning: the model knew {n_known:,} of {counted(n_keywords, 'keyword')} of the table "
        f"({percent(n_known / n_keywords)}). Is it the right table, and --feature the right column?",
        quiet=quiet,
    )


def show_update(
    model: Any, before: Before, batches: WatchedBatches, path: Path, *, json: bool, quiet: bool
) -> None:
    """Print how many rows and keywords a model knew before and knows now, and a warning when it knew all of them."""
    repeated = before.look_like(batches)
    n_rows, n_features = int(model.n_rows_seen_), int(model.n_features_in_)
    if repeated:
        note(
            "warning: this looks like the table that the model had learnt already (same number of rows, same "
            "keywords in the same order); its rows count once more now.",
            quiet=quiet,
        )
    if json:
        sizes = {"n_rows_before": before.n_rows, "n_rows": n_rows}
        sizes |= {"n_features_before": before.n_features, "n_features": n_features}
        known = {"n_features_known": before.n_known(batches)}
        show_json({"model": str(path), **sizes, **known, "looks_repeated": repeated})
        return
    show(
        f"Learnt {counted(n_rows - before.n_rows, 'row')}{_new_keywords(before, n_features)}.",
        f"Rows: {before.n_rows:,} before, {n_rows:,} now.{_keywords(before, n_features)}",
        f"The model is in {path}.",
    )


def _new_keywords(before: Before, n_features: int) -> str:
    if before.takes_real_numbers:
        return ""
    return f" and {counted(n_features - before.n_features, 'new keyword')}"


def _keywords(before: Before, n_features: int) -> str:
    return (
        "" if before.takes_real_numbers else f" Keywords: {before.n_features:,} before, {n_features:,} now."
    )

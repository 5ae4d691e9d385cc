"""What an update has added to a model, and whether it looks like rows that the model had learnt before."""

from pathlib import Path
from typing import Any, NamedTuple, Self

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.watching import WatchedBatches
from sparsemix.foundation.wording import counted


class Before(NamedTuple):
    """Sizes of a model before an update.

    Attributes
    ----------
    n_rows, n_features : int
    names : list of str or None
        Keywords in the order in which the model has met them.
    """

    n_rows: int
    n_features: int
    names: list[str] | None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Return the sizes of a model as it is now."""
        names = getattr(model, "feature_names_in_", None)
        return cls(int(model.n_rows_seen_), int(model.n_features_in_), None if names is None else list(names))

    def look_like(self, batches: WatchedBatches) -> bool:
        """Whether the model seems to have learnt nothing but these rows, once or several times.

        It has, when it met the same keywords in the same order, and its rows are a multiple of these.
        """
        if self.names is None or batches.names is None or not batches.n_rows:
            return False
        return self.n_rows % batches.n_rows == 0 and self.names == list(batches.names)


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
        show_json({"model": str(path), **sizes, "looks_repeated": repeated})
        return
    show(
        f"Learnt {counted(n_rows - before.n_rows, 'row')} and "
        f"{counted(n_features - before.n_features, 'new keyword')}.",
        f"Rows: {before.n_rows:,} before, {n_rows:,} now. Keywords: {before.n_features:,} before, {n_features:,} now.",
        f"The model is in {path}.",
    )

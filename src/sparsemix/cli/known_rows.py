"""Rows whose cluster is known from a column of labels: checked against the model, and told."""

from typing import TYPE_CHECKING, Any

from sparsemix.cli.console import brief, note
from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.foundation.wording import counted

if TYPE_CHECKING:
    from sparsemix.data import Dataset

_MOST_SHOWN = 10


class KnownRows:
    """What labels say about rows, for one model.

    Parameters
    ----------
    model : estimator
        Its clusters from 0 on stand for the labels, in the order in which they appear.
    is_wanted : bool
        Whether labels are asked for at all.
    quiet : bool
        Do not say which cluster stands for which label.

    Attributes
    ----------
    is_wanted : bool
    names : list of str or None
        The labels, known once the first rows are; cluster 0 stands for the first.

    Raises
    ------
    ParameterError
        When only labelled rows are to count and no labels are asked for.
    """

    def __init__(self, model: Any, *, is_wanted: bool, quiet: bool = False) -> None:
        self._n_components = _most_clusters(model)
        self._must_have_some = getattr(model, "unlabeled_weight", 1.0) == 0.0
        self.is_wanted, self._quiet = is_wanted, quiet
        self.names: list[str] | None = None
        if self._must_have_some and not is_wanted:
            raise ParameterError(
                "--unlabeled-weight 0 leaves out all rows without a label. Name their column with --label."
            )

    def of(self, rows: "Dataset") -> Any:
        """Return the cluster of each row, -1 where it is not known, or None if labels are not asked for.

        Raises
        ------
        ParameterError
            When there are more labels than clusters.
        DataError
            When only labelled rows are to count and there are none.
        """
        if not self.is_wanted:
            return None
        if self.names is None:
            self.meet([] if rows.label_names is None else [str(name) for name in rows.label_names])
        return rows.labels

    def meet(self, names: list[str]) -> None:
        """Check the labels and say which cluster stands for which; raises as `of`."""
        self._check(len(names))
        self._say(names)
        self.names = names

    def _check(self, n_labels: int) -> None:
        if n_labels > self._n_components:
            raise ParameterError(
                f"every known label is a cluster of its own, but the column of --label has "
                f"{counted(n_labels, 'label')} and there are at most {counted(self._n_components, 'cluster')}. "
                f"Give -k {n_labels} or more."
            )
        if self._must_have_some and not n_labels:
            raise DataError("no row has a label, and --unlabeled-weight 0 leaves out all that have none.")

    def _say(self, names: list[str]) -> None:
        if not names:
            note("No row has a label.", quiet=self._quiet)
            return
        shown = ", ".join(f"{k} {brief(name)}" for k, name in enumerate(names[:_MOST_SHOWN]))
        note(
            f"Clusters of known rows: {shown}{', ...' if len(names) > _MOST_SHOWN else ''}.",
            quiet=self._quiet,
        )


def _most_clusters(model: Any) -> int:
    if model.n_components != "auto":
        return int(model.n_components)
    from sparsemix.models.online_profiles.checks import MOST_FOUND

    return MOST_FOUND

"""What reading and filtering did with the data: nothing is dropped without being counted."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class FilterReport:
    """What `Dataset.filter` removed.

    Attributes
    ----------
    min_rows_per_feature, max_features_per_row : int or None
        The two thresholds, as they were given.
    n_features_removed : int
        Features of fewer rows than `min_rows_per_feature`.
    n_entries_removed : int
        Non-zeros that those features had.
    n_wide_rows_removed : int
        Rows with more than `max_features_per_row` of the features that stayed.
    n_empty_rows_removed : int
        Rows that have none of the features that stayed.
    """

    min_rows_per_feature: int | None = None
    max_features_per_row: int | None = None
    n_features_removed: int = 0
    n_entries_removed: int = 0
    n_wide_rows_removed: int = 0
    n_empty_rows_removed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a plain dictionary, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        parts = []
        if self.min_rows_per_feature is not None:
            rare = f"{self.n_features_removed:,} features of fewer than {self.min_rows_per_feature} rows"
            parts.append(f"{rare} ({self.n_entries_removed:,} entries)")
        if self.max_features_per_row is not None:
            parts.append(
                f"{self.n_wide_rows_removed:,} rows of more than {self.max_features_per_row} features"
            )
        parts.append(f"{self.n_empty_rows_removed:,} rows left without a feature")
        return "removed " + ", ".join(parts)


@dataclass(frozen=True)
class ReadReport:
    """Counters of one reading; the reports of consecutive batches add up to the report of the whole.

    Attributes
    ----------
    source : str
        Where the data came from.
    n_records : int
        Lines (without the header), JSON records or table rows that were read.
    n_null_rows, n_empty_rows : int
        Records dropped because their row id is null, or an empty string.
    n_null_features, n_empty_features : int
        Features dropped because they are null, or an empty string. Their row stays.
    n_zero_counts : int
        Pairs dropped because their count is zero. Their row stays.
    n_duplicates : int
        Pairs beyond the first of the same row and feature, merged into it.
    n_conflicts : dict of str to int
        For ``"group"``, ``"time"`` and ``"label"``: rows that had more than one value; the first was kept.
    guessed : dict of str to str
        Columns that were not named by the caller, as they were guessed.
    removed : FilterReport or None
        What `Dataset.filter` removed afterwards.
    """

    source: str = "memory"
    n_records: int = 0
    n_null_rows: int = 0
    n_empty_rows: int = 0
    n_null_features: int = 0
    n_empty_features: int = 0
    n_zero_counts: int = 0
    n_duplicates: int = 0
    n_conflicts: dict[str, int] = field(default_factory=dict)
    guessed: dict[str, str] = field(default_factory=dict)
    removed: FilterReport | None = None

    def __add__(self, other: "ReadReport") -> "ReadReport":
        counters = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, value in counters.items():
            if isinstance(value, int):
                counters[name] = value + getattr(other, name)
        roles = [*self.n_conflicts, *(role for role in other.n_conflicts if role not in self.n_conflicts)]
        counters["n_conflicts"] = {
            role: self.n_conflicts.get(role, 0) + other.n_conflicts.get(role, 0) for role in roles
        }
        return ReadReport(**counters)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a plain dictionary, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield f"read {self.n_records:,} records from {self.source}"
        for role, column in self.guessed.items():
            yield f"guessed {role} = {column}"
        dropped = {
            "records without a row id": self.n_null_rows + self.n_empty_rows,
            "null or empty features": self.n_null_features + self.n_empty_features,
            "pairs with a count of zero": self.n_zero_counts,
        }
        for what, number in dropped.items():
            if number:
                yield f"dropped {number:,} {what}"
        if self.n_duplicates:
            yield f"merged {self.n_duplicates:,} repeated pairs"
        for role, number in self.n_conflicts.items():
            if number:
                yield f"kept the first {role} of {number:,} rows that have several"
        if self.removed is not None:
            yield str(self.removed)

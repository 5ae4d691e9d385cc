"""What reading and filtering did with the data: nothing is dropped without being counted."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from sparsemix.foundation.wording import counted


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
            least, lost = (
                counted(self.min_rows_per_feature, "row"),
                counted(self.n_entries_removed, "non-zero"),
            )
            parts.append(f"{counted(self.n_features_removed, 'feature')} of fewer than {least} ({lost})")
        if self.max_features_per_row is not None:
            most = counted(self.max_features_per_row, "feature")
            parts.append(f"{counted(self.n_wide_rows_removed, 'row')} of more than {most}")
        parts.append(f"{counted(self.n_empty_rows_removed, 'row')} left without a feature")
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
    unused_counts : tuple of str
        Columns that have a name for counts but were neither named by the caller nor an obvious choice.
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
    unused_counts: tuple[str, ...] = ()
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
        yield f"read {counted(self.n_records, 'record')} from {self.source}"
        for role, column in self.guessed.items():
            yield f"guessed {role} = {column}"
        for column in self.unused_counts:
            yield f"left out column {column}, which may hold counts: count= takes it"
        if number := self.n_null_rows + self.n_empty_rows:
            yield f"dropped {counted(number, 'record')} without a row id"
        if number := self.n_null_features + self.n_empty_features:
            yield f"dropped {counted(number, 'null or empty feature')}"
        if self.n_zero_counts:
            yield f"dropped {counted(self.n_zero_counts, 'pair')} with a count of zero"
        if self.n_duplicates:
            yield f"merged {counted(self.n_duplicates, 'repeated pair')}"
        for role, number in self.n_conflicts.items():
            if number:
                yield f"kept the first {role} of {counted(number, 'row')} with several"
        if self.removed is not None:
            yield str(self.removed)


@dataclass(frozen=True)
class MailboxReport:
    """What reading a mailbox did with the messages: nothing is dropped without being counted.

    Attributes
    ----------
    source : str
        The file.
    n_messages : int
        Messages in it.
    n_copies : int
        Messages dropped because an earlier one has the same id and date.
    n_undated : int
        Messages without a date that can be right; they have the time of the one before them in the file.
    n_quotations : int
        Messages that say nothing themselves, so that what they quote was taken.
    n_silent : int
        Messages without words; they stay, as empty rows.
    n_rare_words, n_common_words : int
        Words dropped because too few, or too many, messages have them.
    """

    source: str
    n_messages: int = 0
    n_copies: int = 0
    n_undated: int = 0
    n_quotations: int = 0
    n_silent: int = 0
    n_rare_words: int = 0
    n_common_words: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a plain dictionary, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield f"read {counted(self.n_messages, 'message')} from {self.source}"
        if self.n_copies:
            yield f"dropped {counted(self.n_copies, 'repeated message')}"
        if self.n_undated:
            yield f"guessed the time of {counted(self.n_undated, 'message')} without a date that can be right"
        if self.n_quotations:
            yield f"took the quotations of {counted(self.n_quotations, 'message')} without words of their own"
        if self.n_silent:
            yield f"kept {counted(self.n_silent, 'message')} without any word"
        if self.n_rare_words + self.n_common_words:
            rare, common = counted(self.n_rare_words, "rare word"), counted(self.n_common_words, "common one")
            yield f"dropped {rare} and {common}"

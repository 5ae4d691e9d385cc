"""A model between calls: rows held back until the priming, then a stream, and the view that predictions read.

Rows that were primed with stay at hand while they are worth another look, see `renewal`, and those that follow
with them.
"""

import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.feature_names import FeatureNames
from sparsemix.data.inputs import BinaryRows, RowBlock
from sparsemix.models.online_profiles import deltas, engine, renewal
from sparsemix.models.online_profiles.prediction import View
from sparsemix.models.online_profiles.stream import Settings, Stream

IntVector = NDArray[np.int64]


class Learner:
    """Takes rows in any batching; the same rows lead to the same state.

    Parameters
    ----------
    settings : Settings
    features : FeatureNames
        Features of the first rows.
    owner : str
        Name of the model, for messages.

    Attributes
    ----------
    n_threads : int
        Threads to learn with, which change no bit.
    held_back, held_labels : list
        All rows so far and their labels, until the stream begins and while they stay at hand; else empty.
    """

    def __init__(self, settings: Settings, features: FeatureNames, owner: str) -> None:
        self.settings = settings
        self.n_threads = 1
        self.features = features
        self.stream: Stream | None = None
        self.held_back: list[RowBlock] = []
        self.held_labels: list[IntVector] = []
        self._n_held = 0
        self.timings = {"priming": 0.0, "streaming": 0.0}
        self._owner = owner
        self._provisional: Stream | None = None
        self._view: View | None = None

    @property
    def n_rows(self) -> int:
        """Rows learnt or held back."""
        return self.stream.n_rows if self.stream is not None else self._n_held

    def hold(self, block: RowBlock, labels: IntVector) -> None:
        """Keep rows until the next look."""
        self.held_back.append(block)
        self.held_labels.append(labels)
        self._n_held += block.n_rows

    def rows_until_look(self) -> int:
        """Rows that may still come before those at hand are looked at; 0 where none are at hand any more."""
        if self.stream is not None and not self.held_back:
            return 0
        return renewal.next_look(self.n_rows, self.settings.priming_rows) - self.n_rows

    def learn(self, rows: BinaryRows, labels: IntVector) -> None:
        """Hold rows back until there are enough for the priming, learn the others; columns match by name."""
        columns = self.features.columns_of(rows.n_features, rows.names, owner=self._owner)
        self.features = self.features.extended(columns, rows.names)
        first = 0
        for block in rows.blocks(columns):
            self._take(block, labels[first : first + block.n_rows])
            first += block.n_rows
        self._view = self._provisional = None

    def prime(self) -> None:
        """Begin the stream with the rows that are there; settle what waits, and let rows at hand go."""
        if self.stream is None:
            self.stream = self._primed()
            self._note_overlap()
        elif self.held_back and renewal.is_due_at_the_end(self.n_rows, self.settings.priming_rows):
            self._renew()
        elif self.stream.waiting.rows.n_rows:
            engine.settle_waiting(self._streaming(), self.settings)
        elif not self.held_back:
            return
        self._let_go()

    def learn_again(self, parts: Iterable[tuple[BinaryRows, IntVector]]) -> None:
        """Learn all rows once more; the evidence stays that of the rows seen, and their order of arrival loses weight.

        Parameters
        ----------
        parts : iterable of (BinaryRows, (n_rows,) labels)
        """
        started, stream = time.perf_counter(), self._streaming()
        self._let_go()
        for rows, labels in parts:
            columns, first = self.features.columns_of(rows.n_features, rows.names, owner=self._owner), 0
            for block in rows.blocks(columns):
                part = labels[first : first + block.n_rows]
                engine.learn_again(stream, block, part, self.features.n_features, self.settings)
                first += block.n_rows
        engine.settle_waiting(stream, self.settings)
        engine.scale_back(stream, self.settings)
        stream.n_passes += 1
        self.timings["streaming"] += time.perf_counter() - started

    def begin_round(self, n_children: int) -> Stream:
        """What each of so many children begins with, see `deltas.start_of`; rows held back are primed with."""
        if self.stream is None:
            self.prime()
        self._let_go()
        return deltas.start_of(self._streaming(), n_children, self.settings)

    def join(self, messages: Sequence[deltas.Message]) -> int:
        """Add what the children of the round have learnt; return how many pseudo-counts had to be damped."""
        self._view = None
        return deltas.join(self._streaming(), messages, self.settings)

    def current_stream(self) -> Stream:
        """The stream, or while rows are held back one that is primed with them."""
        if self.stream is not None:
            return self.stream
        if self._provisional is None:
            self._provisional = self._primed()
        return self._provisional

    def view(self) -> View:
        """What predictions read; built once after each change."""
        if self._view is None:
            stream = engine.with_waiting_learnt(self.current_stream(), self.settings)
            self._view = View.of(stream, self.features.n_features, self.settings.weight_concentration)
        return self._view

    def blocks(self, rows: BinaryRows) -> Iterator[RowBlock]:
        """Rows to ask about, with the model's numbers for their columns; unknown features come after the last."""
        return rows.blocks(self.features.known_columns_of(rows.n_features, rows.names, owner=self._owner))

    def _take(self, block: RowBlock, labels: IntVector) -> None:
        first = 0
        while first < block.n_rows:
            last = min(block.n_rows, first + (self.rows_until_look() or block.n_rows))
            self._take_part(block.slice(first, last), labels[first:last])
            first = last

    def _take_part(self, block: RowBlock, labels: IntVector) -> None:
        """Take rows that end at the next look or before."""
        is_last = block.n_rows == self.rows_until_look()
        is_held, n_held = self.stream is None or bool(self.held_back), len(self.held_back)
        try:
            if is_held:
                # The input stays the user's to change.
                self.hold(block._replace(columns=block.columns.copy()), labels.copy())
            if self.stream is not None:
                started = time.perf_counter()
                engine.learn(self._streaming(), block, labels, self.features.n_features, self.settings)
                self.timings["streaming"] += time.perf_counter() - started
            if is_held and is_last:
                self._look()
        except BaseException:
            self._give_up(n_held)
            raise

    def _give_up(self, n_held: int) -> None:
        """After an interruption: so many blocks have come, or where a stream has seen rows, none stays at hand."""
        if self.stream is None:
            del self.held_back[n_held:], self.held_labels[n_held:]
            self._n_held = sum(block.n_rows for block in self.held_back)
        else:
            self._let_go()

    def _look(self) -> None:
        """Cluster all rows at hand, for the first time or anew; they stay if that is worth it."""
        if self.stream is None:
            self.stream = self._primed()
        else:
            self._renew()
        self._note_overlap()
        if not (renewal.is_young(self.stream, self.settings) and self.stream.overlaps):
            self._let_go()

    def _note_overlap(self) -> None:
        """See whether components share the rows that have just been looked at, in a stream that is young."""
        stream = self._streaming()
        if renewal.is_young(stream, self.settings):
            stream.overlaps = renewal.overlaps(stream, self._held(), self.settings)

    def _renew(self) -> None:
        started = time.perf_counter()
        renewal.renew(self._streaming(), self._held(), self.settings)
        self.timings["priming"] += time.perf_counter() - started

    def _held(self) -> renewal.Held:
        return renewal.Held(self.held_back, self.held_labels)

    def _let_go(self) -> None:
        """Forget rows at hand, and what was derived from the model as it was."""
        self.held_back, self.held_labels, self._n_held = [], [], 0
        self._view = self._provisional = None

    def _streaming(self) -> Stream:
        assert self.stream is not None
        self.stream.n_threads = self.n_threads
        return self.stream

    def _primed(self) -> Stream:
        started = time.perf_counter()
        labels = np.concatenate([np.empty(0, np.int64), *self.held_labels])
        stream = engine.prime(self.held_back, labels, self.features.n_features, self.settings, self.n_threads)
        self.timings["priming"] = time.perf_counter() - started
        return stream

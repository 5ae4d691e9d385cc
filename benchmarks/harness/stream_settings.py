"""Settings of clusters in time, chosen without gold: those under which a stream's texts are foreseen best.

Each text is scored by the one-pass model of those before it, so that nothing is learnt from what is to be foreseen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.streams import Stream
from sparsemix import StreamingTimeSensitiveMixture

MOST_ROWS = 1_000  # of a stream, its first
SMOOTHING = (0.02, 0.05, 0.1, 0.2)
CONCENTRATION = (3.0, 10.0, 30.0, 100.0)
MOST_STREAMS = 3  # of a set, evenly chosen
ROUNDS = 3


@dataclass(frozen=True)
class Settings:
    """Parameters of a model; a half-life of None, in seconds, is the step kernel."""

    smoothing: float
    concentration: float
    half_life: float | None

    @property
    def parameters(self) -> dict[str, object]:
        """As the estimators take them."""
        time = {"time_kernel": "step"} if self.half_life is None else {"half_life": self.half_life}
        return {"smoothing": self.smoothing, "concentration": self.concentration, **time}


def foreseen(stream: Stream, settings: Settings) -> float:
    """Return the log probability of the first texts but one, nats, each given those before it."""
    model = StreamingTimeSensitiveMixture(**settings.parameters)
    total = 0.0
    for row in range(min(stream.rows.shape[0], MOST_ROWS)):
        part = slice(row, row + 1)
        if row > 0:
            total += float(model.score_samples(stream.rows[part], times=stream.times[part])[0])
        model.partial_fit(stream.rows[part], times=stream.times[part])
    return total


def foreseen_a_word(streams: Sequence[Stream], settings: Settings) -> float:
    """Return the mean log probability of a word in `MOST_STREAMS` of the streams."""
    some = streams[:: max(len(streams) // MOST_STREAMS, 1)][:MOST_STREAMS]
    n_words = sum(stream.rows[1:MOST_ROWS].sum() for stream in some)
    return sum(foreseen(stream, settings) for stream in some) / float(n_words)


def climb(
    begun: Settings, choices: dict[str, Sequence[float]], quality: Callable[[Settings], float]
) -> tuple[Settings, float]:
    """Better one number after another by the best of its choices, until nothing gets better; and how good that is."""
    best, known = begun, {begun: quality(begun)}
    for _ in range(ROUNDS):
        before = best
        for name, values in choices.items():
            for value in values:
                tried = replace(best, **{name: value})
                if tried not in known:
                    known[tried] = quality(tried)
            best = max(known, key=lambda settings: known[settings])
        if best == before:
            break
    return best, known[best]


def chosen(streams: Sequence[Stream], half_lives: Sequence[float]) -> tuple[Settings, float]:
    """Return the best settings, with the step kernel if there are no half-lives, and the log probability of a word."""
    choices: dict[str, Sequence[float]] = {"smoothing": SMOOTHING, "concentration": CONCENTRATION}
    if half_lives:
        choices["half_life"] = half_lives
    middle = half_lives[len(half_lives) // 2] if half_lives else None
    begun = Settings(SMOOTHING[len(SMOOTHING) // 2], CONCENTRATION[len(CONCENTRATION) // 2], middle)
    return climb(begun, choices, lambda settings: foreseen_a_word(streams, settings))

"""When a stream is indexed anew: what scoring reads, and when it is to be read anew."""

from sparsemix.models.online_profiles import index_kernels
from sparsemix.models.online_profiles.background import background_of
from sparsemix.models.online_profiles.state import build_index
from sparsemix.models.online_profiles.stream import Settings, Stream

FADE_SHARE = 0.05  # of the half-life, after which evidence decays at the latest
CULL_EVERY = 200_000  # ... and at least once in so many rows


def index_anew(stream: Stream, settings: Settings) -> None:
    """Settle the posterior and index it; O(n_features + explicit features)."""
    index_kernels.settle(stream.posterior)

    def compare() -> None:
        stream.background = background_of(stream.posterior, stream.n_features, stream.prior)

    beside = [compare] if stream.waiting.capacity else []
    stream.index = build_index(stream.posterior, stream.n_features, stream.threads(), beside)
    most = CULL_EVERY if settings.half_life_rows is None else int(FADE_SHARE * settings.half_life_rows)
    stream.next_index = stream.n_rows + max(1, min(most, int(settings.staleness * stream.n_rows)))

"""A model in the middle of its stream, and what steers it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.online_profiles import kernels
from sparsemix.models.online_profiles.background import Background
from sparsemix.models.online_profiles.merging import Prior
from sparsemix.models.online_profiles.reservoir import Reservoir
from sparsemix.models.online_profiles.state import Posterior, ScoreIndex
from sparsemix.probability.beta_bernoulli import BetaPrior

IntVector = NDArray[np.int64]

FEATURES_FOR_THREADS = 20_000


@dataclass(frozen=True)
class Settings:
    """Everything that steers learning; the estimator's parameters with their values resolved.

    n_components : most of them; first_components : those that the priming begins with, fewer where their number is
    found by evidence.
    """

    n_components: int
    weight_concentration: float
    prior_mean: float | None
    prior_strength: float | None
    priming_rows: int
    clutter: bool
    min_responsibility: float
    explicit_responsibility: float
    cull_threshold: float
    min_component_share: float
    staleness: float
    reservoir_rows: int
    half_life_rows: float | None
    first_components: int
    seed: int

    @property
    def finds_number(self) -> bool:
        """Whether the number of components follows the evidence."""
        return self.first_components < self.n_components


class LineageEvent(NamedTuple):
    """Something that happened to a component.

    row : rows seen when it happened; event : "born", "merged" or "removed"; component : its id; detail : in words.
    """

    row: int
    event: str
    component: int
    detail: str


@dataclass
class Stream:
    """A primed model in the middle of its stream.

    component_ids : (n_components,); named_ids : those that labels have named, which are never removed.
    background, waiting : what rows are compared with, and those that fitted no component.
    next_id : id of the next component that is born; n_rows_faded : rows seen when evidence last decayed.
    n_passes : passes over the rows that are complete, the first one counted from its begin.
    overlaps : whether several components shared many of the rows that stay at hand, when these were last looked at.
    n_threads : threads to learn with, which change no bit; not part of the state.
    """

    prior: BetaPrior
    posterior: Posterior
    index: ScoreIndex
    background: Background
    waiting: Reservoir
    component_ids: IntVector
    named_ids: IntVector
    n_features: int
    n_rows: int
    next_index: int
    next_cull: int
    next_id: int
    n_rows_faded: int
    log_evidence: float
    lineage: list[LineageEvent] = field(default_factory=list)
    n_passes: int = 1
    overlaps: bool = False
    n_threads: int = 1

    @property
    def clutter(self) -> int:
        """Position of the clutter among the components, or -1."""
        found = np.flatnonzero(self.component_ids == kernels.CLUTTER_ID)
        return int(found[0]) if found.size else -1

    def threads(self) -> int:
        """Threads that work on all explicit features is worth."""
        return self.n_threads if self.posterior.feature.size >= FEATURES_FOR_THREADS else 1


def prior_of(stream: Stream, settings: Settings) -> Prior:
    """What a component of the stream knows before any row."""
    return Prior(stream.prior, settings.weight_concentration)

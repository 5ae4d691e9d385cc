"""Save a model in the middle of its fit, so that little is lost when the process ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sparsemix.model_io import save_model


class Checkpoint(NamedTuple):
    """The model file, and after how many steps of a fit it is written anew; None for not before the end."""

    path: Path
    every: int | None

    def dues(self) -> Iterator[bool]:
        """For each step that comes, whether to save after it."""
        n_steps = 0
        while True:
            n_steps += 1
            yield self.every is not None and n_steps % self.every == 0

    def save(self, model: Any) -> None:
        """Write the file, as of a fit that was interrupted here, and let the next `fit` go on."""
        model.set_params(warm_start=False)
        save_model(model, self.path)
        model.set_params(warm_start=True)

"""Keep what a long comparison has found so far, so that it can be stopped and go on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Notes:
    """Results by name, in a JSON file if there is a path.

    Parameters
    ----------
    path : Path or None
        Where they are kept; what is there already is not computed again.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        is_there = path is not None and path.exists()
        self._known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if is_there else {}

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what is known under a name, or compute it; it must be what JSON can hold."""
        if name not in self._known:
            self._known[name] = compute()
            print(name, self._known[name], flush=True)
            if self._path is not None:
                self._path.write_text(json.dumps(self._known), encoding="utf-8")
        return self._known[name]

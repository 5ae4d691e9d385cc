"""Temporary folders of readings, and those that killed processes have left behind.

A folder belongs to a reading for as long as its file `LOCK` is locked; the system unlocks it when the process ends,
however it ends.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = "sparsemix-"
LOCK = "in_use"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a temporary folder (``TMPDIR``) and remove it afterwards.

    Folders of this user that processes left when they were killed are removed first; those in use stay. Windows
    cannot tell them apart, so there they stay too.

    Yields
    ------
    Path
    """
    has_locks = sys.platform != "win32"
    if has_locks:
        _remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with _locked(folder) if has_locks else nullcontext():
            yield folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder; its lock gets its name when it is locked, so that nobody finds it unlocked before."""
    unlocked = folder / "new"
    with unlocked.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        unlocked.rename(folder / LOCK)
        yield


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{PREFIX}*"):
        try:
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            with (folder / LOCK).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # locked, without a lock, or gone
            continue

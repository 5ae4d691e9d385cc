"""Whether the compiled kernels are on disk already, so that a first run can say why it takes longer."""

from pathlib import Path

from sparsemix.cli.console import note


def say_if_compiling(*, quiet: bool = False) -> None:
    """Tell the user about the wait when the kernels have never been compiled on this machine."""
    from sparsemix.models.online_profiles import kernels

    folder = getattr(getattr(kernels.row_log_joint, "stats", None), "cache_path", None)
    if folder is not None and not any(Path(folder).glob("*.nbi")):
        note(
            "First run on this machine: compiling takes up to a minute, later runs start at once.",
            quiet=quiet,
        )

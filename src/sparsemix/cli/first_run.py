"""Whether the compiled kernels are on disk already, so that a first run can say why it takes longer."""

from pathlib import Path

from sparsemix.cli.console import note


def say_if_compiling(*, quiet: bool = False) -> None:
    """Tell the user about the wait when the kernels have never been compiled on this machine."""
    from sparsemix.models.online_profiles import kernels

    compiled = [each.stats for each in vars(kernels).values() if hasattr(each, "stats")]
    folders = {Path(each.cache_path) for each in compiled if each.cache_path is not None}
    if folders and not any(any(folder.glob("*.nbi")) for folder in folders):
        note(
            "First run on this machine: compiling takes up to a minute, later runs start at once.",
            quiet=quiet,
        )

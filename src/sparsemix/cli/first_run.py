"""Whether the compiled kernels are on disk already, so that a first run can say why it takes longer."""

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from sparsemix.cli.console import note


def say_if_compiling(models: Iterable[Any], *, quiet: bool = False) -> None:
    """Tell the user about the wait when the kernels of a model have never been compiled on this machine.

    Parameters
    ----------
    models : iterable of estimator
    quiet : bool
    """
    slices = {(type(model).__module__.rpartition(".")[0], _files_of(model)) for model in models}
    if not all(_is_compiled(import_module(name).kernels, files) for name, files in slices):
        note(
            "First run on this machine: compiling takes up to a minute, later runs start at once.",
            quiet=quiet,
        )


def _files_of(model: Any) -> str:
    """Files of kernels that show that a model of this kind has run: rows of real numbers have kernels of their own."""
    return "real_kernels.*.nbi" if getattr(model, "takes_real_numbers", False) else "*.nbi"


def _is_compiled(kernels: Any, files: str) -> bool:
    """Whether any such file is where kernels of a module go, or none goes there."""
    compiled = [each.stats for each in vars(kernels).values() if hasattr(each, "stats")]
    folders = {Path(each.cache_path) for each in compiled if each.cache_path is not None}
    return not folders or any(any(folder.glob(files)) for folder in folders)

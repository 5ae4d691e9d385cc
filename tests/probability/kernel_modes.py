"""Kernels as they are compiled, and as plain Python."""

MODES = ["compiled", "interpreted"]


def as_mode(kernel, mode):
    """The kernel, or the plain function behind it; they are the same where compilation is switched off."""
    return getattr(kernel, "py_func", kernel) if mode == "interpreted" else kernel

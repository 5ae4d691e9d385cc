"""Ways from Python into kernels of real rows that have none, see `inner_kernel`."""

from sparsemix.models.hashed_gibbs import real_hash_kernels, real_kernels
from sparsemix.numeric.jit import kernel


@kernel
def log_target(*arguments):
    return real_kernels.log_target(*arguments)


@kernel
def remove_row(*arguments):
    return real_kernels.remove_row(*arguments)


@kernel
def score_all(*arguments):
    return real_kernels.score_all(*arguments)


@kernel
def score_by_bits(*arguments):
    return real_hash_kernels.score_by_bits(*arguments)

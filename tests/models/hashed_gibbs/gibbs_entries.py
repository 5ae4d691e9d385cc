"""Ways from Python into kernels of rows of counts that have none, see `inner_kernel`."""

from sparsemix.models.hashed_gibbs import (
    cell_kernels,
    draw_kernels,
    exact_kernels,
    gain_kernels,
    hash_kernels,
    index_kernels,
    kernels,
)
from sparsemix.numeric.jit import kernel


@kernel
def add_row(*arguments):
    return kernels.add_row(*arguments)


@kernel
def log_target(*arguments):
    return kernels.log_target(*arguments)


@kernel
def gain(*arguments):
    return kernels.gain(*arguments)


@kernel
def cell_of(*arguments):
    return cell_kernels.cell_of(*arguments)


@kernel
def change_list(*arguments):
    return cell_kernels.change_list(*arguments)


@kernel
def count_of(*arguments):
    return cell_kernels.count_of(*arguments)


@kernel
def draw(*arguments):
    return draw_kernels.draw(*arguments)


@kernel
def highest(*arguments):
    return draw_kernels.highest(*arguments)


@kernel
def weigh(*arguments):
    return draw_kernels.weigh(*arguments)


@kernel
def score_all(*arguments):
    return exact_kernels.score_all(*arguments)


@kernel
def add_tokens(*arguments):
    return gain_kernels.add_tokens(*arguments)


@kernel
def has_tokens(*arguments):
    return gain_kernels.has_tokens(*arguments)


@kernel
def own_without(*arguments):
    return hash_kernels.own_without(*arguments)


@kernel
def score_by_bits(*arguments):
    return hash_kernels.score_by_bits(*arguments)


@kernel
def draw_proposal(*arguments):
    return index_kernels.draw_proposal(*arguments)


@kernel
def log_share(*arguments):
    return index_kernels.log_share(*arguments)


@kernel
def propose(*arguments):
    return index_kernels.propose(*arguments)


@kernel
def workspace(*arguments):
    return index_kernels.workspace(*arguments)

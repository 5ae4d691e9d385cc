"""Entries from Python to kernels that are for other kernels alone."""

from sparsemix.models.time_sensitive import chain_kernels, rate_kernels, score_kernels, split_kernels
from sparsemix.numeric.jit import kernel


@kernel
def pass_by(timing, chains, row):
    chain_kernels.pass_by(timing, chains, row)


@kernel
def score_near(rows, row, prior, timing, chains, window, margin):
    return score_kernels.score_near(rows, row, prior, timing, chains, window, margin)


@kernel
def collect(chains, first, second, members_out):
    return split_kernels.collect(chains, first, second, members_out)


@kernel
def log_q_of_sides(rows, prior, timing, halves, n, first, second, rates):
    draws = halves.weights  # of which none is asked for
    return split_kernels.draw_sides(
        rows, prior, timing, halves, n, first, second, rates, draws, split_kernels.GIVEN
    )


@kernel
def log_split_ratio(rows, prior, timing, halves, n, rates):
    return split_kernels.log_split_ratio(rows, prior, timing, halves, n, rates)


@kernel
def halve_sums(timing, chains, concentration, halves, n, rates, is_cut):
    return rate_kernels.halve_sums(
        timing, chains, concentration, halves, n, rates, is_cut, rate_kernels.PROPOSED
    )

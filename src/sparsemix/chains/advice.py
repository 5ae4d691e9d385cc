"""What the diagnostics of a sampler mean, in words."""

import math
from typing import Any

from sparsemix.foundation.checks import at_least, is_number, share
from sparsemix.foundation.errors import parameter_error
from sparsemix.foundation.wording import counted

MET = 1.01
"""R-hat up to here: the chains have met (Vehtari et al. 2021)."""
APART = 1.1
"""R-hat above: they have not; between the two they nearly have."""
WANTED_PER_CHAIN = 100
"""Effective draws per chain, for R-hat and the effective sample size to be trusted (Vehtari et al. 2021)."""
FEW_ACCEPTED = 0.05
OWNER = "convergence_advice"


def convergence_advice(
    *,
    r_hat: float,
    effective_sample_size: float,
    n_chains: int,
    acceptance_rate: float | None = None,
    moves_per_sweep: float | None = None,
    quantity: str = "the log joint",
) -> list[str]:
    """Say what is wrong with the chains of a sampler of partitions and what to do, in full sentences.

    Parameters
    ----------
    r_hat, effective_sample_size : float
        As `sparsemix.chains.r_hat` and `sparsemix.chains.effective_sample_size` return them, NaN included.
    n_chains : int
    acceptance_rate : float in [0, 1], optional
        Share of proposals that were accepted, where the sampler proposes.
    moves_per_sweep : float, optional
        Mean number of rows that change their cluster in a sweep.
    quantity : str, default="the log joint"
        What the first two numbers are about.

    Returns
    -------
    list of str
        One finding each, with its remedy, the gravest first; empty if nothing is amiss.

    Raises
    ------
    ParameterError
        If a number is outside its range.

    Notes
    -----
    Chains have met if R-hat is at most 1.01, and each should be worth 100 independent draws (Vehtari et al. 2021).

    Examples
    --------
    >>> for line in convergence_advice(r_hat=1.31, effective_sample_size=700, n_chains=4):
    ...     print(line)
    R-hat of the log joint is 1.31 over 4 chains: they have not met. Run more sweeps (n_sweeps), leave out more of \
them at the start (burn_in), or start all chains from the best partition found.
    >>> convergence_advice(r_hat=1.003, effective_sample_size=1700, n_chains=4, moves_per_sweep=25.0)
    []
    """
    at_least("n_chains", OWNER, n_chains, 1)
    _number_from("r_hat", r_hat)
    _number_from("effective_sample_size", effective_sample_size)
    if acceptance_rate is not None:
        share("acceptance_rate", OWNER, acceptance_rate)
    if moves_per_sweep is not None:
        _number_from("moves_per_sweep", moves_per_sweep)
    findings = [
        _about_r_hat(r_hat, n_chains, quantity),
        _about_sample_size(effective_sample_size, n_chains, quantity),
        _about_acceptance(acceptance_rate),
        _about_moves(moves_per_sweep),
        _about_one_chain(n_chains),
    ]
    return [finding for finding in findings if finding]


def _number_from(name: str, value: Any, least: float = 0.0) -> None:
    if not is_number(value) or value < least:
        raise parameter_error(name, OWNER, f"a number >= {least:g} or NaN", value)


def _about_r_hat(r_hat: float, n_chains: int, quantity: str) -> str:
    chains = f"over {counted(n_chains, 'chain')}"
    they = "they" if n_chains > 1 else "its halves"
    if math.isnan(r_hat):
        return (
            f"R-hat of {quantity} cannot be told {chains}: there are fewer than 4 draws a chain, or all draws are "
            "equal. Run more sweeps (n_sweeps), or start the chains from different partitions."
        )
    if math.isinf(r_hat):
        return (
            f"R-hat of {quantity} is infinite {chains}: {they} stand still at different values. Start all chains "
            "from the best partition found, or let the sampler propose other moves."
        )
    if r_hat > APART:
        return (
            f"R-hat of {quantity} is {r_hat:.2f} {chains}: {they} have not met. Run more sweeps (n_sweeps), leave "
            "out more of them at the start (burn_in), or start all chains from the best partition found."
        )
    if r_hat > MET:
        return (
            f"R-hat of {quantity} is {r_hat:.3f} {chains}: {they} have nearly met, but {MET} is the limit. "
            "Run more sweeps (n_sweeps)."
        )
    return ""


def _about_sample_size(size: float, n_chains: int, quantity: str) -> str:
    wanted = WANTED_PER_CHAIN * n_chains
    if math.isnan(size) or size >= wanted:
        return ""
    times = math.ceil(wanted / max(size, 1.0))
    return (
        f"The draws of {quantity} are worth {counted(size, 'independent draw')}, and {wanted} are wanted "
        f"({WANTED_PER_CHAIN} a chain). Run about {times} times as many sweeps (n_sweeps); keeping fewer draws (thin) "
        "does not help."
    )


def _about_acceptance(rate: float | None) -> str:
    if rate is None or rate >= FEW_ACCEPTED:
        return ""
    return (
        f"Only {100.0 * rate:.1f} % of the proposals are accepted, so most of the work is lost. Bring the proposal "
        "nearer to the posterior, as with more bits (n_bits), or take an exact one."
    )


def _about_moves(moves: float | None) -> str:
    if moves is None or moves >= 1.0:
        return ""
    shown = "No row changes" if moves == 0 else "Fewer than one row changes"
    return (
        f"{shown} its cluster in a sweep: either the rows leave no doubt, or the chain cannot leave where it is. "
        "Start several chains (n_chains) from different partitions to tell."
    )


def _about_one_chain(n_chains: int) -> str:
    if n_chains > 1:
        return ""
    return "One chain cannot show that another start would have ended elsewhere. Run several (n_chains), better four."

"""Compiled sums of what children have learnt."""

from sparsemix.models.online_profiles.kernels import NOT_EXPLICIT
from sparsemix.numeric.jit import kernel


@kernel
def add_entries(
    base,  # IN  Posterior that all children began with
    message,  # IN  Message of one child
    is_first,  # whether it is the first: its values are taken as they are, to the bit
    slot_of,  # work (n_features,) int32: `NOT_EXPLICIT`; restored
    total,  # IN/OUT Posterior: a copy of `base` with room, whose defaults have the child's differences already
):
    """Add the differences of a child's explicit features to the sum of those before it.

    Where the child has left a feature to its default that another one made explicit, the default speaks for it.
    """
    end = 0
    for k in range(total.size.shape[0]):
        start, size, known = total.start[k], total.size[k], base.size[k]
        child_alpha, child_beta = message.default_alpha[k], message.default_beta[k] - message.certain[k]
        for e in range(known, size):
            total.alpha[start + e] += child_alpha - base.default_alpha[k]
            total.beta[start + e] += child_beta - (base.default_beta[k] - base.certain[k])
        for e in range(size):
            slot_of[total.feature[start + e]] = e
        for i in range(end, end + message.n_changed[k]):
            slot = slot_of[message.feature[i]]
            if slot == NOT_EXPLICIT:
                slot = size
                slot_of[message.feature[i]] = slot
                total.feature[start + slot] = message.feature[i]
                total.alpha[start + slot] = total.default_alpha[k]
                total.beta[start + slot] = total.default_beta[k] - total.certain[k]
                size += 1
            if is_first:
                total.alpha[start + slot] = message.alpha[i]
                total.beta[start + slot] = message.beta[i]
            elif slot < known:
                total.alpha[start + slot] += message.alpha[i] - base.alpha[base.start[k] + slot]
                total.beta[start + slot] += message.beta[i] - base.beta[base.start[k] + slot]
            else:
                total.alpha[start + slot] += message.alpha[i] - child_alpha
                total.beta[start + slot] += message.beta[i] - child_beta
        for e in range(size):
            slot_of[total.feature[start + e]] = NOT_EXPLICIT
        end += message.n_changed[k]
        total.size[k] = size

"""What tests ask of model files."""

from sparsemix.persistence import read_payload, state_hash


def hash_of(path):
    """Hash of the state that a file holds."""
    return state_hash(read_payload(path))

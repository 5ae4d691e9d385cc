"""Model files without pickle: one safetensors file with a JSON header, checked before anything is built."""

from sparsemix.persistence.atomic import replacing
from sparsemix.persistence.digest import state_hash
from sparsemix.persistence.header import FORMAT_VERSION
from sparsemix.persistence.payload import Payload
from sparsemix.persistence.reader import read_payload
from sparsemix.persistence.writer import write_payload

__all__ = ["FORMAT_VERSION", "Payload", "read_payload", "replacing", "state_hash", "write_payload"]

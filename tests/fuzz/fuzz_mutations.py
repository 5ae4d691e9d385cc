"""Changes to model files that keep the container whole, so that what is inside is reached."""

import json
import random
import struct

NUMBERS = [0, 1, -1, 2, 0.5, 2**31 - 1, 2**31, 2**53, 2**63, 1e-300, 1e300, float("nan"), float("inf")]
OTHERS = ["", "x", None, [], {}, True, [0], {"a": 1}]
FLOATS = struct.unpack("<4Q", struct.pack("<4d", 1e300, -1.0, float("nan"), 1e-300))
BITS = [0, 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 2**64 - 1, *FLOATS]


def changed_model_file(content, seed):
    """One change inside a model file; None for what is no container."""
    rng = random.Random(seed)
    try:
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        body = bytearray(content[8 + length :])
        fields = header["__metadata__"]
        _change(rng, header, fields, body)
        text = json.dumps(header).encode()
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, struct.error):
        return None
    return len(text).to_bytes(8, "little") + text + bytes(body)


def _change(rng, header, fields, body):
    kind = rng.randrange(4)
    if kind < 2:
        name = ["metadata", "parameters"][kind]
        fields[name] = json.dumps(_other_leaf(rng, json.loads(fields[name])))
    elif kind == 2:
        first = 8 * rng.randrange(len(body) // 8)
        body[first : first + 8] = struct.pack("<Q", rng.choice(BITS))
    else:
        entry = header[rng.choice([name for name in header if name != "__metadata__"])]
        entry["shape"] = rng.choice([[], [0], [1], entry["shape"][::-1], [2 * n for n in entry["shape"]]])


def _other_leaf(rng, value):
    if value and isinstance(value, dict):
        key = rng.choice(sorted(value))
        return value | {key: _other_leaf(rng, value[key])}
    if value and isinstance(value, list):
        place = rng.randrange(len(value))
        return [*value[:place], _other_leaf(rng, value[place]), *value[place + 1 :]]
    return rng.choice(NUMBERS if rng.random() < 0.8 else OTHERS)

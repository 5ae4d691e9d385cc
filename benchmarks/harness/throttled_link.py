"""A link between two machines, played on one: bytes pass a socket no faster than they would there."""

import socket
import threading
import time
from collections.abc import Sequence

PIECE = 1 << 16


def seconds_to_carry(frames: Sequence[bytes], bytes_per_second: float) -> float:
    """Send frames to another thread over a socket, at most so many bytes a second; return the time it took."""
    left, right = socket.socketpair()
    sender = threading.Thread(target=_send, args=(left, frames, bytes_per_second))
    began = time.perf_counter()
    sender.start()
    while right.recv(PIECE):
        pass
    sender.join()
    right.close()
    return time.perf_counter() - began


def _send(end: socket.socket, frames: Sequence[bytes], bytes_per_second: float) -> None:
    began, n_sent = time.perf_counter(), 0
    for frame in map(memoryview, frames):
        data = frame.cast("B")
        for first in range(0, len(data), PIECE):
            piece = data[first : first + PIECE]
            end.sendall(piece)
            n_sent += len(piece)
            time.sleep(max(0.0, n_sent / bytes_per_second - (time.perf_counter() - began)))
    end.close()

"""A way to a server through which connections can be cut, as by a restart or a router that forgets them."""

import selectors
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from urllib.parse import urlsplit

_ABORT = struct.pack("ii", 1, 0)  # closed by a reset


class Relay:
    """Listens on loopback and passes on what comes, both ways, until it is cut."""

    def __init__(self, uri: str) -> None:
        at = urlsplit(uri)
        self._to, self._port = (at.hostname, at.port), 0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self.opened = 0
        self.listen()

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self._port}"

    def listen(self) -> None:
        """Take connections, on the same port as before."""
        self._door = socket.create_server(("127.0.0.1", self._port))
        self._port = self._door.getsockname()[1]
        Thread(target=self._take, args=(self._door,), daemon=True).start()

    def close(self) -> None:
        """Take none any more, and cut all."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut()

    def cut(self) -> None:
        """End all connections by a reset."""
        for one in [one for pair in self._pairs for one in pair]:
            with suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
                one.shutdown(socket.SHUT_RD)
                one.close()
        self._pairs.clear()

    def _take(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = door.accept()
                self.opened += 1
                pair = near, socket.create_connection(self._to)
                self._pairs.append(pair)
                Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError, ValueError, KeyError), selectors.DefaultSelector() as both:
            both.register(near, selectors.EVENT_READ, far)
            both.register(far, selectors.EVENT_READ, near)
            while True:
                for key, _ in both.select():
                    if not (some := key.fileobj.recv(1 << 16)):
                        return self._end(near, far)
                    key.data.sendall(some)
        return self._end(near, far)

    def _end(self, *pair: socket.socket) -> None:
        for one in pair:
            one.close()


@contextmanager
def relay(uri: str) -> Iterator[Relay]:
    """A relay until the end of the block."""
    one = Relay(uri)
    try:
        yield one
    finally:
        one.close()

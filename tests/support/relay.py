"""A relay between a daemon and its database, which can fall silent while TCP goes on."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Self


class Relay:
    """Listens on a port of loopback from entering to leaving.

    While it is silent it takes connections and bytes, and passes nothing on. Connections that have met
    silence stay silent for ever.
    """

    def __init__(self, connect: Callable[[], socket.socket]) -> None:
        self._connect = connect
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._flowing = threading.Event()
        self._flowing.set()

    def silence(self) -> None:
        self._flowing.clear()

    def speak(self) -> None:
        self._flowing.set()

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        for socket_ in (self._listener, *self._open):
            with suppress(OSError):
                socket_.shutdown(socket.SHUT_RDWR)
        for thread in tuple(self._threads):
            thread.join()
        for socket_ in (self._listener, *self._open):
            socket_.close()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(client)
            if not self._flowing.is_set():
                self._start(self._swallow, client)
                continue
            server = self._connect()
            self._open.append(server)
            self._start(self._pass_on, client, server)
            self._start(self._pass_on, server, client)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if not self._flowing.is_set():
                    self._swallow(source)
                    return
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def _swallow(self, source: socket.socket) -> None:
        with suppress(OSError):
            while source.recv(65_536):
                pass

"""Requests that go on while something is replaced: how many failed, and how long the slowest took."""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Self

_CLIENTS = 3
PAUSE = 0.05  # seconds of a client between two requests


class Load:
    """Clients that ask one request after the other, for the block.

    Args:
        request: Makes one request and returns its status.
        network: Entered by each client's thread.
    """

    def __init__(
        self,
        request: Callable[[], int],
        network: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._request = request
        self._network = network
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(_CLIENTS)]
        self.failed: list[str] = []
        """What came in place of 200."""
        self.count = 0
        self.slowest = 0.0
        """Seconds of the slowest request that was answered with 200."""

    def __str__(self) -> str:
        return f"{len(self.failed)} of {self.count} failed, the slowest took {self.slowest:.2f} s"

    def _run(self) -> None:
        with self._network():
            while not self._stopping.wait(PAUSE):
                began = time.monotonic()
                try:
                    outcome = str(self._request())
                except OSError as error:
                    outcome = repr(error)
                self.count += 1
                if outcome == "200":
                    self.slowest = max(self.slowest, time.monotonic() - began)
                else:
                    self.failed.append(outcome)

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        time.sleep(1)  # some requests before
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(1)  # and after
        self._stopping.set()
        for thread in self._threads:
            thread.join()

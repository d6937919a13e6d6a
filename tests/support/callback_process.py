"""A subscriber of ``tests.support.callbacks`` in a process of its own.

Its memory and CPU time are not part of what a test measures. It logs no requests.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.x509 import load_pem_x509_certificate
from twisted.internet import reactor
from twisted.internet.interfaces import IReactorCore

from tests.support.authority import Identity, authority
from tests.support.callbacks import NAMES, Received, Server


class Sink(Server):
    """A Server that logs no requests."""

    def request_received(self, request: Received) -> None:
        """Log nothing."""


@contextmanager
def sink(directory: Path) -> Iterator[int]:
    """Run the process; yields its port."""
    pem = authority().issue(*NAMES).write_with_key(directory / "sink.pem")
    command = [sys.executable, "-m", __name__, str(pem)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def main(pem: bytes) -> None:
    key = cast("EllipticCurvePrivateKey", serialization.load_pem_private_key(pem, None))
    server = Sink(Identity(load_pem_x509_certificate(pem), key))
    server.listen()
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    cast("IReactorCore", reactor).run()


if __name__ == "__main__":
    main(Path(sys.argv[1]).read_bytes())

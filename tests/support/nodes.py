"""Daemons on one machine that share a PostgreSQL, as ``reviewsd --node NAME`` (decision 139)."""

import shutil
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support.daemon import DEMO, Daemon


class Node(Daemon):
    """A node; keys, and usually data, are in the folder that all share.

    Args:
        directory: That folder; the node gets one of its own in it.
        name: Its name.
        store: The URL of the database.
        configuration: Further lines.
        port: Where it listens beside others, by a socket that the test holds as units do; 0 is a free port. By
            default each has a port of its own.
        own_data: Whether it has data of its own.
    """

    def __init__(
        self,
        directory: Path,
        name: str,
        store: str,
        configuration: str,
        port: int | None = None,
        *,
        own_data: bool = False,
    ) -> None:
        place, shared = directory / name, directory / "data"
        place.mkdir()
        if not own_data:
            if not shared.exists():
                shared.mkdir()
                shutil.copyfile(DEMO / "reviews.json", shared / "reviews.json")
            (place / "data").symlink_to(shared)
        listen = "" if port is None else 'listen: ["systemd:name=http"]\n'
        environ = {"REVIEWSD_HUB__STORE": store}
        arguments = ("--node", name)
        super().__init__(place, f"{listen}{configuration}", arguments, environ, publishes=True)
        own = "state_dir: state\nadmin_socket: admin.sock\n"
        text = self.config.read_text()
        self.config.write_text(text.replace(own, own.replace(": ", ": ../"), 1))
        self.socket = directory / f"{name}.sock"
        if port is not None:
            listening = self.handed_over["http"] = socket.socket()
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listening.bind(("127.0.0.1", port))
            listening.listen(1024)
            self.port = listening.getsockname()[1]


def start(nodes: Sequence[Daemon]) -> None:
    """Start all at once, and wait until each is ready."""
    for node in nodes:
        node.launch()
    for node in nodes:
        node.wait_ready()


@contextmanager
def closing(nodes: Sequence[Node]) -> Iterator[None]:
    """End nodes after the block."""
    with ExitStack() as stack:
        for node in nodes:
            for listening in node.handed_over.values():
                stack.callback(listening.close)
            stack.callback(node.close)
        yield

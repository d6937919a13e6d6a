"""A run of reviewsctl: the options that commands share, and the client of the daemon."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.daemon.default_paths import (
    GO_TO_FOLDER,
    NO_CONFIGURATION,
    admin_socket,
    configuration,
    has_no_configuration,
    node_sockets,
    state_dir,
)
from reviewsctl.terminal.output import complain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.daemon.client import Client
    from reviewsctl.daemon.errors import DaemonError
    from reviewsctl.daemon.transport import Peer
    from reviewsd.api.status import Status

_QUICK_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 10.0  # most answers come from memory, the others from one query

Json = Annotated[bool, typer.Option("--json", help="Print JSON, errors on stderr included.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]


@dataclass(frozen=True, slots=True)
class Session:
    """The global options of a run, in ``ctx.obj`` of every command."""

    named_socket: Path | None
    """The admin socket of ``--socket`` or $REVIEWSD_ADMIN_SOCKET."""
    named_configuration: Path | None
    """The configuration of ``--config``."""

    @property
    def configuration(self) -> Path | None:
        """The configuration: the named one, else the first that a daemon started here would find."""
        return self.named_configuration or configuration(os.environ)

    @property
    def socket(self) -> Path:
        """The admin socket: the named one, else the configured one."""
        return self.named_socket or admin_socket(self.configuration)

    @property
    def is_unconfigured(self) -> bool:
        """Whether nothing says which daemon is meant: no option, no configuration and no socket."""
        is_named = self.named_socket or self.named_configuration
        if is_named or not has_no_configuration(os.environ):
            return False
        return not os.path.lexists(self.socket) and not node_sockets(self.socket)

    def quick_status(self) -> "Status | DaemonError":
        """Return the state of the daemon, or why it does not answer soon: it may hang."""
        from reviewsctl.daemon.errors import DaemonError  # see main

        try:
            with self.daemon(quiet=True, answer_seconds=_QUICK_SECONDS) as daemon:
                return daemon.status().value
        except DaemonError as error:
            return error

    @contextlib.contextmanager
    def daemon(
        self, *, as_json: bool = False, quiet: bool = False, answer_seconds: float = _ANSWER_SECONDS
    ) -> "Iterator[Client]":
        """Yield a client of the daemon.

        Args:
            as_json: Print warnings as JSON.
            quiet: Do not warn when versions differ.
            answer_seconds: The time limit of an immediate answer.

        Raises:
            DaemonError: A request fails; it ends the command, with the reason of the last failed start.
        """
        from reviewsctl.daemon import client, errors, start_failure, transport  # 25 ms, see main

        def observe(peer: "Peer") -> None:
            warning = transport.mismatch(own_version("reviewsd"), peer)
            if warning is not None and not quiet:
                complain(
                    "warning", {"title": "versions differ", "detail": warning}, as_json=as_json
                )

        try:
            yield client.Client(self.socket, answer_seconds=answer_seconds, observe=observe)
        except errors.NotRunning as error:
            if self.is_unconfigured:
                raise errors.NotRunning(
                    NO_CONFIGURATION, f"{GO_TO_FOLDER}, or say --config or --socket."
                ) from None
            if self.named_socket is not None:
                raise
            directory = state_dir(self.configuration, os.environ)
            raise start_failure.explained(error, directory) from None


def own_version(distribution: str) -> str | None:
    """Return the version of a distribution, or None if it is not installed."""
    import importlib.metadata as metadata  # noqa: PLR0402  # costs 15 ms, see main

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None

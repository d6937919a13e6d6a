"""One run of reviewsctl: the options that commands share, and the way to the daemon."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reviewsctl.daemon.default_paths import admin_socket, state_dir
from reviewsctl.terminal.output import complain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsctl.daemon.client import Client
    from reviewsctl.daemon.transport import Peer

Json = Annotated[bool, typer.Option("--json", help="Print JSON, errors on stderr included.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print errors only.")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the outcome, or only ask.")]


@dataclass(frozen=True, slots=True)
class Session:
    """One run of reviewsctl: the global options. Commands get it as ``ctx.obj``."""

    given: Path | None
    """The admin socket that an option or $REVIEWSD_ADMIN_SOCKET names."""
    pager: bool = True
    """Whether long output on a terminal may go through one."""

    @property
    def socket(self) -> Path:
        """The admin socket: the one asked for, or the one that is configured."""
        return self.given or admin_socket(os.environ)

    @contextlib.contextmanager
    def daemon(self, *, as_json: bool = False, quiet: bool = False) -> "Iterator[Client]":
        """A client for the block; what goes wrong with the daemon in it ends the command.

        Args:
            as_json: Errors and warnings are JSON.
            quiet: No warning when versions differ.
        """
        from reviewsctl.daemon import (
            client,
            errors,
            start_failure,
            transport,  # 25 ms, see main
        )

        def observe(peer: "Peer") -> None:
            warning = transport.mismatch(own_version("reviewsd"), peer)
            if warning is not None and not quiet:
                complain(
                    "warning", {"title": "versions differ", "detail": warning}, as_json=as_json
                )

        try:
            yield client.Client(self.socket, observe=observe)
        except errors.DaemonError as error:
            directory = None if self.given else state_dir(os.environ)
            explained = start_failure.explained(error, directory)
            complain("error", explained.members(), as_json=as_json)
            raise typer.Exit(error.exit_code) from error


def own_version(distribution: str) -> str | None:
    """The version of an installed distribution; None in a tree that is not installed."""
    import importlib.metadata as metadata  # noqa: PLR0402  # costs 15 ms, see main

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None

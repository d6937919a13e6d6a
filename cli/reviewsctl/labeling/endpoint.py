"""The server of a model: its address and key (insights.md 7, wire and privacy)."""

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from reviewsctl.terminal.errors import CommandError
from reviewsd.api.texts import printable

MAX_KEY: Final = 4096  # characters

EXAMPLES: Final = "Name it like http://127.0.0.1:11434/v1 or https://api.example.com/v1."


class ModelError(CommandError):
    """The run ends; what is labeled until then is kept."""

    def __init__(self, detail: str, remedy: str = "", *, title: str = "not labeled") -> None:
        super().__init__(title, printable(detail), remedy)  # it quotes the model


def parse_endpoint(url: str) -> SplitResult:
    """Parse the base address of a server; ``Model`` refuses what its client takes for no address.

    Raises:
        ModelError: It is not an address that can be used.
    """
    if "@" in url:  # first, since the other messages quote parts, which may be of a password
        raise ModelError(
            "the endpoint has a user or password in it, which others could read",
            "Put the key into a file: --key-file PATH",
        )
    try:
        parts = urlsplit(url)
        _ = parts.port, (parts.hostname or "").encode("idna")  # ValueError: they are none
    except ValueError as fault:
        raise ModelError(f"the endpoint is not an address: {fault}", EXAMPLES) from fault
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ModelError("the endpoint is not an http: or https: address", EXAMPLES)
    if parts.query or parts.fragment:
        raise ModelError("the endpoint has a query or a fragment", EXAMPLES)
    return parts


def is_loopback(endpoint: SplitResult) -> bool:
    """Return whether the name of a server is one of this machine."""
    host = endpoint.hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_key(
    endpoint: SplitResult,
    file: Path | None,
    variable: str,
    environ: Mapping[str, str] = os.environ,
) -> str | None:
    """Return the API key from a file or environment variable, or None if neither is named.

    There is no option for the key itself, since other users can read command lines.

    Raises:
        ModelError: There is not one key in it, or it would be sent unencrypted.
    """
    if file is None and not variable:
        return None
    if file is not None and variable:
        raise ModelError("a key comes from --key-file or from --key-env, not both")
    try:
        if file is None:
            content = environ.get(variable, "")
        else:
            with file.open(encoding="utf-8-sig", errors="replace") as text:
                content = text.read(MAX_KEY + 2)
    except OSError as fault:
        raise ModelError(f"cannot read {file}: {fault.strerror}") from fault
    key = content.strip()
    if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(
            f"{file or f'the environment variable {variable}'} does not hold one key",
            f"Expected one line of ASCII without spaces, at most {MAX_KEY:,} characters.",
        )
    if endpoint.scheme != "https" and not is_loopback(endpoint):
        raise ModelError(
            "the key would be sent unencrypted", "Use an https: endpoint, or one on this machine."
        )
    return key

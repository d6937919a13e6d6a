"""The server of a model: its address and key (insights.md 7, wire and privacy)."""

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

from reviewsctl.daemon.errors import DaemonError

MAX_KEY: Final = 4096  # bytes


class ModelError(DaemonError):
    """The run ends; what is labelled until then is kept."""

    def __init__(self, detail: str, remedy: str = "", *, title: str = "not labelled") -> None:
        super().__init__(title, detail, remedy=remedy)


def parse(url: str) -> SplitResult:
    """Return the address of a server.

    Raises:
        ModelError: It is none.
    """
    remedy = "Name it like http://127.0.0.1:11434/v1 or https://api.example.com/v1."
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # ValueError: the port is no number
        (host or "").encode("idna")  # UnicodeError, a ValueError: no name is that long
    except ValueError as fault:
        raise ModelError(f"the endpoint is no address: {fault}", remedy) from fault
    if parts.scheme not in {"http", "https"} or not host:
        raise ModelError("the endpoint is no http: or https: address", remedy)
    if "@" in parts.netloc:
        raise ModelError(
            "the endpoint has a user or password in it, which others could read",
            "Put the key into a file: --key-file PATH",
        )
    if parts.query or parts.fragment or not url.isascii() or not url.isprintable() or " " in url:
        raise ModelError("the endpoint has a query, a fragment or characters that no URL has")
    return parts


def is_loopback(endpoint: SplitResult) -> bool:
    """Return whether the name of a server is one of this machine."""
    host = endpoint.hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def key_of(
    endpoint: SplitResult,
    file: Path | None,
    variable: str,
    environ: Mapping[str, str] = os.environ,
) -> str | None:
    """Return the key of a file or an environment variable; other users can read the command line.

    Raises:
        ModelError: There is no key in it, or it would be sent unencrypted.
    """
    if file is None and not variable:
        return None
    if file is not None and variable:
        raise ModelError("a key comes from --key-file or from --key-env, not both")
    try:
        if file is None:
            content = environ.get(variable, "")
        else:
            with file.open(encoding="ascii", errors="replace") as text:
                content = text.read(MAX_KEY + 2)
    except OSError as fault:
        raise ModelError(f"cannot read {file}: {fault.strerror}") from fault
    key = content.strip()
    if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
        where = file or f"the environment variable {variable}"
        raise ModelError(f"{where} holds no key", "It is one line of letters, digits and marks.")
    if endpoint.scheme != "https" and not is_loopback(endpoint):
        raise ModelError(
            "the key would be sent unencrypted", "Use an https: endpoint, or one on this machine."
        )
    return key

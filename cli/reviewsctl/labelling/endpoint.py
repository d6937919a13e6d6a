"""The server of a model: its address and key (insights.md 7, wire and privacy)."""

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reviewsctl.labelling.errors import ModelError

MAX_KEY: Final = 4096  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """The address of a server."""

    tls: bool
    host: str
    authority: str
    """Host and port as the Host header has them."""
    url: str
    """The base of the API's paths."""

    @property
    def loopback(self) -> bool:
        """Whether its name is one of this machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse(url: str) -> Endpoint:
    """Parse a URL.

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
    tls = parts.scheme == "https"
    return Endpoint(
        tls=tls,
        host=host,
        authority=parts.netloc,
        url=url,
    )


def key_of(
    endpoint: Endpoint, file: Path | None, variable: str, environ: Mapping[str, str] = os.environ
) -> str | None:
    """Return the key of a file or an environment variable; other users can read the command line.

    Raises:
        ModelError: There is no key in it, or it would be sent unencrypted.
    """
    if file is None and not variable:
        return None
    if file is not None and variable:
        raise ModelError("a key comes from --key-file or from --key-env, not both")
    if file is not None:
        try:
            with file.open("rb") as content:
                key = content.read(MAX_KEY + 1).decode("ascii").strip()
        except OSError as fault:
            raise ModelError(f"cannot read {file}: {fault.strerror}") from fault
        except UnicodeDecodeError as fault:
            raise ModelError(f"{file} holds no key") from fault
    else:
        key = environ.get(variable, "").strip()
    where = file or f"the environment variable {variable}"
    if not key or len(key) > MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(f"{where} holds no key", "It is one line of letters, digits and marks.")
    if not endpoint.tls and not endpoint.loopback:
        raise ModelError(
            "the key would be sent unencrypted", "Use an https: endpoint, or one on this machine."
        )
    return key

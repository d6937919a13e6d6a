"""Sources of the type ``url``: one file, fetched again when it has changed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import urljoin, urlsplit

import msgspec

from reviewsctl.sources.faults import ReadFailedError, SourceStoppedError
from reviewsctl.sources.paging import Download
from reviewsctl.sources.wire import Answer, Wire, host_of

_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))
_NAME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_PAGES: Final = (
    b"<!doctype html",
    b"<html",
    b"<head",
    b'<?xml version="1.0" encoding="utf-8"?><!doctype html',
)


class _Look(msgspec.Struct, frozen=True, omit_defaults=True):
    """The validators for the next request."""

    etag: str = ""
    modified: str = ""
    digest: str = ""


def parsed_header(line: str) -> tuple[str, str]:
    """Return name and value of a header line.

    Raises:
        SourceStoppedError: It is none; the message does not quote it.
    """
    name, colon, value = line.partition(":")
    value = value.strip()
    if (
        not (colon and name and value.isascii() and value.isprintable() and value)
        or not set(name.lower()) <= _NAME_CHARACTERS
    ):
        raise SourceStoppedError(
            "header_file has no header",
            'Write one line into it, such as "Authorization: Bearer ..."',
        )
    return name, value


@dataclass(frozen=True, slots=True)
class AddressReader:
    """Reads one address."""

    wire: Wire
    url: str
    header: tuple[str, str] | None
    """Sent to the host of ``url`` alone."""
    allow_private: bool

    def read(self, spool: Path, look: str, *, full: bool) -> Download | None:
        """Fetch the file, unless it has not changed."""
        last = msgspec.json.decode(look, type=_Look) if look else _Look()
        conditions = {}
        if not full and last.etag:
            conditions["If-None-Match"] = last.etag
        if not full and last.modified:
            conditions["If-Modified-Since"] = last.modified
        file = spool / f"the answer of {host_of(self.url)}"  # messages of the import have its name
        with file.open("xb") as out:
            answer = self._fetch(conditions, out)
        if answer.status == HTTPStatus.NOT_MODIFIED and conditions:
            return None
        if answer.status != HTTPStatus.OK:
            raise _refusal(answer, has_header=self.header is not None)
        with file.open("rb") as content:
            begins = content.read(256).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
            if begins.startswith(_PAGES):
                raise ReadFailedError(
                    f"a web page came from {answer.host} in place of data",
                    "Is it a login page? Open the address in a private window of a browser.",
                )
            content.seek(0)
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest == last.digest and not full:
            return None
        current = _Look(
            etag=answer.headers.get("etag", ""),
            modified=answer.headers.get("last-modified", ""),
            digest=digest,
        )
        return Download(files=[file], look=msgspec.json.encode(current).decode())

    def _fetch(self, conditions: Mapping[str, str], out: BinaryIO) -> Answer:
        """Follow redirects at the same origin, and one to another without the header."""
        url, has_left = self.url, False
        for _ in range(_MAX_REDIRECTS + 1):
            headers = dict(conditions)
            if self.header is not None and not has_left:
                headers[self.header[0]] = self.header[1]
            answer = self.wire.request("GET", url, headers, out=out)
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None:
                return answer
            target = _joined(url, location)
            if _origin(target) != _origin(url):
                scheme = urlsplit(target).scheme
                if has_left or not (scheme == "https" or (scheme == "http" and self.allow_private)):
                    raise SourceStoppedError(
                        f"{answer.host} redirects to {host_of(target)}",
                        "Give the address where the file is in the end.",
                    )
                has_left = True
            url = target
        raise SourceStoppedError(f"{host_of(url)} redirects in a circle")


def _joined(url: str, location: str) -> str:
    try:
        target = urljoin(url, location)
        _ = urlsplit(target).port  # a ValueError if it is none
    except ValueError as error:
        raise SourceStoppedError(f"{host_of(url)} redirects to what is no address") from error
    return target


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return (parts.scheme, parts.hostname or "", parts.port or default)


def _refusal(answer: Answer, *, has_header: bool) -> ReadFailedError:
    """Return the fault of a response that brings no file."""
    match answer.status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            if has_header:
                return SourceStoppedError(
                    f"{answer.status}: {answer.host} does not accept the header",
                    "Put a new one into the file that header_file names.",
                )
            return SourceStoppedError(
                f"{answer.status}: {answer.host} refuses a request without a header of yours",
                "The source has no header_file: name a file with one line, such as Authorization: Bearer ...",
            )
        case HTTPStatus.NOT_FOUND | HTTPStatus.GONE:
            return ReadFailedError(f"{answer.status}: {answer.host} has no such file")
    return ReadFailedError(f"{answer.status} from {answer.host}")

"""OAuth 2.0 of Google for an installed application: PKCE, loopback redirect, rotating tokens (RFC 8252).

Tokens are in ``tokens/NAME`` of the state directory, 0600, on the disk before they are used.
"""

import base64
import datetime
import hashlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from reviewsctl.files.folders import opened
from reviewsctl.sources.faults import LOG_IN, ReadFailedError, SourceStoppedError
from reviewsctl.sources.wire import Answer, Wire

SCOPE: Final = "https://www.googleapis.com/auth/business.manage"
AUTHORIZATION: Final = "https://accounts.google.com/o/oauth2/v2/auth"
REDIRECT: Final = "http://127.0.0.1:8765/"  # nothing listens there: the address is pasted
TOKEN_ORIGIN: Final = "https://oauth2.googleapis.com"  # noqa: S105  # an address
_MARGIN: Final = datetime.timedelta(minutes=1)
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


class Client(msgspec.Struct, frozen=True):
    """A client of the type "Desktop app"."""

    client_id: str
    client_secret: str


class _ClientFile(msgspec.Struct, frozen=True):
    installed: Client


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of a login."""

    refresh_token: str
    access_token: str
    expires_at: datetime.datetime


class _Grant(msgspec.Struct):
    access_token: str
    expires_in: int
    refresh_token: str = ""
    scope: str = ""


class _Error(msgspec.Struct):
    error: str = ""


def parsed_client(text: str) -> Client:
    """Return the client in the file of Google Cloud.

    Raises:
        SourceStoppedError: It is another file.
    """
    try:
        return msgspec.json.decode(text, type=_ClientFile).installed
    except msgspec.MsgspecError as error:
        raise SourceStoppedError(
            'client_file is no client of the type "Desktop app"',
            "Google Cloud, Credentials: make such a client, and download its JSON.",
        ) from error


@dataclass(frozen=True, slots=True)
class GoogleTokens:
    """The tokens of one source at Google."""

    wire: Wire
    client: Client
    folder: Path
    """The folder of the tokens: ``tokens`` in the state directory."""
    name: str
    now: Callable[[], datetime.datetime]
    origin: str = TOKEN_ORIGIN

    def load(self) -> Tokens:
        """Return the tokens of the last login.

        Raises:
            SourceStoppedError: There is none, or the file is damaged.
        """
        remedy = LOG_IN.format(name=self.name)
        try:
            return msgspec.json.decode((self.folder / self.name).read_bytes(), type=Tokens)
        except FileNotFoundError as error:
            raise SourceStoppedError("nobody has logged in", remedy) from error
        except OSError as error:
            raise SourceStoppedError(f"{error.filename}: {error.strerror}") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SourceStoppedError("the file of its tokens is damaged", remedy) from error

    def save(self, tokens: Tokens) -> None:
        """Replace the tokens; they are on the disk when this returns."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opened(self.folder) as folder:
            folder.write(self.name, msgspec.json.encode(tokens), 0o600)

    def access_token(self, new: bool) -> str:  # noqa: FBT001  # its only argument
        """Return an access token that is valid for another minute at least.

        Raises:
            SourceStoppedError: A new login is needed.
        """
        tokens = self.load()
        if new or tokens.expires_at - _MARGIN <= self.now():
            grant = self._grant(
                {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}
            )
            tokens = self._kept(grant, tokens.refresh_token)
        return tokens.access_token

    def log_in(self, code: str, verifier: str) -> None:
        """Exchange the code of a login, with its verifier, for tokens.

        Raises:
            ReadFailedError: It is refused, or the permission was unticked.
        """
        grant = self._grant(
            {
                "grant_type": "authorization_code",
                "code": code,
                "code_verifier": verifier,
                "redirect_uri": REDIRECT,
            }
        )
        if SCOPE not in grant.scope.split():
            raise ReadFailedError(
                "the permission to read the business was not given",
                "Log in again, and leave its box ticked.",
            )
        if not grant.refresh_token:
            raise ReadFailedError("Google sent no refresh token", LOG_IN.format(name=self.name))
        self._kept(grant, grant.refresh_token)

    def log_out(self) -> None:
        """Revoke the tokens and remove them; they are removed even if Google cannot be asked."""
        tokens = self.load()
        (self.folder / self.name).unlink(missing_ok=True)
        self._post("/revoke", {"token": tokens.refresh_token})

    def _kept(self, grant: _Grant, refresh_token: str) -> Tokens:
        expires = self.now() + datetime.timedelta(seconds=grant.expires_in)
        tokens = Tokens(
            refresh_token=grant.refresh_token or refresh_token,
            access_token=grant.access_token,
            expires_at=expires,
        )
        self.save(tokens)
        return tokens

    def _grant(self, form: Mapping[str, str]) -> _Grant:
        answer = self._post(
            "/token",
            {
                **form,
                "client_id": self.client.client_id,
                "client_secret": self.client.client_secret,
            },
        )
        if answer.status == HTTPStatus.OK:
            return answer.decoded(_Grant)
        reason = answer.decoded(_Error).error
        if reason == "invalid_grant":
            raise SourceStoppedError(
                "the login is not valid any more (invalid_grant)", LOG_IN.format(name=self.name)
            )
        if reason in {"invalid_client", "unauthorized_client"}:
            raise SourceStoppedError(f"Google refuses client_file ({reason})", "Download it again.")
        raise ReadFailedError(f"{answer.status} from {answer.host}")

    def _post(self, path: str, form: Mapping[str, str]) -> Answer:
        data = urlencode(form).encode()
        return self.wire.request("POST", self.origin + path, _FORM, data=data)


def log_in(tokens: GoogleTokens, show: Callable[[str], None], lines: Iterable[str]) -> None:
    """Log in: show the address for the browser, and exchange the code of the pasted one for tokens.

    Args:
        tokens: Keeps them.
        show: Shows a line to the operator.
        lines: What the operator enters.

    Raises:
        ReadFailedError: It is refused, or nothing was pasted.
    """
    verifier, state = secrets.token_urlsafe(64), secrets.token_urlsafe(24)
    show("Open this address in a browser, and allow access:")
    show(f"  {_address(tokens.client, verifier, state)}")
    show(f"The browser then ends at {REDIRECT}..., where it finds no page. Copy that address")
    show("from the browser, paste it here, and press Enter:")
    for line in filter(str.strip, lines):
        try:
            query = parse_qs(urlsplit(line.strip()).query)
        except ValueError:
            show("that is no address")
            continue
        if not secrets.compare_digest(query.get("state", [""])[0].encode(), state.encode()):
            show("that address belongs to another login")
        elif "code" not in query:
            show("permission was denied in the browser")
        else:
            tokens.log_in(query["code"][0], verifier)
            return
    raise ReadFailedError("no address was pasted")


def _address(client: Client, verifier: str, state: str) -> str:
    """Return the address that the browser opens, with the digest of the verifier (RFC 7636)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "client_id": client.client_id,
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "scope": SCOPE,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
        "code_challenge_method": "S256",
        "access_type": "offline",
        "prompt": "consent",
    }
    return f"{AUTHORIZATION}?{urlencode(query)}"

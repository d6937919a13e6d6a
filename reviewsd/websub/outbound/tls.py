"""TLS to callbacks: one OpenSSL context for all, names checked, sessions resumed (E10).

One context, because building one parses the platform's CA bundle: milliseconds and megabytes,
which Twisted's policy for browsers spends on each connection. The trust is the platform's (OpenSSL's
default paths; ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` are honoured) and that of one file of the
operator's. All of this is public pyOpenSSL: Twisted has no public name for adding to the trust.

The chain is judged by OpenSSL in the handshake, the name by service_identity after it, on every
connection, before a byte of a request is written. Resuming a session spares the subscriber's
signature and OpenSSL's judgement of the chain, which the session carries along with the certificate
itself; the name is checked against that certificate all the same, which takes 20 microseconds. A
session is offered only to the host and port it came from, after an exchange that went well, and for
an hour, so that an expired certificate does not live on in it.
"""

from collections import OrderedDict
from pathlib import Path

from OpenSSL import SSL
from service_identity import CertificateError, VerificationError
from service_identity.cryptography import (
    verify_certificate_hostname,
    verify_certificate_ip_address,
)
from twisted.internet.interfaces import IReactorTime

from reviewsd.domain.callback import Callback

MAX_SESSIONS = 512  # with their certificates, about 4 kB each
SESSION_SECONDS = 3600
MAX_CERTIFICATE = 16_384  # bytes; each of its names costs microseconds, and thousands fit into more
READ_SIZE = 65_536  # bytes at once, from OpenSSL's buffers; larger ones would be mapped by malloc


class NotTrustedError(Exception):
    """The certificate is not for the host that was called; the text is for people."""


class Tls:
    """Makes and checks the TLS side of connections.

    Args:
        clock: For the age of sessions.
        ca_file: PEM; certificates of CAs to trust beside the platform's.

    Raises:
        ValueError: The file cannot be read, or holds no certificate.
    """

    def __init__(self, clock: IReactorTime, ca_file: Path | None) -> None:
        self._clock = clock
        self._sessions: OrderedDict[tuple[str, int], tuple[SSL.Session | None, float]] = (
            OrderedDict()
        )
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(SSL.OP_NO_RENEGOTIATION)  # so writing never waits for reading
        context.clear_mode(1)  # SSL_MODE_ENABLE_PARTIAL_WRITE: one call for all records
        context.set_alpn_protos([b"http/1.1"])
        context.set_verify(SSL.VERIFY_PEER)
        context.set_default_verify_paths()
        if ca_file is not None:
            _trust(context, ca_file)
        self._context = context

    def connection(self, callback: Callback) -> SSL.Connection:
        """The client's end, between two buffers in memory; its handshake has not begun."""
        connection = SSL.Connection(self._context, None)
        connection.set_connect_state()
        if not callback.is_literal:
            connection.set_tlsext_host_name(callback.host.encode("ascii"))
        now = self._clock.seconds()
        session, since = self._sessions.get((callback.host, callback.port), (None, now))
        if session is not None and now - since < SESSION_SECONDS:
            connection.set_session(session)
            connection.set_app_data(since)  # a resumed session is as old as the first
        else:
            connection.set_app_data(now)
        return connection

    def check(self, connection: SSL.Connection, callback: Callback) -> None:
        """Check the name, once the handshake is over.

        Raises:
            NotTrustedError: The certificate is not for the callback's host.
        """
        certificate = connection.get_peer_certificate(as_cryptography=True)
        if certificate is None or len(certificate.tbs_certificate_bytes) > MAX_CERTIFICATE:
            raise NotTrustedError("the certificate is too large")
        literal = callback.is_literal
        verify = verify_certificate_ip_address if literal else verify_certificate_hostname
        try:
            verify(certificate, callback.host)
        except (VerificationError, CertificateError, ValueError) as error:
            raise NotTrustedError("the certificate is not for this host") from error

    def remember(self, connection: SSL.Connection, callback: Callback) -> None:
        """Keep the session of a checked connection that has served well."""
        session = connection.get_session()
        if session is None:
            return
        key = (callback.host, callback.port)
        self._sessions[key] = (session, connection.get_app_data())
        self._sessions.move_to_end(key)
        if len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)


def reason(error: SSL.Error) -> str:
    """OpenSSL's own words: ``certificate verify failed``."""
    queue = error.args[0] if error.args else ()
    if isinstance(queue, list) and queue:
        return str(queue[-1][-1])
    return "broken off"


def _trust(context: SSL.Context, ca_file: Path) -> None:
    try:
        ca_file.open("rb").close()
    except OSError as error:
        raise ValueError(f"{ca_file}: {error.strerror}") from error
    try:
        context.load_verify_locations(str(ca_file))
    except SSL.Error as error:
        raise ValueError(f"{ca_file}: {reason(error)}") from error

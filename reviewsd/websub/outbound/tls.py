"""TLS to callbacks: one OpenSSL context, checked names, resumed sessions (E10).

There is one context, because building one parses the platform's CA bundle: milliseconds and megabytes,
which Twisted's policy for browsers spends on each connection. It trusts the platform's CAs (OpenSSL's
default paths; ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` are honored) and those of one file of the operator's.

OpenSSL verifies the chain in the handshake, service_identity the name after it, on each connection and
before a byte of a request is written. A resumed session saves the signature and the verification of the
chain. It contains the certificate, and the name is checked against it again, which takes 20 microseconds. A
session is resumed only with its host and port, after an exchange without an error, and for an hour, so that
an expired certificate is not trusted for longer.

The peer decides what a handshake costs only within bounds, because all of it runs in the reactor:

- Key exchange is ECDHE over the groups that browsers offer. A finite-field group is as large as the
  peer makes it in TLS 1.2: 10,000 bits took 0.7 s.
- Each key of the chain is judged before OpenSSL verifies a signature with it, because a long RSA exponent
  or a custom curve would be slow.
- A chain has few certificates; the connection limits their bytes.
- Only names that could be the host's are passed to service_identity, which takes ten microseconds for each.
"""

from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.x509 import (
    Certificate,
    DNSName,
    ExtensionNotFound,
    IPAddress,
    SubjectAlternativeName,
)
from OpenSSL import SSL, crypto
from OpenSSL._util import lib
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import (
    DNS_ID,
    DNSPattern,
    IPAddress_ID,
    IPAddressPattern,
    verify_service_identity,
)
from twisted.internet.interfaces import IReactorTime

from reviewsd.domain.callback import Callback
from reviewsd.websub.rate_limits import LRUCache

MAX_SESSIONS = 512  # with their certificates, about 4 kB each
SESSION_SECONDS = 3600
READ_SIZE = 65_536  # bytes read from OpenSSL at once; malloc would map larger buffers

CIPHERS = b"ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES"  # of TLS 1.2
GROUPS = b"X25519MLKEM768:X25519:P-256:P-384"
MAX_INTERMEDIATES = 5
MAX_RSA_BITS, MAX_RSA_EXPONENT_BITS = 8_192, 33
CURVES = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)


class CertificateRefusedError(Exception):
    """The peer's certificates do not identify the callback's host; the text is for people."""


class Tls:
    """Makes and checks the TLS side of connections.

    Args:
        clock: For the age of sessions.
        ca_file: PEM; CA certificates to trust besides the platform's.

    Raises:
        ValueError: The file cannot be read, or holds no certificate.
    """

    def __init__(self, clock: IReactorTime, ca_file: Path | None) -> None:
        self._clock = clock
        self._sessions: LRUCache[tuple[str, int], tuple[SSL.Session, float]]
        self._sessions = LRUCache(MAX_SESSIONS)
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_min_proto_version(SSL.TLS1_2_VERSION)
        context.set_options(SSL.OP_NO_RENEGOTIATION)  # so writing never waits for reading
        context.clear_mode(1)  # SSL_MODE_ENABLE_PARTIAL_WRITE: one call for all records
        context.set_alpn_protos([b"http/1.1"])
        context.set_cipher_list(CIPHERS)
        # No public name of pyOpenSSL sets more than one; a test checks what is offered
        if lib.SSL_CTX_set1_curves_list(context._context, GROUPS) != 1:  # noqa: SLF001
            raise RuntimeError("this OpenSSL does not know the groups of a handshake")
        context.set_verify(SSL.VERIFY_PEER, _judge)
        context.set_verify_depth(MAX_INTERMEDIATES)
        context.set_default_verify_paths()
        if ca_file is not None:
            _trust(context, ca_file)
        self._context = context

    def connection(self, callback: Callback) -> SSL.Connection:
        """Return a client's end between two buffers in memory, before its handshake."""
        connection = SSL.Connection(self._context, None)
        connection.set_connect_state()
        if not callback.is_literal:
            connection.set_tlsext_host_name(callback.host.encode("ascii"))
        began_at = now = self._clock.seconds()
        entry = self._sessions.get((callback.host, callback.port))
        if entry is not None and now - entry[1] < SESSION_SECONDS:
            session, began_at = entry  # a resumed session is as old as the first
            connection.set_session(session)
        connection.set_app_data(began_at)
        return connection

    def check(self, connection: SSL.Connection, callback: Callback) -> None:
        """Check the name, once the handshake is over.

        Raises:
            CertificateRefusedError: The certificate is not for the callback's host.
        """
        certificate = connection.get_peer_certificate(as_cryptography=True)
        if certificate is None or not matches_host(certificate, callback):
            raise CertificateRefusedError("the certificate is not for this host")

    def remember(self, connection: SSL.Connection, callback: Callback) -> None:
        """Keep the session of a checked connection for the next one."""
        session = connection.get_session()
        if session is not None:
            began_at = connection.get_app_data()
            self._sessions[callback.host, callback.port] = session, began_at


def _judge(
    _connection: SSL.Connection, certificate: crypto.X509, _error: int, _depth: int, valid: int
) -> bool:
    """Judge a certificate of a chain, from the root down, before OpenSSL uses its key.

    Raises:
        CertificateRefusedError: A verification with its key would cost too much.
    """
    if valid and not _is_cheap(certificate):
        raise CertificateRefusedError("a key of the certificates is of an unusual kind or size")
    return bool(valid)


def _is_cheap(certificate: crypto.X509) -> bool:
    try:
        key = certificate.to_cryptography().public_key()
    except (UnsupportedAlgorithm, ValueError):
        return False
    match key:
        case rsa.RSAPublicKey():
            exponent = key.public_numbers().e
            return key.key_size <= MAX_RSA_BITS and exponent.bit_length() <= MAX_RSA_EXPONENT_BITS
        case ec.EllipticCurvePublicKey():
            return isinstance(key.curve, CURVES)
    return isinstance(key, ed25519.Ed25519PublicKey | ed448.Ed448PublicKey)


def matches_host(certificate: Certificate, callback: Callback) -> bool:
    """Return whether a name of a certificate is the callback's host (RFC 6125)."""
    try:
        names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
        if callback.is_literal:
            addresses = names.get_values_for_type(IPAddress)
            host = IPAddress_ID(callback.host)
            patterns = [IPAddressPattern(host.ip) for address in addresses if address == host.ip]
            verify_service_identity(patterns, [host], [])
        else:
            wildcard = f"*.{callback.host.partition('.')[2]}"
            candidates = [
                DNSPattern.from_bytes(name.encode("ascii"))
                for name in names.get_values_for_type(DNSName)
                if name.lower() in {callback.host, wildcard}
            ]
            verify_service_identity(candidates, [DNS_ID(callback.host)], [])
    except (ExtensionNotFound, VerificationError, CertificateError, ValueError):
        return False
    return True


def reason(error: SSL.Error) -> str:
    """Return OpenSSL's own words: ``certificate verify failed``."""
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

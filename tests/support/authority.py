"""A certificate authority for tests: made in milliseconds, trusted by the tests alone."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: Key
    chain: tuple[x509.Certificate, ...] = ()
    """The certificates from the issuer up to the one below the root."""

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    def write(self, path: Path) -> Path:
        """The certificate alone, as ``ca_file`` wants it."""
        path.write_bytes(self.pem)
        return path

    def write_with_key(self, path: Path) -> Path:
        """Write key and certificates to a file for ``ssl.SSLContext.load_cert_chain``."""
        path.write_bytes(self.key_pem + self.pem)
        return path


class Authority:
    """Issues certificates."""

    def __init__(self, name: str = "Tests", identity: Identity | None = None) -> None:
        self.identity = identity or _signed(name, None, ca=True)

    def issue(self, *names: str, expired: bool = False, key: Key | None = None) -> Identity:
        """A server's identity for host names and addresses."""
        return _signed("server", self.identity, names=names, expired=expired, key=key)

    def delegate(self, name: str = "Intermediate", key: Key | None = None) -> "Authority":
        """Another one, which this one vouches for."""
        return Authority(identity=_signed(name, self.identity, ca=True, key=key))


@cache
def authority() -> Authority:
    """The one that clients of the tests trust."""
    return Authority()


def self_signed(*names: str) -> Identity:
    """Return an identity that is signed by itself."""
    return _signed("self", None, names=names)


def client_context() -> ssl.SSLContext:
    """Return a context of a client that trusts this authority."""
    return ssl.create_default_context(cadata=authority().identity.pem.decode())


def _signed(
    name: str,
    issuer: Identity | None,
    *,
    names: tuple[str, ...] = (),
    ca: bool = False,
    expired: bool = False,
    key: Key | None = None,
) -> Identity:
    key = key or ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    end = now - DAY if expired else now + 7 * DAY
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * DAY)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    if ca:  # Python 3.13 insists on these
        usage = x509.KeyUsage(**dict.fromkeys(_USAGES, False) | {"key_cert_sign": True})
        builder = builder.add_extension(usage, critical=True)
    if issuer is not None:
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
        builder = builder.add_extension(signer, critical=False)
    if names:
        subjects = x509.SubjectAlternativeName([_general_name(name) for name in names])
        builder = builder.add_extension(subjects, critical=False)
    certificate = builder.sign(issuer.key if issuer else key, hashes.SHA256())
    if issuer is None or issuer.certificate.issuer == issuer.certificate.subject:
        return Identity(certificate, key)
    return Identity(certificate, key, (issuer.certificate, *issuer.chain))


_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
)


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)

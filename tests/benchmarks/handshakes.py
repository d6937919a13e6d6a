"""Measures the worst cost of a TLS handshake: ``python -m tests.benchmarks.handshakes``.

Both ends are in memory and in this thread. What is counted is the CPU of the client's calls alone: of
all of them, and of the longest, during which the reactor serves no other connection.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from OpenSSL import SSL
from OpenSSL._util import lib
from twisted.internet.task import Clock

from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.connection import MAX_OVERHEAD
from reviewsd.websub.outbound.tls import (
    MAX_INTERMEDIATES,
    MAX_RSA_BITS,
    CertificateRefusedError,
    Tls,
)
from tests.support.authority import Authority, Identity, Key, authority

HOST = Callback("localhost", 443, "/")
ROUNDS = 20


def attacks(directory: Path) -> Iterator[tuple[str, SSL.Context]]:
    """Yield the choices of a peer, each at its worst."""
    usual = authority().issue(HOST.host)
    yield "none: P-256, one certificate", context(usual)
    for group in ("P-384", "P-521", "ffdhe3072"):
        yield f"group {group}", context(usual, groups=group)
    yield "RSA key, 4,096 bits", context(_with(rsa.generate_private_key(65_537, 4_096)))
    yield (
        "RSA key, as long as may be",
        context(_with(rsa.generate_private_key(65_537, MAX_RSA_BITS))),
    )
    for curve in (ec.SECP521R1(), ec.BrainpoolP512R1()):
        keys = [ec.generate_private_key(curve) for _ in range(MAX_INTERMEDIATES)]
        yield f"longest chain, {curve.name}", context(_delegated(keys).issue(HOST.host))
    names = [f"{number}.a" for number in range((MAX_OVERHEAD - 1_500) // 8)]
    yield f"{len(names):,} names", context(authority().issue(*names, HOST.host))
    yield "certificates of curves of their own", context(_padded(usual, _explicit(directory)))


def context(identity: Identity, *, groups: str | None = None) -> SSL.Context:
    """A server that does as its identity says."""
    tls = SSL.Context(SSL.TLS_SERVER_METHOD)
    tls.use_certificate(identity.certificate)
    tls.use_privatekey(identity.key)
    for certificate in identity.chain:
        tls.add_extra_chain_cert(certificate)
    if groups is not None and lib.SSL_CTX_set1_curves_list(tls._context, groups.encode()) != 1:
        raise ValueError(groups)
    return tls


def _with(key: Key) -> Identity:
    return authority().issue(HOST.host, key=key)


def _delegated(keys: list[ec.EllipticCurvePrivateKey]) -> Authority:
    issuer = authority()
    for number, key in enumerate(keys):
        issuer = issuer.delegate(str(number), key)
    return issuer


def _explicit(directory: Path) -> x509.Certificate:
    """Return a certificate with a key that includes the parameters of its curve."""
    key, certificate = directory / "key.pem", directory / "certificate.pem"
    for command in (
        f"ecparam -name secp521r1 -param_enc explicit -genkey -noout -out {key}",
        f"req -new -x509 -key {key} -subj /CN=a -days 1 -out {certificate}",
    ):
        subprocess.run(["openssl", *command.split()], check=True, capture_output=True)
    return x509.load_pem_x509_certificate(certificate.read_bytes())


def _padded(identity: Identity, useless: x509.Certificate) -> Identity:
    """Add as many useless certificates as fit."""
    count = (MAX_OVERHEAD - 1_500) // len(useless.public_bytes(Encoding.DER))
    return Identity(identity.certificate, identity.key, (useless,) * count)


def cost(tls: Tls, server: SSL.Context) -> tuple[float, float, str]:
    """Milliseconds of one handshake: in all, of the longest call; and what came of it."""
    calls: list[float] = []

    def counted(call: Callable[[], object]) -> None:
        began = time.thread_time()
        try:
            call()
        finally:
            calls.append(1e3 * (time.thread_time() - began))

    client, end = tls.connection(HOST), SSL.Connection(server, None)
    end.set_accept_state()
    outcome = "accepted"
    try:
        for _ in range(4):
            with suppress(SSL.WantReadError):
                counted(client.do_handshake)
            with suppress(SSL.WantReadError):
                end.bio_write(client.bio_read(1 << 20))
                end.do_handshake()
            with suppress(SSL.WantReadError):
                client.bio_write(end.bio_read(1 << 20))
        counted(lambda: tls.check(client, HOST))
    except (SSL.Error, CertificateRefusedError):
        outcome = "refused"
    return sum(calls), max(calls), outcome


def main() -> None:
    """Print the table."""
    sys.stdout.write("| attack | CPU ms | longest call | outcome |\n|---|---|---|---|\n")
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        tls = Tls(Clock(), authority().identity.write(directory / "ca.pem"))
        for attack, server in attacks(directory):
            total, longest, outcome = min(cost(tls, server) for _ in range(ROUNDS))
            sys.stdout.write(f"| {attack} | {total:.2f} | {longest:.2f} | {outcome} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

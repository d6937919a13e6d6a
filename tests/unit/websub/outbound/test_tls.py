"""TLS to callbacks: trust, names, and resumed sessions (E10)."""

import base64
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from math import gcd
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st
from OpenSSL import SSL
from OpenSSL._util import lib
from service_identity import CertificateError, VerificationError
from service_identity.cryptography import verify_certificate_hostname
from twisted.internet.task import Clock

from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.tls import (
    MAX_INTERMEDIATES,
    MAX_SESSIONS,
    SESSION_SECONDS,
    CertificateRefusedError,
    Tls,
    matches_host,
    reason,
)
from tests.support.authority import Authority, Identity, authority, self_signed
from tests.support.callbacks import HOST, NAMES, serving
from tests.support.outbound import Missing, Names, Received, sending

LOCALHOST = Callback("localhost", 443, "/")
LITERAL = Callback(HOST, 443, "/")


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return authority().identity.write(tmp_path / "ca.pem")


def server_context(
    identity: Identity | None = None, max_version: int | None = None, groups: str | None = None
) -> SSL.Context:
    identity = identity or authority().issue(*NAMES)
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    if groups is not None:
        assert lib.SSL_CTX_set1_curves_list(context._context, groups.encode()) == 1
    for certificate in identity.chain:
        context.add_extra_chain_cert(certificate)
    if max_version is not None:
        context.set_max_proto_version(max_version)
    context.use_certificate(identity.certificate)
    context.use_privatekey(identity.key)
    context.set_session_id(b"test")
    return context


def shake(client: SSL.Connection, context: SSL.Context) -> SSL.Connection:
    """Shake hands in memory, and send a byte from the server, which carries the session."""
    server = SSL.Connection(context, None)
    server.set_accept_state()
    unfinished = [client, server]
    for _ in range(10):
        for side, other in ((client, server), (server, client)):
            if side in unfinished:
                try:
                    side.do_handshake()
                except SSL.WantReadError:
                    pass
                else:
                    unfinished.remove(side)
            pass_on(side, other)
    assert [] == unfinished
    server.send(b"x")
    pass_on(server, client)
    assert b"x" == client.recv(1)
    return server


def pass_on(side: SSL.Connection, other: SSL.Connection) -> None:
    with suppress(SSL.WantReadError):
        other.bio_write(side.bio_read(65_536))


def resumed(server: SSL.Connection) -> bool:
    return bool(lib.SSL_session_reused(server._ssl))


class Rig:
    """A Tls with a clock that stands still, and a server."""

    def __init__(self, ca_file: Path, max_version: int | None = None) -> None:
        self.clock = Clock()
        self.tls = Tls(self.clock, ca_file)
        self.server = server_context(max_version=max_version)

    def visit(self, callback: Callback = LOCALHOST) -> bool:
        """Make a good exchange; return whether it resumed a session."""
        client = self.tls.connection(callback)
        server = shake(client, self.server)
        self.tls.check(client, callback)
        self.tls.remember(client, callback)
        client.shutdown()  # else OpenSSL spoils the session
        return resumed(server)


# Trust --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (lambda _: None, "No such file"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.write_bytes(b""), "no certificate"),
        (lambda path: path.write_bytes(b"-----BEGIN CERTIFICATE-----\nnone\n"), "bad"),
    ],
)
def test_bad_ca_file_is_an_error_at_the_start(
    tmp_path: Path, write: Callable[[Path], object], text: str
) -> None:
    path = tmp_path / "ca.pem"
    write(path)
    with pytest.raises(ValueError, match=text) as caught:
        Tls(Clock(), path)
    assert str(caught.value).startswith(f"{path}: ")


def test_platform_is_trusted_besides_the_file(
    ca_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``SSL_CERT_FILE`` names the CAs that the platform trusts."""
    platform = Authority("Platform")
    monkeypatch.setenv("SSL_CERT_FILE", str(platform.identity.write(tmp_path / "platform.pem")))
    tls = Tls(Clock(), ca_file)
    for issuer in (platform, authority()):
        client = tls.connection(LOCALHOST)
        shake(client, server_context(issuer.issue("localhost")))
        tls.check(client, LOCALHOST)


def test_without_the_file_only_the_platform_is_trusted() -> None:
    client = Tls(Clock(), None).connection(LOCALHOST)
    with pytest.raises(SSL.Error, match="certificate verify failed"):
        shake(client, server_context())


def _thousand_names() -> list[str]:
    """Return names of 28 kB."""
    return [f"a-long-name-{number}.example.com" for number in range(1_000)]


def _costly_key() -> rsa.RSAPrivateKey:
    """Return a key with an exponent as long as its modulus: a signature takes 20 ms to verify."""
    usual = rsa.generate_private_key(65_537, 3_072).private_numbers()
    order = (usual.p - 1) * (usual.q - 1)
    public = next(e for e in count(order * 2 // 3) if gcd(e, order) == 1)
    private = pow(public, -1, order)
    return rsa.RSAPrivateNumbers(
        p=usual.p,
        q=usual.q,
        d=private,
        dmp1=private % (usual.p - 1),
        dmq1=private % (usual.q - 1),
        iqmp=usual.iqmp,
        public_numbers=rsa.RSAPublicNumbers(public, usual.public_numbers.n),
    ).private_key(unsafe_skip_rsa_key_validation=True)


def _slow_curve() -> ec.EllipticCurvePrivateKey:
    """Return a key whose signature takes 4 ms to verify."""
    return ec.generate_private_key(ec.BrainpoolP512R1())


def _delegated(times: int) -> Authority:
    """Return an authority with several intermediates between itself and the root."""
    issuer = authority()
    for number in range(times):
        issuer = issuer.delegate(f"Intermediate {number}")
    return issuer


@pytest.mark.parametrize(
    ("identity", "version", "text"),
    [
        (lambda: authority().issue("other.example.com", "127.0.0.2"), None, "not for this host"),
        (lambda: authority().issue("*.0.0.1", "localhost."), None, "not for this host"),
        (lambda: authority().issue(), None, "not for this host"),
        (lambda: self_signed(*NAMES), None, "certificate verify failed"),
        (lambda: Authority("Tests").issue(*NAMES), None, "certificate verify failed"),
        (lambda: authority().issue(*NAMES, expired=True), None, "certificate verify failed"),
        (lambda: authority().issue(*NAMES), SSL.TLS1_1_VERSION, "TLS"),
        (lambda: authority().issue(*NAMES, *_thousand_names()), None, "brought no data"),
        (lambda: authority().issue(*NAMES, key=_costly_key()), None, "unusual kind or size"),
        (lambda: authority().delegate(key=_slow_curve()).issue(*NAMES), None, "unusual kind"),
        (lambda: _delegated(MAX_INTERMEDIATES + 1).issue(*NAMES), None, "verify failed"),
    ],
    ids=[
        "wrong name",
        "wildcard",
        "no name",
        "self-signed",
        "unknown CA",
        "expired",
        "TLS 1.1",
        "too many names",
        "costly exponent",
        "slow curve",
        "long chain",
    ],
)
@pytest.mark.parametrize("host", ["localhost", HOST])
async def test_no_byte_of_a_request_reaches_an_untrusted_peer(
    ca_file: Path, host: str, identity: Callable[[], Identity], version: int | None, text: str
) -> None:
    async with serving(identity(), tls_version=version) as server, sending(ca_file) as sender:
        url = server.url("/secret", host)
        for outcome in (await sender.verify(url), await sender.deliver(url)):
            assert isinstance(outcome, Missing)
            assert text in outcome.reason
            assert HOST == outcome.address
        assert (2, 0) == (server.connections, server.bytes_received)


@pytest.mark.parametrize(
    "identity",
    [
        lambda: authority().issue(*NAMES, key=rsa.generate_private_key(65_537, 3_072)),
        lambda: authority().issue(*NAMES, key=ec.generate_private_key(ec.SECP384R1())),
        lambda: authority().delegate(key=ec.generate_private_key(ec.SECP521R1())).issue(*NAMES),
        lambda: _delegated(MAX_INTERMEDIATES).issue(*NAMES, *_thousand_names()[:400]),
    ],
    ids=["RSA", "P-384", "P-521 above", "long chain and many names"],
)
def test_usual_certificates_are_trusted(ca_file: Path, identity: Callable[[], Identity]) -> None:
    client = Tls(Clock(), ca_file).connection(LOCALHOST)
    shake(client, server_context(identity()))
    Tls(Clock(), ca_file).check(client, LOCALHOST)


@pytest.mark.parametrize("max_version", [SSL.TLS1_2_VERSION, SSL.TLS1_3_VERSION])
@pytest.mark.parametrize("group", ["X25519", "P-256", "P-384"])
def test_keys_are_exchanged_over_curves(ca_file: Path, max_version: int, group: str) -> None:
    client = Tls(Clock(), ca_file).connection(LOCALHOST)
    shake(client, server_context(max_version=max_version, groups=group))
    names = {"P-256": "secp256r1", "P-384": "secp384r1", "X25519": "x25519"}
    assert names[group] == client.get_group_name()


@pytest.mark.parametrize("group", ["ffdhe2048", "ffdhe3072", "P-521", "X448", "curveSM2"])
def test_slow_group_is_not_offered(ca_file: Path, group: str) -> None:
    """A key exchange over it takes up to 8 ms."""
    client = Tls(Clock(), ca_file).connection(LOCALHOST)
    with pytest.raises(SSL.Error, match="no suitable key share"):
        shake(client, server_context(groups=group))


def test_finite_field_of_the_peer_is_refused(ca_file: Path, tmp_path: Path) -> None:
    """A key exchange over one of 8,192 bits takes 0.7 s."""
    # PKCS #3: the modulus 2**8192 - 1 and the generator 2
    field = base64.encodebytes(
        b"\x30\x82\x04\x08\x02\x82\x04\x01\0" + 1024 * b"\xff" + b"\x02\x01\x02"
    )
    armor = b"-----%b DH PARAMETERS-----\n"
    (tmp_path / "field.pem").write_bytes(armor % b"BEGIN" + field + armor % b"END")
    identity = authority().issue("localhost", key=rsa.generate_private_key(65_537, 2_048))
    server = server_context(identity, SSL.TLS1_2_VERSION)
    server.set_cipher_list(b"DHE+AESGCM:RSA+AESGCM")
    server.load_tmp_dh(str(tmp_path / "field.pem"))
    with pytest.raises(SSL.Error, match="no shared cipher"):
        shake(Tls(Clock(), ca_file).connection(LOCALHOST), server)


@given(
    names=st.lists(st.sampled_from(["a.b.c", "b.c", "*.b.c", "*.a.b.c", "*.x.c", "A.B.C", "x.c"])),
    host=st.sampled_from(["a.b.c", "b.c", "x.b.c", "a.b.c.d", "c", "xn--a.b.c"]),
)
def test_names_are_judged_like_all_names_by_service_identity(names: list[str], host: str) -> None:
    certificate = authority().issue(*names).certificate
    expected = True
    try:
        verify_certificate_hostname(certificate, host)
    except (VerificationError, CertificateError):
        expected = False
    assert expected is matches_host(certificate, Callback(host, 443, "/"))


@pytest.mark.parametrize("host", ["localhost", HOST, "a.localhost.example"])
async def test_names_wildcards_and_addresses_are_trusted(ca_file: Path, host: str) -> None:
    names = Names({"localhost": [HOST], "a.localhost.example": [HOST]})
    async with serving() as server, sending(ca_file, look_up=names.look_up) as sender:
        assert isinstance(await sender.verify(server.url("/", host)), Received)


def test_server_name_is_sent_unless_it_is_an_address(ca_file: Path) -> None:
    """Literal addresses are not permitted in SNI (RFC 6066 3)."""
    rig = Rig(ca_file)
    named, literal = rig.tls.connection(LOCALHOST), rig.tls.connection(LITERAL)
    assert b"localhost" == shake(named, rig.server).get_servername()
    assert shake(literal, rig.server).get_servername() is None


def test_http_1_1_is_offered(ca_file: Path) -> None:
    rig = Rig(ca_file)
    rig.server.set_alpn_select_callback(lambda _, offered: b",".join(offered))
    assert (
        b"http/1.1" == shake(rig.tls.connection(LOCALHOST), rig.server).get_alpn_proto_negotiated()
    )


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            SSL.Error([("SSL routines", "", "certificate verify failed")]),
            "certificate verify failed",
        ),
        (SSL.SysCallError(-1, "Unexpected EOF"), "broken off"),
        (SSL.Error([]), "broken off"),
        (SSL.Error(), "broken off"),
    ],
)
def test_reason_has_openssls_own_words(error: SSL.Error, text: str) -> None:
    assert text == reason(error)


# Resumption ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_version", [SSL.TLS1_2_VERSION, SSL.TLS1_3_VERSION])
def test_session_is_resumed(ca_file: Path, max_version: int) -> None:
    rig = Rig(ca_file, max_version=max_version)
    assert [False, True, True] == [rig.visit() for _ in range(3)]


def test_session_is_for_one_host_and_port(ca_file: Path) -> None:
    rig = Rig(ca_file)
    assert not rig.visit()
    assert not rig.visit(Callback("localhost", 8443, "/"))
    assert not rig.visit(LITERAL)
    assert rig.visit()


def test_name_of_a_resumed_connection_is_checked(ca_file: Path) -> None:
    """The session carries the certificate of its first handshake."""
    rig = Rig(ca_file)
    rig.server = server_context(authority().issue("localhost"))
    rig.visit()
    client = rig.tls.connection(LOCALHOST)
    assert resumed(shake(client, rig.server))

    rig.tls.check(client, LOCALHOST)
    for other in (Callback("other.example.com", 443, "/"), LITERAL):
        with pytest.raises(CertificateRefusedError):
            rig.tls.check(client, other)


def test_session_that_was_not_remembered_is_not_resumed(ca_file: Path) -> None:
    rig = Rig(ca_file)
    shake(rig.tls.connection(LOCALHOST), rig.server)
    assert not rig.visit()


def test_resumed_session_keeps_its_age(ca_file: Path) -> None:
    """Else an expired certificate could live on in it."""
    rig = Rig(ca_file)
    rig.visit()
    rig.clock.advance(SESSION_SECONDS - 1)
    assert rig.visit()
    rig.clock.advance(1)
    assert not rig.visit()
    assert rig.visit()


def test_number_of_sessions_is_limited(ca_file: Path) -> None:
    rig = Rig(ca_file)
    rig.visit()
    client = rig.tls.connection(LOCALHOST)
    shake(client, rig.server)
    for port in range(1024, 1024 + MAX_SESSIONS):
        rig.tls.remember(client, Callback("localhost", port, "/"))
    assert MAX_SESSIONS == len(rig.tls._sessions)
    assert not rig.visit()

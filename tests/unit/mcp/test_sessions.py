"""Session ids: what they say, and that nobody else can make or change one (mcp.md 6, S18)."""

import base64
import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.mcp.revisions import HANDSHAKE, Revision
from reviewsd.mcp.sessions import LABEL, Session, SessionGoneError, Sessions

NOW = 1_760_000_000.5
DAYS_30 = 30 * 86_400
OLD, NEW = bytes(range(32)), bytes(range(32, 64))
RANDOM = bytes(range(16))
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

every_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=lambda each: each.name)


def sessions(*secrets: bytes, ended: set[bytes] | None = None) -> Sessions:
    return Sessions(secrets, (ended or set()).__contains__, DAYS_30)


def mint(*secrets: bytes, now: float = NOW, random: bytes = RANDOM) -> bytes:
    return sessions(*secrets).mint(HANDSHAKE[1], now, random)


def gone(token: bytes, *secrets: bytes, now: float = NOW) -> bool:
    try:
        sessions(*secrets).read(token, now)
    except SessionGoneError:
        return True
    return False


@every_revision
def test_an_id_says_revision_and_end(revision: Revision) -> None:
    token = sessions(OLD).mint(revision, NOW, RANDOM)
    digest = hashlib.sha256(token).digest()
    expected = Session(revision=revision, expires=int(NOW) + DAYS_30, digest=digest)
    assert expected == sessions(OLD).read(token, NOW)


def test_it_is_54_visible_characters_and_40_bytes() -> None:
    token = mint(OLD)
    assert 54 == len(token)
    assert set(token) <= set(ALPHABET)
    plain = base64.urlsafe_b64decode(token + b"==")
    assert 40 == len(plain)
    assert (1, 2) == (plain[0], plain[2])
    assert (int(NOW) + DAYS_30).to_bytes(5, "big") == plain[3:8]
    assert RANDOM == plain[8:24]


def test_the_layout_is_pinned() -> None:
    """Nodes of different versions share a key: another layout needs another format byte."""
    assert b"AYQCAGkPBQAAAQIDBAUGBwgJCgsMDQ4PnsG4D1bSPdo3RJm5JwbgCQ" == mint(OLD)
    assert b"reviewsd mcp session 1" == LABEL


def test_every_changed_bit_is_noticed() -> None:
    plain = base64.urlsafe_b64decode(mint(OLD) + b"==")
    for bit in range(8 * len(plain)):
        altered = bytearray(plain)
        altered[bit // 8] ^= 1 << bit % 8
        assert gone(base64.urlsafe_b64encode(altered).rstrip(b"="), OLD)


def test_every_changed_character_is_noticed() -> None:
    """Four bits of the last one carry nothing, so it has 16 spellings; one is valid."""
    token = mint(OLD)
    for index in range(len(token)):
        for other in ALPHABET:
            if other != token[index]:
                assert gone(token[:index] + bytes([other]) + token[index + 1 :], OLD)


def test_a_cut_or_longer_one_is_gone() -> None:
    token = mint(OLD)
    assert all(gone(token[:length], OLD) for length in range(len(token)))
    assert all(gone(token + more, OLD) for more in (b"=", b"==", b"A", b" ", token))


@pytest.mark.parametrize("junk", [b"\n", b"=", b"+", b"/", b"\xff", b" ", b"\0"])
def test_what_decoders_skip_is_not_skipped(junk: bytes) -> None:
    token = mint(OLD)
    for index in range(len(token)):
        assert gone(token[:index] + junk + token[index + 1 :], OLD)
        assert gone(token[:index] + junk + token[index:], OLD)


@given(
    st.binary(max_size=80) | st.text(ALPHABET.decode(), min_size=54, max_size=54).map(str.encode)
)
def test_anything_else_is_gone(token: bytes) -> None:
    assert gone(token, OLD, NEW)


def test_it_ends_when_it_says() -> None:
    token = mint(OLD)
    end = int(NOW) + DAYS_30
    assert not gone(token, OLD, now=end - 0.001)
    assert gone(token, OLD, now=end)


def test_another_key_s_is_gone() -> None:
    assert gone(mint(OLD), NEW)


def test_a_new_first_key_signs_and_the_older_ones_verify() -> None:
    assert not gone(mint(OLD), NEW, OLD)
    assert not gone(mint(NEW, OLD), NEW)
    assert gone(mint(NEW, OLD), OLD)


def test_keys_that_share_a_number_both_verify() -> None:
    """It is one byte; with 300 keys some share one."""
    keys = [number.to_bytes(32, "big") for number in range(300)]
    assert not any(gone(mint(key), *keys) for key in keys)


def test_an_ended_one_is_gone_and_no_other() -> None:
    ended: set[bytes] = set()
    known = Sessions([OLD], ended.__contains__, DAYS_30)
    token, other = mint(OLD), mint(OLD, random=bytes(16))
    ended.add(known.read(token, NOW).digest)
    with pytest.raises(SessionGoneError):
        known.read(token, NOW)
    assert known.read(other, NOW).digest not in ended


def test_however_many_are_opened_no_more_is_kept() -> None:
    known = sessions(OLD)
    for number in range(2_000):  # the last ones that were read need not be verified again
        known.read(known.mint(HANDSHAKE[0], NOW, number.to_bytes(16, "little")), NOW)
    tracemalloc.start()
    for number in range(5_000):
        known.read(known.mint(HANDSHAKE[0], NOW, number.to_bytes(16, "big")), NOW)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000

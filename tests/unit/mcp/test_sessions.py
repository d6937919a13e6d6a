"""Session ids: their content and their signature (mcp.md 6, S18)."""

import base64
import hashlib
import tracemalloc

import pytest

from reviewsd.mcp.revisions import HANDSHAKE, Revision
from reviewsd.mcp.sessions import LABEL, Session, SessionGoneError, Sessions

NOW = 1_760_000_000.5
DAYS_30 = 30 * 86_400
OLD, NEW = bytes(range(32)), bytes(range(32, 64))
RANDOM = bytes(range(16))
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

every_revision = pytest.mark.parametrize("revision", HANDSHAKE, ids=lambda revision: revision.name)


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
def test_id_contains_revision_and_expiry(revision: Revision) -> None:
    token = sessions(OLD).mint(revision, NOW, RANDOM)
    digest = hashlib.sha256(token).digest()
    expected = Session(revision=revision, expires=int(NOW) + DAYS_30, digest=digest)
    assert expected == sessions(OLD).read(token, NOW)


def test_id_has_54_visible_characters_and_40_bytes() -> None:
    token = mint(OLD)
    assert 54 == len(token)
    assert set(token) <= set(ALPHABET)
    plain = base64.urlsafe_b64decode(token + b"==")
    assert 40 == len(plain)
    assert (1, 2) == (plain[0], plain[2])
    assert (int(NOW) + DAYS_30).to_bytes(5, "big") == plain[3:8]
    assert RANDOM == plain[8:24]


def test_the_layout_is_pinned() -> None:
    """Nodes of different versions share a key, so a new layout needs a new format byte."""
    assert b"AYQCAGkPBQAAAQIDBAUGBwgJCgsMDQ4PnsG4D1bSPdo3RJm5JwbgCQ" == mint(OLD)
    assert b"reviewsd mcp session 1" == LABEL


def test_id_with_a_changed_character_is_refused() -> None:
    """Four bits of the last character are unused, so it has 16 spellings; one is valid."""
    token = mint(OLD)
    for index in range(len(token)):
        for character in ALPHABET:
            if character != token[index]:
                assert gone(token[:index] + bytes([character]) + token[index + 1 :], OLD)


def test_id_of_another_length_is_refused() -> None:
    token = mint(OLD)
    assert all(gone(token[:length], OLD) for length in range(len(token)))
    assert all(gone(token + more, OLD) for more in (b"=", b"==", b"A", b" ", token))


@pytest.mark.parametrize("junk", [b"\n", b"=", b"+", b"/", b"\xff", b" ", b"\0"])
def test_id_with_a_character_that_decoders_skip_is_refused(junk: bytes) -> None:
    token = mint(OLD)
    for index in range(len(token)):
        assert gone(token[:index] + junk + token[index + 1 :], OLD)
        assert gone(token[:index] + junk + token[index:], OLD)


def test_session_ends_at_its_expiry() -> None:
    token = mint(OLD)
    end = int(NOW) + DAYS_30
    assert not gone(token, OLD, now=end - 0.001)
    assert gone(token, OLD, now=end)


def test_id_of_another_key_is_refused() -> None:
    assert gone(mint(OLD), NEW)


def test_a_new_first_key_signs_and_the_older_ones_verify() -> None:
    assert not gone(mint(OLD), NEW, OLD)
    assert not gone(mint(NEW, OLD), NEW)
    assert gone(mint(NEW, OLD), OLD)


def test_keys_that_share_a_number_both_verify() -> None:
    """A number is one byte, so some of 300 keys share one."""
    keys = [number.to_bytes(32, "big") for number in range(300)]
    assert not any(gone(mint(key), *keys) for key in keys)


def test_only_the_ended_session_is_refused() -> None:
    ended: set[bytes] = set()
    current = Sessions([OLD], ended.__contains__, DAYS_30)
    token, second = mint(OLD), mint(OLD, random=bytes(16))
    ended.add(current.read(token, NOW).digest)
    with pytest.raises(SessionGoneError):
        current.read(token, NOW)
    assert current.read(second, NOW).digest not in ended


def test_new_sessions_take_no_memory() -> None:
    current = sessions(OLD)
    for number in range(2_000):  # fills the cache of verified ids
        current.read(current.mint(HANDSHAKE[0], NOW, number.to_bytes(16, "little")), NOW)
    tracemalloc.start()
    for number in range(5_000):
        current.read(current.mint(HANDSHAKE[0], NOW, number.to_bytes(16, "big")), NOW)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 500_000

"""Sealing subscribers' secrets, and the key file (H11)."""

import base64
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.store.keys import KeyFileError
from reviewsd.store.secrets import CREDENTIAL, KEY_FILE, SealError, Secrets, load_keys
from tests.support.stores import names

CALLBACK = "https://subscriber.com/hook?id=1"
TOPIC = "/reviews.json"
OLD, NEW = bytes(range(32)), bytes(range(32, 64))


def base64_of(key: bytes) -> str:
    return base64.b64encode(key).decode()


# -- sealing


@given(st.binary(min_size=1, max_size=199))
def test_a_secret_comes_back_in_its_own_row(secret: bytes) -> None:
    secrets = Secrets([OLD])
    sealed = secrets.seal(secret, CALLBACK, TOPIC)
    assert secret == secrets.unseal(sealed, CALLBACK, TOPIC)


def test_nothing_of_the_secret_is_seen() -> None:
    sealed = Secrets([OLD]).seal(b"canary" * 20, CALLBACK, TOPIC)
    assert b"canary" not in sealed
    assert 1 + 12 + 120 + 16 == len(sealed)


def test_the_same_secret_is_never_sealed_the_same_way() -> None:
    secrets = Secrets([OLD])
    assert 100 == len({secrets.seal(b"secret", CALLBACK, TOPIC) for _ in range(100)})


@pytest.mark.parametrize(
    ("callback", "topic"),
    [("https://subscriber.com/hook?id=2", TOPIC), (CALLBACK, "/feed.xml"), (TOPIC, CALLBACK)],
)
def test_a_moved_row_does_not_open(callback: str, topic: str) -> None:
    """Who can write the database cannot make the hub sign with another's secret."""
    secrets = Secrets([OLD])
    sealed = secrets.seal(b"secret", CALLBACK, TOPIC)
    with pytest.raises(SealError):
        secrets.unseal(sealed, callback, topic)


def test_a_change_of_any_byte_is_noticed() -> None:
    secrets = Secrets([OLD])
    sealed = secrets.seal(b"secret", CALLBACK, TOPIC)
    for index in range(len(sealed)):
        changed = bytearray(sealed)
        changed[index] ^= 1
        with pytest.raises(SealError):
            secrets.unseal(bytes(changed), CALLBACK, TOPIC)


def test_a_cut_one_does_not_open() -> None:
    secrets = Secrets([OLD])
    sealed = secrets.seal(b"", CALLBACK, TOPIC)
    for length in range(len(sealed)):
        with pytest.raises(SealError):
            secrets.unseal(sealed[:length], CALLBACK, TOPIC)


def test_a_new_key_seals_and_the_older_ones_unseal() -> None:
    before, rotated = Secrets([OLD]), Secrets([NEW, OLD])
    assert b"secret" == rotated.unseal(before.seal(b"secret", CALLBACK, TOPIC), CALLBACK, TOPIC)
    sealed = rotated.seal(b"secret", CALLBACK, TOPIC)
    assert b"secret" == Secrets([NEW]).unseal(sealed, CALLBACK, TOPIC)
    with pytest.raises(SealError):
        before.unseal(sealed, CALLBACK, TOPIC)


def test_two_keys_with_the_same_id_both_unseal() -> None:
    """The id is one byte; with 300 keys some share one."""
    keys = [number.to_bytes(32, "big") for number in range(300)]
    secrets = Secrets(keys)
    for key in keys:
        sealed = Secrets([key]).seal(b"secret", CALLBACK, TOPIC)
        assert b"secret" == secrets.unseal(sealed, CALLBACK, TOPIC)


# -- keys


def test_a_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    (made,) = load_keys(tmp_path, None)
    assert 32 == len(made)
    assert (made,) == load_keys(tmp_path, None)
    assert [KEY_FILE] == names(tmp_path)
    assert 0o600 == stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode)


def test_no_two_are_alike(tmp_path: Path) -> None:
    places = [tmp_path / "a", tmp_path / "b"]
    for place in places:
        place.mkdir()
    assert 2 == len({load_keys(place, None) for place in places})


def test_a_start_that_was_killed_while_making_it_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / f"{KEY_FILE}.new").write_text("half a k")
    (made,) = load_keys(tmp_path, None)
    assert 32 == len(made)
    assert (made,) == load_keys(tmp_path, None)


def test_a_restored_one_becomes_private_again(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_text(base64_of(OLD))
    (tmp_path / KEY_FILE).chmod(0o644)
    assert (OLD,) == load_keys(tmp_path, None)
    assert 0o600 == stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode)


def test_the_credential_comes_first_and_leaves_the_state_directory_alone(tmp_path: Path) -> None:
    credentials, state = tmp_path / "credentials", tmp_path / "state"
    credentials.mkdir()
    state.mkdir()
    (credentials / CREDENTIAL).write_text(base64_of(NEW))
    assert (NEW,) == load_keys(state, credentials)
    assert [] == names(state)


def test_without_the_credential_the_key_is_our_own(tmp_path: Path) -> None:
    """systemd gives the directory when there are other credentials."""
    credentials, state = tmp_path / "credentials", tmp_path / "state"
    credentials.mkdir()
    state.mkdir()
    load_keys(state, credentials)
    assert [KEY_FILE] == names(state)


def test_one_key_a_line_in_either_form(tmp_path: Path) -> None:
    lines = ["# rotated in May", "", f"  {NEW.hex()}  ", base64_of(OLD), OLD.hex().upper()]
    (tmp_path / KEY_FILE).write_text("\n".join(lines))
    assert (NEW, OLD, OLD) == load_keys(tmp_path, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no key"),
        ("# only this\n\n", "holds no key"),
        ("\n!!!\n", "line 2: neither base64 nor hexadecimal"),
        ("abc", "line 1: neither base64 nor hexadecimal"),
        ("hunter2é", "line 1: neither base64 nor hexadecimal"),
        ("aHVudGVyMg==", "line 1: a key has 32 bytes, this has 7"),
    ],
)
def test_what_is_wrong_is_said_without_quoting_it(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / KEY_FILE).write_text(text, "utf-8")
    with pytest.raises(KeyFileError) as caught:
        load_keys(tmp_path, None)
    assert said in str(caught.value)
    assert str(tmp_path / KEY_FILE) in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_binary_file_is_no_key_file(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"\xff" * 32)
    with pytest.raises(KeyFileError, match="one key a line"):
        load_keys(tmp_path, None)


def test_what_cannot_be_read_or_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyFileError, match="Not a directory"):
        load_keys(tmp_path / "file" / "folder", None)
    (tmp_path / KEY_FILE).mkdir()
    with pytest.raises(KeyFileError, match="Is a directory"):
        load_keys(tmp_path, None)

"""Files of keys: made at the first start, or given by the operator (H11, S18)."""

import base64
import stat
from pathlib import Path

import pytest

from reviewsd.store.keys import HUB_KEYS, SESSION_KEYS, KeyFile, KeyFileError
from tests.support.stores import names

OLD, NEW = bytes(range(32)), bytes(range(32, 64))

each_file = pytest.mark.parametrize("file", [HUB_KEYS, SESSION_KEYS], ids=lambda file: file.name)


def base64_of(key: bytes) -> str:
    return base64.b64encode(key).decode()


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "credentials").mkdir()
    return {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")}


# The daemon's own file


@each_file
def test_own_key_is_made_once_and_private(state: Path, file: KeyFile) -> None:
    (key,) = file.load(state, {})
    assert 32 == len(key)
    assert (key,) == file.load(state, {})
    assert [file.name] == names(state)
    assert 0o600 == stat.S_IMODE((state / file.name).stat().st_mode)
    assert f"# {file.purpose}" == (state / file.name).read_text().splitlines()[0]


def test_own_keys_of_two_daemons_differ(tmp_path: Path) -> None:
    assert 2 == len({HUB_KEYS.load(tmp_path / name, {}) for name in "ab"})


def test_remains_of_a_killed_start_do_no_harm(state: Path) -> None:
    (state / f"{HUB_KEYS.name}.new").write_text("half a k")
    (key,) = HUB_KEYS.load(state, {})
    assert (key,) == HUB_KEYS.load(state, {})


def test_restored_own_file_becomes_private(state: Path) -> None:
    (state / HUB_KEYS.name).write_text(base64_of(OLD))
    (state / HUB_KEYS.name).chmod(0o644)
    assert (OLD,) == HUB_KEYS.load(state, {})
    assert 0o600 == stat.S_IMODE((state / HUB_KEYS.name).stat().st_mode)


# Files of the operator


@each_file
def test_credential_comes_first_then_configured_file_then_own(
    tmp_path: Path, state: Path, environ: dict[str, str], file: KeyFile
) -> None:
    configured = tmp_path / "configured"
    configured.write_text(f"# theirs\n{NEW.hex()}\n{OLD.hex()}\n")
    assert str(state / file.name) == file.location(state, environ)
    assert str(configured) == file.location(state, environ, str(configured))
    assert (NEW, OLD) == file.load(state, environ, configured)
    (tmp_path / "credentials" / file.credential).write_text(OLD.hex())
    place = f"the systemd credential {file.credential}"
    assert place == file.location(state, environ, str(configured))
    assert (OLD,) == file.load(state, environ, configured)
    assert [] == names(state)


def test_own_file_is_used_beside_other_credentials(state: Path, environ: dict[str, str]) -> None:
    HUB_KEYS.load(state, environ)
    assert [HUB_KEYS.name] == names(state)


def test_missing_configured_file_is_not_replaced_by_an_own_one(tmp_path: Path, state: Path) -> None:
    """Nodes with a key each would refuse each other's sessions."""
    with pytest.raises(KeyFileError, match="configured cannot be used: No such file"):
        SESSION_KEYS.load(state, {}, tmp_path / "configured")
    assert ["state"] == names(tmp_path)
    assert [] == names(state)


def test_configured_file_keeps_its_mode(tmp_path: Path, state: Path) -> None:
    """It belongs to the operator, and may be on a read-only file system."""
    configured = tmp_path / "configured"
    configured.write_text("11" * 32)
    configured.chmod(0o440)
    SESSION_KEYS.load(state, {}, configured)
    assert 0o440 == configured.stat().st_mode & 0o777


# The content


def test_keys_stand_one_a_line_in_either_form(state: Path) -> None:
    lines = ["# rotated in May", "", f"  {NEW.hex()}  ", base64_of(OLD), OLD.hex().upper()]
    (state / HUB_KEYS.name).write_text("\n".join(lines))
    assert (NEW, OLD, OLD) == HUB_KEYS.load(state, {})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no key"),
        ("# only this\n\n", "holds no key"),
        ("\n!!!\n", "line 2: neither base64 nor hexadecimal"),
        ("abc", "line 1: neither base64 nor hexadecimal"),
        ("hunter2é", "line 1: neither base64 nor hexadecimal"),
        ("aHVudGVyMg==", "line 1: a key has 32 bytes, this has 7"),
    ],
)
def test_error_names_the_line_without_quoting_it(state: Path, text: str, reason: str) -> None:
    (state / HUB_KEYS.name).write_text(text, "utf-8")
    with pytest.raises(KeyFileError) as error:
        HUB_KEYS.load(state, {})
    assert reason in str(error.value)
    assert str(state / HUB_KEYS.name) in str(error.value)
    assert "hunter2" not in str(error.value)


def test_binary_file_is_refused(state: Path) -> None:
    (state / HUB_KEYS.name).write_bytes(b"\xff" * 32)
    with pytest.raises(KeyFileError, match="one key a line"):
        HUB_KEYS.load(state, {})


def test_file_that_cannot_be_read_or_made_is_an_error(state: Path) -> None:
    (state / "file").touch()
    with pytest.raises(KeyFileError, match="Not a directory"):
        HUB_KEYS.load(state / "file" / "folder", {})
    (state / HUB_KEYS.name).mkdir()
    with pytest.raises(KeyFileError, match="Is a directory"):
        HUB_KEYS.load(state, {})

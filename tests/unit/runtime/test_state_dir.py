"""The state directory belongs to this user, is private, and has one daemon (D7, O12)."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reviewsd.runtime.state_dir import EX_CONFIG, LOCK, StartError, is_locked, lock_state


def refusal(directory: Path) -> str:
    with pytest.raises(StartError) as error:
        lock_state(directory)
    assert EX_CONFIG == error.value.code
    return str(error.value)


def test_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    directory = tmp_path / "var" / "lib" / "reviewsd"
    os.close(lock_state(directory))
    assert 0o700 == stat.S_IMODE(directory.stat().st_mode)
    assert f"{os.getpid()}\n" == (directory / LOCK).read_text()
    assert 0o600 == stat.S_IMODE((directory / LOCK).stat().st_mode)


@pytest.mark.parametrize("mode", [0o777, 0o755, 0o750, 0o700])
def test_a_wide_mode_is_tightened(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    os.close(lock_state(tmp_path))
    assert 0o700 == stat.S_IMODE(tmp_path.stat().st_mode)


def test_second_daemon_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    descriptor = lock_state(tmp_path)
    reason = f"state_dir {tmp_path} is used by another reviewsd, pid {os.getpid()}"
    assert reason == refusal(tmp_path)
    assert reason == refusal(tmp_path)  # the first refusal has changed nothing
    os.close(descriptor)
    os.close(lock_state(tmp_path))


def test_directory_is_locked_while_a_daemon_uses_it(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    descriptor = lock_state(tmp_path)
    assert is_locked(tmp_path)
    os.close(descriptor)
    assert not is_locked(tmp_path)


def test_holder_without_a_written_pid_is_unknown(tmp_path: Path) -> None:
    descriptor = lock_state(tmp_path)
    (tmp_path / LOCK).write_text("")
    assert refusal(tmp_path).endswith("used by another reviewsd, pid unknown")
    os.close(descriptor)


def test_pid_of_an_earlier_holder_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text("123456789012\n")
    os.close(lock_state(tmp_path))
    assert f"{os.getpid()}\n" == (tmp_path / LOCK).read_text()


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from reviewsd.runtime.state_dir import lock_state;"
        "lock_state(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    assert -9 == subprocess.run([sys.executable, "-c", program, tmp_path], check=False).returncode
    os.close(lock_state(tmp_path))


def test_child_process_does_not_inherit_the_lock(tmp_path: Path) -> None:
    descriptor = lock_state(tmp_path)
    with subprocess.Popen(["sleep", "60"], close_fds=False) as child:
        os.close(descriptor)
        os.close(lock_state(tmp_path))
        child.kill()


def test_a_lock_that_is_a_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOCK).mkdir()
    assert refusal(tmp_path).endswith("cannot be used: Is a directory")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("way", ["a link", "a file", "a second name"])
def test_entries_of_other_users_are_refused(tmp_path: Path, way: str) -> None:
    """They would have keys, or lead the daemon, which may be root, to a file of its own."""
    state, mine = tmp_path / "state", tmp_path / "mine"
    state.mkdir()
    state.chmod(0o777)
    mine.touch()
    planted = state / "secret.key"
    if way == "a second name":
        planted.hardlink_to(mine)
    else:
        planted.symlink_to(mine) if way == "a link" else planted.touch()
        os.lchown(planted, 12345, -1)
    assert "could be written by others, and secret.key in it may be theirs" in refusal(state)
    planted.unlink()
    os.close(lock_state(state))


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_a_lock_is_no_link(tmp_path: Path, mode: int) -> None:
    state = tmp_path / "state"
    state.mkdir()
    state.chmod(mode)
    (state / LOCK).symlink_to(tmp_path / "elsewhere")
    assert "cannot be used: Too many levels of symbolic links" in refusal(state)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_directory_of_another_user_is_refused_unchanged(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    os.chown(tmp_path, 12345, -1)
    assert "belongs to uid 12345, not to this daemon's uid 0" in refusal(tmp_path)
    assert [] == list(tmp_path.iterdir())
    assert 0o755 == stat.S_IMODE(tmp_path.stat().st_mode)

"""Naming the process that has a port."""

import os
import socket
from pathlib import Path

import pytest

from reviewsd.runtime.sockets import port_holder


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_process_that_listens_is_named(address: str) -> None:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as listening:
        listening.bind((address, 0))
        listening.listen()
        name = Path("/proc/self/comm").read_text().strip()
        assert f"{name} (pid {os.getpid()})" == port_holder(listening.getsockname()[1])


def test_port_without_a_listener_has_no_holder() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert port_holder(bound.getsockname()[1]) is None


def test_process_of_another_user_is_not_named(tmp_path: Path) -> None:
    """Its descriptors cannot be read, as with a process that has just ended."""
    (tmp_path / "net").mkdir()
    row = "0: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 4711 1"
    (tmp_path / "net/tcp").write_text(f"sl local_address\n{row}\n")
    (tmp_path / "7").mkdir()
    assert port_holder(80, tmp_path) is None
    (tmp_path / "7/fd").mkdir()
    (tmp_path / "7/fd/3").symlink_to("socket:[4711]")
    assert "a process (pid 7)" == port_holder(80, tmp_path)


def test_missing_tables_of_the_kernel_are_no_error(tmp_path: Path) -> None:
    assert port_holder(80, tmp_path) is None

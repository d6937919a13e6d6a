"""The configuration to try the hub with: what its own text says to do works (websub.md 4)."""

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from reviewsd.config.convert import addresses, callback_policy, public_port
from reviewsd.config.load import load
from reviewsd.domain.callback import CallbackRefusedError, Refusal, parse_callback
from tests.support.commands import reviewsd

ROOT = Path(__file__).parent.parent
FILE = ROOT / "config" / "development.yaml"

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl is not installed (Debian: apt install openssl)"
)


def steps() -> str:
    """The commands in the file's introduction that prepare the folder."""
    commands = re.findall("^#   (.*)", FILE.read_text(), re.MULTILINE)
    return "\n".join(commands[: commands.index("reviewsd")])


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    return reviewsd(environment, "--check", "--config", "reviewsd.yaml", folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder made by the commands of the introduction."""
    for name in ("config", "reviewsd"):
        (tmp_path / name).symlink_to(ROOT / name)
    subprocess.run(["sh", "-euc", steps()], cwd=tmp_path, capture_output=True, check=True)
    return tmp_path / "try"


@needs_openssl
def test_its_steps_make_a_folder_that_works(folder: Path) -> None:
    (folder / "reviewsd.yaml").chmod(0o644)  # whatever the umask
    done = check(folder)
    assert ("", 0) == (done.stderr, done.returncode)
    assert done.stdout.startswith("configuration and data are valid: ")


@needs_openssl
@pytest.mark.parametrize(
    "name", ["-verify_hostname=localhost", "-verify_ip=127.0.0.1", "-verify_ip=::1"]
)
def test_its_authority_vouches_for_a_subscriber(folder: Path, name: str) -> None:
    command = ["openssl", "verify", "-CAfile", "ca.pem", *name.split("="), "subscriber.pem"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)


@needs_openssl
def test_a_check_reads_the_authority(folder: Path) -> None:
    (folder / "reviewsd.yaml").chmod(0o644)
    (folder / "ca.pem").write_text("no certificate")
    done = check(folder)
    assert 78 == done.returncode
    key = f"hub.callbacks.ca_file: {folder / 'ca.pem'}: "
    assert key in done.stderr.splitlines()[0]
    (folder / "ca.pem").unlink()
    assert check(folder).stderr.splitlines()[0].endswith(f"{key}No such file or directory")


def test_everything_is_kept_in_its_folder() -> None:
    config = load(FILE, {}).config
    paths = [config.data_dir, config.state_dir, config.admin_socket]
    paths.append(Path(config.hub.callbacks.ca_file or "/"))
    assert {FILE.parent} == {path.parent for path in paths}


def test_this_machine_may_be_called_and_no_other() -> None:
    config = load(FILE, {}).config
    policy, judge = callback_policy(config, {public_port(config)}), addresses(config)
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert 9443 == parse_callback(f"https://{host}:9443/callback", policy).port
    for address in ("127.0.0.1", "::1"):
        assert judge.refusal(address) is None
    assert "private" == judge.refusal("10.0.0.1")


@pytest.mark.parametrize(
    ("url", "refusal"),
    [
        ("http://localhost:9443/", Refusal.NOT_HTTPS),
        ("https://localhost:8080/", Refusal.OWN_HOST),
        ("https://10.0.0.1:9443/", Refusal.IP_LITERAL),
    ],
)
def test_the_rest_is_as_strict_as_ever(url: str, refusal: Refusal) -> None:
    config = load(FILE, {}).config
    policy = callback_policy(config, {public_port(config)})
    with pytest.raises(CallbackRefusedError) as caught:
        parse_callback(url, policy)
    assert refusal == caught.value.refusal


def test_every_key_of_the_example_has_a_comment() -> None:
    lines = FILE.read_text().splitlines()
    bare = [
        line
        for above, line in pairwise(lines)
        if re.match(r" *[a-z_]+: .", line) and not above.lstrip().startswith("#")
    ]
    assert [] == bare

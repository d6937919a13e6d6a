"""A configuration is found, read and refused (interfaces.md 1.3)."""

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.config.errors import ConfigError
from reviewsd.config.load import find, load
from reviewsd.config.schema import Config, keys
from tests.support.configuration import BASE, Write, refused
from tests.support.programs import run_program

ROOT = Path(__file__).parents[3]


def test_places_of_the_file_are_tried_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "etc.yaml", tmp_path / "here.yaml"
    second.write_text("")
    named = {"REVIEWSD_CONFIG": "/named.yaml"}
    assert Path("/given.yaml") == find(Path("/given.yaml"), named, (first, second))
    assert Path("/named.yaml") == find(None, named, (first, second))
    assert second == find(None, {"REVIEWSD_CONFIG": ""}, (first, second))
    first.write_text("")
    assert first == find(None, {}, (first, second))


def test_missing_file_is_reported_with_its_places(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    with pytest.raises(ConfigError) as caught:
        load(None, {}, (first, second))
    assert (
        f"no configuration found: no --config, no $REVIEWSD_CONFIG, and none of {first}, {second}",
        "write one: reviewsctl init; or try: reviewsd --demo",
    ) == caught.value.lines


def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    absent = tmp_path / "absent.yaml"
    assert refused(absent) == ["FILE: cannot be read: No such file or directory"]
    assert refused(tmp_path) == ["FILE: cannot be read: Is a directory"]
    dangling = tmp_path / "link.yaml"
    dangling.symlink_to(absent)
    assert dangling == find(None, {}, (dangling, tmp_path))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")
def test_file_of_another_user_must_be_named(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise another user could have root write files at any place."""
    monkeypatch.chdir(tmp_path)
    file = write(BASE)
    os.chown(file, 1234, 1234)
    with pytest.raises(ConfigError) as caught:
        find(None, {}, (Path("absent.yaml"), Path(file.name)))
    expected = "reviewsd.yaml: belongs to uid 1234; to use it all the same: --config reviewsd.yaml"
    assert (expected,) == caught.value.lines
    assert file == find(file, {})
    assert Path(file.name) == find(None, {"SUDO_UID": "1234"}, (Path(file.name),))


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o666, 0o777])
def test_world_writable_file_is_refused(write: Write, mode: int) -> None:
    """The configuration decides what the service reads and trusts (O11)."""
    file = write(BASE)
    file.chmod(mode)
    assert refused(file) == ["FILE: refused, everybody may write it; run: chmod o-w FILE"]


def test_group_writable_file_gives_a_warning(write: Write) -> None:
    file = write(BASE)
    file.chmod(0o664)
    warnings = load(file, {}).warnings
    assert (f"{file}: its group may write it; run: chmod g-w {file}",) == warnings


SCALARS = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "-1",
            "60",
            "1.5",
            "1e400",
            "9" * 30,
            "true",
            "null",
            "~",
            "50%",
            "tcp:80",
            "*",
            "systemd:name=http",
            "haproxy:unix:/x",
            "https://a.example",
            "https://[::1]",
            "10.0.0.0/8",
            "64:ff9b::/96",
            "443",
            "9000-8000",
        ]
    ),
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8),
)
NAMES = st.one_of(
    st.sampled_from(sorted({name for key in keys(Config) for name in key.split(".")})), SCALARS
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(st.tuples(NAMES, inner), max_size=4).map(
            lambda pairs: "{" + ", ".join(f"{name}: {value}" for name, value in pairs) + "}"
        ),
    ),
    max_leaves=8,
)
TEXTS = st.one_of(
    st.text(max_size=60),
    TREES,
    st.lists(
        st.tuples(st.sampled_from([key for key in keys(Config) if "." not in key]), TREES)
    ).map(lambda pairs: BASE + "".join(f"{name}: {value}\n" for name, value in pairs)),
    st.text(alphabet="-:#&*!|>'\"%@`{}[], \t\n\rax0\x85\u2028\ufeff", max_size=40),
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


def findings(file: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the faults; none if the configuration can be used."""
    try:
        load(file, environ)
    except ConfigError as error:
        return error.lines
    return ()


@given(text=TEXTS, value=TEXTS)
def test_any_text_is_loaded_or_refused(scratch: Path, text: str, value: str) -> None:
    """Nothing but ConfigError comes out, and every place it names exists."""
    file = scratch / "any.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)
    for line in findings(file, {"REVIEWSD_HUB": value} if value else {}):
        if result := re.match(f"{re.escape(str(file))}:([0-9]+):([0-9]+): .", line):
            row, column = int(result[1]), int(result[2])
            assert 1 <= row <= len(lines)
            assert 1 <= column <= len(lines[row - 1]) + 1


def test_load_does_not_open_listeners(write: Write) -> None:
    """A check may run beside the daemon: no reactor is installed, no address is touched."""
    file = write(BASE + "listen: ['tcp:80', 'unix:/nowhere/x', 'tcp6:80', 'systemd:name=http']")
    script = (
        "import sys; from pathlib import Path; from reviewsd.config.load import load\n"
        "load(Path(sys.argv[1]), {}); print('twisted.internet.reactor' in sys.modules)"
    )
    done = run_program([sys.executable, "-c", script, str(file)], cwd=ROOT)
    assert (done.stdout, done.stderr, done.returncode) == ("False\n", "", 0)


def test_error_output_has_no_control_characters() -> None:
    done = run_program(
        [
            sys.executable,
            "-m",
            "reviewsd",
            "--check",
            "--config",
            "a\x1b]0;owned\x07\x9b2J\u202e.yaml",
        ],
        cwd=ROOT,
    )
    assert r"/a\u001b]0;owned\u0007\u009b2J\u202e.yaml: cannot be read" in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())

"""README and docs: every block of code works and shows what happens; what they name exists."""

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import typer
import yaml

from reviewsctl.commands.root import app
from reviewsctl.manual.keys import reference
from reviewsd.config.load import load
from reviewsd.publish.insights_settings import examine
from tests.support.commands import ctl
from tests.support.documents import (
    DEMO,
    ROOT,
    Block,
    Terminal,
    blocks,
    documents,
    is_start,
    matches,
    steps,
)
from tests.support.programs import run_program

ALL = [block for file in documents() for block in blocks(file)]
TYPED = [
    ROOT / name
    for name in dict.fromkeys(block.document for block in ALL if block.language == "console")
]
LENGTHS = {"README.md": 120}
LONGEST = 250

PROXIES = {"nginx": "nginx.conf", "caddy": "Caddyfile", "haproxy": "haproxy.cfg"}
FORM = {
    *("hub.callback", "hub.mode", "hub.topic", "hub.lease_seconds", "hub.secret"),
    *("hub.verify_token", "hub.challenge", "hub.reason"),
}
"""Names of WebSub (WebSub 5.1 to 5.3), which look like keys of the configuration."""

LANGUAGES = {"console", "sh", "json", "yaml", "text", *PROXIES}

every_document = pytest.mark.parametrize(
    "file", documents(), ids=lambda path: str(path.relative_to(ROOT))
)


def of(*languages: str) -> list[Any]:
    """The blocks in these languages, as parameters."""
    return [pytest.param(block, id=block.place) for block in ALL if block.language in languages]


@pytest.fixture(scope="module")
def demo_terminal() -> Iterator[Terminal]:
    """The terminal of documents whose only daemon is the demo."""
    with TemporaryDirectory() as place, Terminal(Path(place)) as terminal:
        yield terminal


@pytest.mark.parametrize("file", TYPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_typed_commands_show_output_of_document(file: Path, demo_terminal: Terminal) -> None:
    """The blocks of a document one after the other, as a reader would type them."""
    typed = [block for block in blocks(file) if block.language == "console"]
    started = [step.command for block in typed for step in steps(block) if is_start(step.command)]
    if missing := [name for name in ("curl", "openssl") if shutil.which(name) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    if started == [DEMO]:
        demo_terminal.run('PATH=${PATH#"$PWD/.venv/bin:"}')  # each document sets it by itself
        for block in typed:
            demo_terminal.play(block)
        return
    with TemporaryDirectory() as place, Terminal(Path(place)) as terminal:
        if file.name == "README.md":  # its demo is installed there before
            terminal.run(demo())
        for block in typed:
            terminal.play(block)


def demo() -> str:
    """The README's one command, without what installs."""
    command = next(block.text for block in ALL if block.language == "sh")
    install, run = command.strip().rsplit(" && ", 1)
    assert "python3 -m venv .venv && .venv/bin/pip install -q ." == install
    assert ".venv/bin/reviewsd --demo" == run
    return run


@pytest.mark.parametrize("block", of("sh"))
def test_block_that_is_only_read_is_valid_shell(block: Block) -> None:
    done = run_program(["bash", "-n"], input=block.text)
    assert ("", 0) == (done.stderr, done.returncode)


@pytest.mark.parametrize("block", of("json"))
def test_json_is_json_and_data_are_valid(block: Block, tmp_path: Path) -> None:
    """A block of members is ``business`` or is inside it, and one with a rating is a review."""
    if block.text.startswith('"'):
        members = json.loads(f"{{{block.text.strip().removesuffix(',')}}}")
        document = {"business": {"name": "A", **members.get("business", members)}, "reviews": []}
    else:
        document = json.loads(block.text)
    if "rating" in document:
        document = {"business": {"name": "A"}, "reviews": [document]}
    if "reviews" in document or "per_review" in document:
        reviews = document if "reviews" in document else {"business": {"name": "A"}, "reviews": []}
        (tmp_path / "reviews.json").write_text(json.dumps(reviews))
        if "per_review" in document:
            (tmp_path / "insights.json").write_text(block.text)
        done = ctl("check", "--data", str(tmp_path))
        assert 0 == done.returncode, done.stdout


def test_document_shows_no_file_without_reviews() -> None:
    """It is pasted over the file that has the reviews."""
    empty = re.compile(r'"reviews":\s*\[\s*\]')
    assert [] == [block.place for block in ALL if empty.search(block.text)]


@pytest.mark.parametrize("block", of("yaml"))
def test_yaml_is_a_configuration(block: Block, tmp_path: Path) -> None:
    """Settings of insights and a scrape of Prometheus are YAML blocks as well."""
    settings = yaml.safe_load(block.text)
    if "scrape_configs" in settings:
        return
    if settings.keys() & {"technicians", "publish", "aspects"}:  # insights.yaml
        parsed, problems = examine(block.text.encode())
        assert ([], True) == (
            problems,
            bool(parsed.technicians or parsed.publish or parsed.aspects),
        )
        return
    needed = {"base_url": "https://reviews.example.com", "data_dir": "data"}
    file = tmp_path / "reviewsd.yaml"
    file.write_text(yaml.safe_dump({**needed, **settings}))
    load(file, {})


@pytest.mark.parametrize("block", of(*PROXIES))
def test_pieces_of_proxy_configurations_are_of_the_shipped_ones(block: Block) -> None:
    """Those are tested with the programs themselves. A piece names the address instead of an upstream."""
    shipped = (ROOT / "docs" / "proxies" / PROXIES[block.language]).read_text()
    piece = block.text.replace("http://127.0.0.1:8080", "http://reviewsd")
    assert lines_of(piece) <= lines_of(shipped)


def lines_of(text: str) -> set[str]:
    return {line.strip() for line in text.splitlines()}


def test_blocks_have_known_languages() -> None:
    """A block of another language would not be tested."""
    assert [] == [block.place for block in ALL if block.language not in LANGUAGES]


def prose(file: Path) -> str:
    """A document without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)


def named(file: Path) -> Iterator[list[str]]:
    """The calls of our commands in a document: in blocks, and between backquotes."""
    here = list(blocks(file))
    code = [step.command for block in here if block.language == "console" for step in steps(block)]
    code += [block.text for block in here if block.language == "sh"]
    code += re.findall(r"`([^`\n]+)`", prose(file))
    for line in "\n".join(code).replace("\\\n", " ").splitlines():
        for piece in re.split(r"&&|\||;|<|>| # ", line):
            try:
                words = shlex.split(piece)
            except ValueError:
                continue
            for number, word in enumerate(words):
                if word.rpartition("/")[2] in {"reviewsd", "reviewsctl"} and (
                    number == 0 or words[number - 1] in {"sudo", "exec"}
                ):
                    yield [word.rpartition("/")[2], *words[number + 1 :]]


@every_document
def test_commands_and_options_exist(file: Path) -> None:
    for program, *words in named(file):
        options = [word.partition("=")[0] for word in words if word.startswith("--")]
        known_options = daemon_options() if program == "reviewsd" else tool_options(words)
        assert set(options) <= known_options, (program, words)


@cache
def daemon_options() -> frozenset[str]:
    command = [sys.executable, "-m", "reviewsd", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return frozenset(re.findall(r"--[a-z][a-z-]*", done.stdout))


def tool_options(words: list[str]) -> set[str]:
    """Return the options of the command that the words name, and of those before it."""
    command: Any = typer.main.get_command(app)
    options: set[str] = {"--help"}
    skip = False
    for word in [*words, ""]:
        for parameter in command.params:
            options |= {*parameter.opts, *parameter.secondary_opts}
        if skip or word.startswith("-"):
            skip = word == "--socket"
        elif hasattr(command, "commands") and word:
            assert word in command.commands, words
            command = command.get_command(None, word)
    return options


@every_document
def test_configuration_keys_exist(file: Path) -> None:
    keys = configuration_keys()
    sections = {key.partition(".")[0] for key in keys if "." in key}
    for name in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)(?:\.\*)?(?::[^`]*)?`", prose(file)):
        if name in FORM:
            continue
        if name.partition(".")[0] in sections and not name.endswith((".json", ".yaml")):
            assert name in keys, name


@cache
def configuration_keys() -> frozenset[str]:
    """The dotted keys of the configuration, sections included; ``test_reference`` has their list."""
    parts = [key.split(".") for key, _, _ in reference()]
    return frozenset(".".join(key[:end]) for key in parts for end in range(1, len(key) + 1))


@every_document
def test_links_lead_somewhere(file: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text()):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = file.parent / name if name else file
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@every_document
def test_user_page_does_not_send_its_reader_to_requirements(file: Path) -> None:
    """Everything that a user needs to know is in a page for users."""
    if "contributing" not in file.parts:
        assert [] == re.findall(
            r"\]\([^)]*contributing/(?:spec|decisions)[^)]*\)", file.read_text()
        )


@every_document
def test_documents_are_short(file: Path) -> None:
    assert len(file.read_text().splitlines()) <= LENGTHS.get(file.name, LONGEST)


def test_the_source_distribution_has_what_the_readme_links_to() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    linked = re.findall(r"\]\(([^)#:\s]+)", (ROOT / "README.md").read_text())
    assert [] == [link for link in linked if link.partition("/")[0] not in included and "/" in link]


@pytest.mark.parametrize(
    "file", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda path: path.name
)
def test_examples_need_the_standard_library_only(file: Path) -> None:
    tree = ast.parse(file.read_text())
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_runner_compares() -> None:
    """A runner that takes everything would prove nothing."""
    assert matches("a\n...\nz\n", "a\nb\nc\nz\n")
    assert matches("a\n...\nz\n", "a\nz")
    assert matches('{"n":...,"z":1}\n', '{"n":13,"z":1}')
    assert not matches('{"n":12,...\n', '{"n":13,"z":1}')
    assert not matches("a ... z\n", "a\nz\n")
    assert not matches("a\n", "a\nb\n")

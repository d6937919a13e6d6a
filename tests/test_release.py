"""A release has one version, its notes, and an entry of the registry."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.distribution import PROJECT

ROOT = Path(__file__).parent.parent
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
SERVER = json.loads((ROOT / "server.json").read_text())
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def notes(version: str) -> "subprocess.CompletedProcess[str]":
    command = [str(ROOT / "packaging/release/notes"), version]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_changelog_has_the_notes_of_a_version() -> None:
    result = notes("Unreleased")
    text = (ROOT / "CHANGELOG.md").read_text()
    part = text.partition("\n## Unreleased\n")[2].partition("\n## ")[0]
    assert (0, part.strip()) == (result.returncode, result.stdout.strip())
    missing = notes("0.0.0")
    assert (1, "CHANGELOG.md has nothing about 0.0.0\n") == (missing.returncode, missing.stderr)


def test_the_registry_entry_is_of_this_version_and_of_this_package() -> None:
    """The registry looks for the name in the README of the package, to see that both are one's own."""
    (package,) = SERVER["packages"]
    assert SCHEMA == SERVER["$schema"]
    assert PROJECT["version"] == SERVER["version"] == package["version"]
    assert ("pypi", PROJECT["name"]) == (package["registryType"], package["identifier"])
    assert re.fullmatch(r"[a-zA-Z0-9.-]{3,}/[a-zA-Z0-9._-]+", SERVER["name"])
    assert max(len(SERVER["title"]), len(SERVER["description"])) <= 100
    assert f"<!-- mcp-name: {SERVER['name']} -->" in (ROOT / "README.md").read_text()
    assert PROJECT["urls"]["Source"] == SERVER["repository"]["url"]
    owner = SERVER["repository"]["url"].removeprefix("https://github.com/").partition("/")[0]
    assert f"io.github.{owner}/{PROJECT['name']}" == SERVER["name"]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_is_there_with_rights_that_they_name(file: Path) -> None:
    """Actions are pinned, the token reads only, and each job ends some time."""
    workflow: dict[str, Any] = yaml.safe_load(file.read_text())
    assert {"contents": "read"} == workflow["permissions"]
    for name, job in workflow["jobs"].items():
        assert "uses" in job or "timeout-minutes" in job, name
        for step in job.get("steps", ()):
            if action := step.get("uses"):
                assert re.search(r"@(v\d+|[0-9a-f]{40}|release/v\d+)$", action), action
            for path in re.findall(r"(?:packaging|tests)/[\w./-]+", step.get("run", "")):
                assert (ROOT / path).exists(), path


def test_the_matrix_is_what_the_classifiers_promise() -> None:
    promised = [
        classifier.rpartition(" ")[2]
        for classifier in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
    ]
    assert [f"3.{minor}" for minor in range(11, 15)] == promised
    assert f">={promised[0]}" == PROJECT["requires-python"]
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())["jobs"]
    assert promised == jobs["locked"]["strategy"]["matrix"]["python"]
    built = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())["jobs"]["built"]
    assert promised == built["strategy"]["matrix"]["python"]

"""Rules for the files of the container; ``tests/packaging`` runs them under real engines."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
CONTAINER = ROOT / "packaging" / "container"
SINGLE, NODES = ROOT / "compose.yaml", CONTAINER / "compose.nodes.yaml"
CONTAINERS = (ROOT / "docs" / "how-to" / "containers.md").read_text()
KEEPING_CURRENT = (ROOT / "docs" / "how-to" / "sync.md").read_text()

each_file = pytest.mark.parametrize("file", [SINGLE, NODES], ids=lambda file: file.name)


def services(file: Path) -> dict[str, Any]:
    document: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text())
    return document["services"]


def reviewsd_services(file: Path) -> list[dict[str, Any]]:
    return [service for service in services(file).values() if "build" in service]


def bind_mounts(file: Path) -> list[dict[str, Any]]:
    return [
        volume
        for service in services(file).values()
        for volume in service["volumes"]
        if isinstance(volume, dict)
    ]


@each_file
def test_service_has_no_rights_it_does_not_need(file: Path) -> None:
    for name, service in services(file).items():
        if name != "postgres":
            assert (True, ["ALL"]) == (service["read_only"], service["cap_drop"])
            assert ["no-new-privileges:true"] == service["security_opt"]
    for service in reviewsd_services(file):
        assert "ports" not in service
        assert (file.parent / service["build"]["context"] / "Containerfile").is_file()


@each_file
def test_read_only_service_takes_no_configuration_by_its_content(file: Path) -> None:
    """Compose writes the content into the container, and its root is read-only."""
    by_content = yaml.safe_load(file.read_text()).get("configs", {})
    assert [] == [name for name, entry in by_content.items() if "content" in entry]
    assert [] == [name for name, service in services(file).items() if "configs" in service]


@each_file
def test_bind_source_is_in_the_tree_or_made_by_a_documented_command(file: Path) -> None:
    """A source that is missing is made by the engine, as a folder of root, if it may make it."""
    texts = CONTAINERS + KEEPING_CURRENT + file.read_text()
    documented = " ".join(re.findall(r"mkdir -p (.*)", texts)).split()
    folders = {ROOT / part for name in documented for part in (name, Path(name).parts[0])}
    for mount in bind_mounts(file):
        source = (file.parent / mount["source"]).resolve()
        assert source.is_file() or source in folders, source
        assert {"create_host_path": False} == mount["bind"]
    short = [
        volume
        for service in services(file).values()
        for volume in service["volumes"]
        if isinstance(volume, str) and volume.startswith((".", "/"))
    ]
    assert [] == short


@each_file
def test_proxy_does_not_depend_on_reviewsd(file: Path) -> None:
    """Compose would restart it at each update of what it depends on, and all requests would fail."""
    assert "depends_on" not in services(file)["caddy"]


@each_file
def test_health_check_suits_every_engine(file: Path) -> None:
    """Compose refuses start_interval for Docker before 25 and for every Podman."""
    for service in services(file).values():
        assert "start_interval" not in service.get("healthcheck", {})
    for service in reviewsd_services(file):
        assert ["CMD", "reviewsctl", "status", "--quiet"] == service["healthcheck"]["test"]


def test_sync_is_a_service_of_its_own_that_the_daemon_does_without() -> None:
    """It alone writes the data, and the daemon has neither its configuration nor its keys."""
    sync, daemon = services(SINGLE)["sync"], services(SINGLE)["reviewsd"]
    assert ["sync"] == sync["profiles"]
    assert {"disable": True} == sync["healthcheck"]  # the image's asks the daemon
    mounts = {
        mount["target"]: mount.get("read_only", False)
        for mount in sync["volumes"]
        if "target" in mount
    }
    assert {"/data": False, "/etc/reviewsd": True} == mounts
    assert "state:/state" in set(sync["volumes"][2:]) & set(daemon["volumes"][1:])
    assert not sync["environment"]["STATE_DIRECTORY"].startswith("/state/reviewsd")
    assert "/etc/reviewsd" not in {
        mount["target"] for mount in daemon["volumes"] if "target" in mount
    }


def test_networks_have_ipv6_and_do_not_overlap() -> None:
    """Without IPv6 in the network, all clients that come by it have one address."""
    subnets = []
    for file in (SINGLE, NODES):
        network = yaml.safe_load(file.read_text())["networks"]["default"]
        assert network["enable_ipv6"]
        subnets += [entry["subnet"] for entry in network["ipam"]["config"]]
    assert len(subnets) == len(set(subnets))


@pytest.mark.parametrize("name", ["Caddyfile", "Caddyfile.nodes"])
def test_proxy_has_requests_wait_for_reviewsd(name: str) -> None:
    """An address of a container that is gone takes 3 s to fail by itself."""
    text = (CONTAINER / name).read_text()
    assert "{$REVIEWSD_DOMAIN} {\n" in text
    assert "lb_try_duration 30s\n" in text
    assert "dial_timeout 1s\n" in text
    assert ("fail_duration" in text) == (name == "Caddyfile.nodes")  # one node has no substitute


def test_state_directory_is_made_by_the_daemon_inside_the_volume() -> None:
    """The root of a volume often belongs to another user."""
    settings = yaml.safe_load((CONTAINER / "reviewsd.yaml").read_text())
    assert "/state/reviewsd" == settings["state_dir"]
    assert Path(settings["admin_socket"]).is_relative_to(settings["state_dir"])


def test_build_context_has_nothing_but_what_the_image_is_made_of() -> None:
    """Docker reads .dockerignore only; without it the context had .git, the data and the keys."""
    assert not (ROOT / ".containerignore").exists()
    everything, *patterns = [
        line
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert "*" == everything
    allowed = {pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")}
    assert {pattern for pattern in patterns if not pattern.startswith("!")} == {"**/__pycache__"}
    private = {"data", "keys", "sync", ".env", ".git", ".venv", "tests", "compose.override.yaml"}
    assert set() == private & {name.partition("/")[0] for name in allowed}
    assert [] == [name for name in allowed if not (ROOT / name).exists()]
    shipped = {link.resolve() for link in (ROOT / "cli/reviewsctl/shipped").iterdir()}
    missing = [
        file.relative_to(ROOT)
        for file in shipped
        if not any(file.is_relative_to(ROOT / name) for name in allowed)
    ]
    assert [] == missing  # links of the program lead out of its folder
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Containerfile").read_text(), re.MULTILINE
    )
    assert {"pyproject.toml", "uv.lock", ".", "packaging/container/reviewsd.yaml"} == {
        name for names in copied for name in names.split()
    }
    assert {"pyproject.toml", "uv.lock", "packaging/container/reviewsd.yaml"} <= allowed

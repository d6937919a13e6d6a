"""The compose files: valid, and what they start works together.

No engine runs here, so their services are started as processes: reviewsd and Caddy with the commands,
environments and configurations of the files, and a real PostgreSQL. Only names and paths of the
containers' network and files are replaced. Caddy makes the certificate by itself, by its own authority.
"""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from reviewsd.http1 import urls
from tests.support import postgres
from tests.support.daemon import DEMO, until
from tests.support.distribution import LISTENING, LOOPBACK, ROOT, program, run
from tests.support.public_site import PublicSite
from tests.support.subscriber import Subscriber

pytestmark = pytest.mark.packaging

SINGLE = ROOT / "compose.yaml"
NODES = ROOT / "packaging/container/compose.nodes.yaml"
NAME = "reviews.example.com"
GIVEN = {"REVIEWSD_DOMAIN": NAME, "REVIEWSD_DB_PASSWORD": "not needed here"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
REQUESTS = 2

each_file = pytest.mark.parametrize("file", [SINGLE, NODES], ids=lambda each: each.name)


def composed(file: Path) -> dict[str, Any]:
    """A compose file with its variables replaced, as compose does."""
    text = re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: GIVEN[found[1]], file.read_text())
    document: dict[str, Any] = yaml.safe_load(text)
    return document


@each_file
def test_it_is_a_compose_file(file: Path) -> None:
    """By the schema of the compose specification, which check-jsonschema brings along."""
    run(program("check-jsonschema"), "--builtin-schema", "vendor.compose-spec", file)


@each_file
def test_services_have_no_rights_and_files_that_are_there(file: Path) -> None:
    services = composed(file)["services"]
    for name, service in services.items():
        if "build" in service:
            assert (ROOT / service["build"]["dockerfile"]).is_file()
            assert "ports" not in service
            assert ["CMD", "reviewsctl", "ping"] == service["healthcheck"]["test"]
        if name != "postgres":
            assert (True, ["ALL"]) == (service["read_only"], service["cap_drop"])
            assert ["no-new-privileges:true"] == service["security_opt"]


@contextmanager
def process(command: list[str], log: Path, environ: Mapping[str, str]) -> Iterator[Any]:
    with log.open("wb") as out:
        started = subprocess.Popen(
            command, cwd=log.parent, env={**os.environ, **environ}, stdout=out, stderr=out
        )
    try:
        yield started
        started.terminate()
        assert 0 == started.wait(45), log.read_text()
    finally:
        started.kill()
        started.wait()


@contextmanager
def node(
    place: Path, data: Path, service: Mapping[str, Any], more: Mapping[str, str]
) -> Iterator[Any]:
    """A service of the image; its address."""
    place.mkdir()
    text = (ROOT / "packaging/container/reviewsd.yaml").read_text()
    config, log = place / "reviewsd.yaml", place / "log"
    config.write_text(text.replace("/data", str(data)).replace("/state", "state"))
    # where Caddy is here, in place of the network of the containers
    environ = {
        name: str(value).replace("10.0.0.0/8", "127.0.0.1/32")
        for name, value in service["environment"].items()
    }
    command = [sys.executable, "-m", "reviewsd", "--config", str(config)]
    environ |= {"REVIEWSD_LISTEN": LOOPBACK, "PYTHONPATH": str(ROOT), **more}
    with process(command, log, environ) as started:
        until(
            lambda: LISTENING.search(log.read_text()) or started.poll() is not None, "a node", 120
        )
        found = LISTENING.search(log.read_text())
        assert found, log.read_text()
        yield found[1], started


@contextmanager
def caddy(
    place: Path, document: Mapping[str, Any], upstreams: Mapping[str, str]
) -> Iterator[PublicSite]:
    """The service that faces the public, with the configuration that is in the compose file."""
    program("caddy")
    place.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    text = document["configs"]["caddyfile"]["content"]
    assert text.startswith(f"{NAME} {{\n")
    text = text.replace(
        f"{NAME} {{\n", f"https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls internal\n", 1
    )
    for shown, ours in upstreams.items():
        assert shown in text
        text = text.replace(shown, ours)
    options = "{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n}\n"
    (place / "Caddyfile").write_text(options + text)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")]
    environ = {"HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place)}
    authority = place / "caddy/pki/authorities/local/root.crt"
    with process(command, place / "log", environ) as started:
        until(lambda: authority.exists() or started.poll() is not None, "Caddy's authority")
        assert started.poll() is None, (place / "log").read_text()
        site = PublicSite(NAME, port, ssl.create_default_context(cafile=str(authority)))
        until(lambda: site.serves() or started.poll() is not None, "Caddy")
        assert started.poll() is None, (place / "log").read_text()
        yield site


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copyfile(DEMO / "reviews.json", folder / "reviews.json")
    return folder


def test_caddy_and_one_node(tmp_path: Path, data: Path) -> None:
    """TLS by itself, Host and client right: what a client says of itself gives it no other limit."""
    document = composed(SINGLE)
    limit = {"REVIEWSD_HUB__LIMITS__REQUESTS_PER_MINUTE": str(REQUESTS)}
    service = document["services"]["reviewsd"]
    with (
        node(tmp_path / "node", data, service, limit) as (address, _),
        caddy(tmp_path / "caddy", document, {"reviewsd:8080": address}) as site,
    ):
        answer = site.request("GET", urls.JSON_FEED)
        assert (200, f"https://{NAME}{urls.JSON_FEED}") == (
            answer.status,
            answer.json()["feed_url"],
        )
        assert "max-age" in answer.headers["Strict-Transport-Security"]
        form = b"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback=http://subscriber.example/"
        for client in ("127.0.0.3", "127.0.0.4"):
            forged = [
                {**FORM, "X-Forwarded-For": f"198.51.100.{each}"} for each in range(REQUESTS + 1)
            ]
            statuses = [
                site.request("POST", urls.HUB, each, form, client).status for each in forged
            ]
            assert [*REQUESTS * [400], 429] == statuses, client


@postgres.needed
def test_three_nodes_share_the_hub_behind_caddy(tmp_path: Path, data: Path) -> None:
    """A subscription outlives the node that took it, and the public does not notice that it went."""
    document = composed(NODES)
    services = document["services"]
    keys = tmp_path / "keys"
    keys.mkdir()
    for name in services["node1"]["secrets"]:
        assert document["secrets"][name]["file"].startswith("./keys/")
        (keys / name).write_bytes(b64encode(os.urandom(32)))
    with ExitStack() as stack:
        server = stack.enter_context(postgres.Server())
        subscriber = stack.enter_context(Subscriber(tmp_path))
        assert services["node1"]["environment"]["REVIEWSD_HUB__STORE"].endswith(
            "@postgres/reviewsd"
        )
        more = {
            "REVIEWSD_HUB__STORE": server.database(),
            "CREDENTIALS_DIRECTORY": str(keys),
            "REVIEWSD_HUB__CALLBACKS__ALLOW_NETWORKS": '["127.0.0.0/8"]',
            "REVIEWSD_HUB__CALLBACKS__CA_FILE": str(subscriber.ca_file),
        }
        nodes = {
            f"{name}:8080": stack.enter_context(node(tmp_path / name, data, services[name], more))
            for name in ("node1", "node2", "node3")
        }
        upstreams = {name: address for name, (address, _) in nodes.items()}
        site = stack.enter_context(caddy(tmp_path / "caddy", document, upstreams))

        callback = subscriber.url()
        form = f"hub.mode=subscribe&hub.topic=https://{NAME}/reviews.json&hub.callback={callback}"
        assert 202 == site.request("POST", urls.HUB, FORM, form.encode()).status
        until(lambda: subscriber.log, "the verification")
        until(lambda: server_has_one(server, more["REVIEWSD_HUB__STORE"]), "the subscription")

        _, first = nodes["node1:8080"]
        first.terminate()
        assert 0 == first.wait(45)
        for _ in range(12):
            assert 200 == site.request("GET", urls.REVIEWS).status

        changed = json.loads((data / "reviews.json").read_text())
        changed["business"]["name"] = "Three nodes"
        (data / ".aside").write_text(json.dumps(changed))
        (data / ".aside").rename(data / "reviews.json")
        heard = subscriber.until_deliveries(1)
        assert b"Three nodes" in subscriber.bodies[heard.sha256]


def server_has_one(server: postgres.Server, url: str) -> bool:
    return server.execute("SELECT count(*) FROM subscription", url) == [(1,)]

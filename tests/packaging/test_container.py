"""The image, and the documented ways to run it, under a real Docker and a real Podman.

Every command is one of docs/how-to/containers.md, or of the first lines of the compose files, by a user in the
group docker. Left out is only what needs the internet: the image is built by buildah and loaded, those of Caddy and
PostgreSQL are made of Debian's packages, and the name is one for which Caddy makes the certificate itself.
"""

import json
import os
import re
import shutil
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reviewsd.http1 import urls
from tests.support import debian, docker
from tests.support.daemon import DEMO, until
from tests.support.distribution import ROOT, VERSION, block, program, takeout, tracked
from tests.support.docker import HOME, USER, Engine
from tests.support.image import CADDY, SERVICES, Image, save_services
from tests.support.load import Load
from tests.support.public_site import PublicSite
from tests.support.subscriber import FORM

pytestmark = pytest.mark.packaging

NAME = "reviews.localhost"
SHOP = f"{HOME}/shop"
FIRST = "192.0.2.1"
REQUESTS = 2  # a minute, where the limit is tested
WAITING = "waiting for data"
Record = Callable[[str, object], None]
"""Records a measurement; ``pytest --junitxml`` has them."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    program("buildah")
    place = tmp_path_factory.mktemp("image")
    image = Image(place, debian.copy(place / "debian", "python3,python3-venv,ca-certificates"))
    yield image
    image.close()
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def engine(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Docker with the three images."""
    place = tmp_path_factory.mktemp("engine")
    image.save(place / "reviewsd.tar")
    save_services(place / "services", place / "services.tar")
    with docker.engine(place) as engine:
        for name in ("reviewsd.tar", "services.tar"):
            shutil.move(place / name, engine.path(HOME) / name)
        engine.run("docker load --quiet --input reviewsd.tar; docker import services.tar services")
        engine.path(f"{HOME}/services.tar").unlink()
        for name, changes in SERVICES.items():
            build(engine, name, "FROM services", *changes)
        takeout(engine.path(HOME) / "Downloads/takeout.zip")
        yield engine
        engine.run("docker rm --force $(docker ps --all --quiet) || true")


def build(engine: Engine, name: str, *lines: str, by: str = "docker") -> None:
    """Build an image of lines of a Dockerfile."""
    text = "\n".join(lines)
    engine.run(f"{by} build --quiet --tag {name} - <<'END'\n{text}\nEND")


@dataclass(frozen=True, slots=True)
class Shop:
    """A checkout in which the documented commands are run."""

    engine: Engine
    place: Path

    def run(self, command: str, *, user: int = USER, code: int = 0) -> str:
        return self.engine.run(command, cwd=SHOP, user=user, code=code)

    def run_block(self, begins: str, *left_out: str) -> str:
        """Run a block of the document, but for the lines that need the internet."""
        lines = block("containers.md", begins).splitlines()
        for line in left_out:
            lines.remove(line)
        text = "\n".join(lines)
        return self.run(text.replace("reviews.example.com", NAME))

    @property
    def data(self) -> Path:
        return self.place / "data"

    def change(self, name: str) -> None:
        """Give the business another name, as an editor does."""
        document = json.loads((self.data / "reviews.json").read_text())
        document["business"]["name"] = name
        (self.data / ".new").write_text(json.dumps(document))
        (self.data / ".new").chmod(0o644)
        (self.data / ".new").rename(self.data / "reviews.json")

    def site(self, project: str = "reviewsd", address: str = FIRST) -> PublicSite:
        """The public site, once Caddy has made its certificate."""
        volume = f"/var/lib/docker/volumes/{project}_caddy/_data"
        root = self.engine.path(f"{volume}/caddy/pki/authorities/local/root.crt")
        until(root.exists, "Caddy's authority")
        return PublicSite(NAME, 443, ssl.create_default_context(cafile=str(root)), address)

    def status_of(self, site: PublicSite) -> int:
        return site.request("GET", urls.REVIEWS, client=FIRST).status

    def until_answering(self) -> None:
        """Wait until the daemon answers reviewsctl."""
        status = "docker compose exec reviewsd reviewsctl status || true"
        until(lambda: "listening " in self.run(status), "the daemon", 60)

    def is_served(self, site: PublicSite) -> bool:
        try:
            return self.status_of(site) == 200
        except OSError:  # Caddy does not listen yet
            return False

    def until_served(self, site: PublicSite) -> None:
        with self.engine.network():
            until(lambda: self.is_served(site), "the reviews", 60)

    def load(self, site: PublicSite) -> Load:
        return Load(lambda: self.status_of(site), self.engine.network)


@pytest.fixture
def shop(engine: Engine) -> Iterator[Shop]:
    """A fresh checkout, with nothing in it that git does not have."""
    place = engine.path(SHOP)
    for name in tracked():
        target = place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    engine.own(SHOP)
    shop = Shop(engine, place)
    yield shop
    shop.run("test ! -e .env || docker compose down --volumes --timeout 2")
    shutil.rmtree(place)


def test_image_has_what_engines_and_registries_look_for(image: Image) -> None:
    config = image.config
    assert ("10001:10001", ["reviewsd", "--wait-for-data"]) == (
        config["User"],
        config["Entrypoint"],
    )
    assert "SIGTERM" == config["StopSignal"]
    assert ["CMD", "reviewsctl", "status", "--quiet"] == config["Healthcheck"]["Test"]
    assert {"/data", "/state"} == set(config["Volumes"])
    assert {"8080/tcp"} == set(config["ExposedPorts"])
    labels = {name.rpartition(".")[2] for name in config["Labels"] if "opencontainers" in name}
    assert {"title", "description", "licenses", "source", "documentation"} <= labels


def test_image_has_the_programs_and_nothing_of_the_build(engine: Engine) -> None:
    assert f"reviewsd {VERSION}\n" == engine.run("docker run --rm reviewsd --version")
    assert "" == engine.run(
        "docker run --rm --entrypoint find reviewsd /source /uv /requirements.txt 2>/dev/null || true"
    )


def test_missing_base_url_names_the_variable(engine: Engine) -> None:
    assert "REVIEWSD_BASE_URL" in engine.run("docker run --rm reviewsd", code=78)


@pytest.mark.parametrize("order", ["data first", "start first"])
def test_service_starts_from_an_empty_folder_in_either_order(shop: Shop, order: str) -> None:
    output = shop.run_block("mkdir")
    if order == "data first":
        output += shop.run_block("docker run")
    output += shop.run_block("docker compose up")
    shop.until_answering()
    output += shop.run_block("docker compose exec")
    site = shop.site()
    if order == "start first":
        assert "state      waiting" in output
        with shop.engine.network():
            until(lambda: site.serves(FIRST), "Caddy", 60)
            answer = site.request("GET", urls.REVIEWS, client=FIRST)
            assert (503, True) == (answer.status, "Retry-After" in answer.headers)
        assert 1 == shop.run("docker compose logs reviewsd").count(WAITING)
        output += shop.run_block("docker run")
    assert "imported 7 new" in output
    assert "sudo" not in output
    shop.until_served(site)
    rights = shop.run("docker compose exec reviewsd cat /proc/1/status")
    assert {"0000000000000000"} == set(re.findall(r"^Cap\w+:\s(\S+)", rights, re.MULTILINE))
    assert USER == (shop.data / "reviews.json").stat().st_uid


def test_up_without_the_folder_of_the_data_makes_none(shop: Shop) -> None:
    """It would belong to root, and the import could not write there."""
    shop.run(f"echo REVIEWSD_DOMAIN={NAME} > .env")
    assert "bind source path does not exist" in shop.run("docker compose up --detach", code=1)
    assert not shop.data.exists()


def test_import_that_may_not_write_is_not_advised_sudo(shop: Shop) -> None:
    shop.run_block("mkdir")
    command = block("containers.md", "docker run")
    user = '--user "$(id -u):$(id -g)"'
    assert user in command
    output = shop.run(command.replace(user, "--user 10001:10001"), code=1)
    assert "you may not write to /data" in output
    assert "--user UID:GID" in output
    read_only = shop.run(command.replace("/data:/data", "/data:/data:ro"), code=1)
    assert "/data is mounted to be read only" in read_only
    assert "sudo" not in output + read_only


@pytest.mark.parametrize(
    ("options", "owner", "mode"),
    [
        ("--user 1000650000:0", "0:0", "777"),  # an arbitrary user, and a volume that all may write
        ("--user 10001:10001 --group-add 2000", "0:2000", "2770"),  # fsGroup of Kubernetes
        ("--user 1000650000:0", "", ""),  # a new volume, as the image has it
    ],
)
def test_state_is_made_in_a_volume_of_another_user(
    shop: Shop, options: str, owner: str, mode: str
) -> None:
    name = "other"
    shop.run(f"docker volume create {name}")
    if owner:
        volume = f"/var/lib/docker/volumes/{name}/_data"
        shop.run(f"touch {volume}/there; chown {owner} {volume}; chmod {mode} {volume}", user=0)
    shop.run(
        f"docker run --detach --name {name} --read-only --tmpfs /tmp --cap-drop ALL {options} "
        f"--env REVIEWSD_BASE_URL=https://{NAME} --volume {name}:/state reviewsd"
    )
    try:
        until(lambda: "listening on" in shop.run(f"docker logs {name}"), "the daemon", 60)
        assert "waiting" in shop.run(f"docker exec {name} reviewsctl status")
    finally:
        shop.run(f"docker rm --force {name}; docker volume rm {name}")


def test_update_of_one_node_loses_no_request(shop: Shop, record_testsuite_property: Record) -> None:
    shop.run_block("mkdir")
    shop.run_block("docker run")
    shop.run_block("docker compose up")
    site = shop.site()
    shop.until_served(site)
    build(shop.engine, "reviewsd", "FROM reviewsd", "LABEL update=one")
    before = shop.run("docker compose ps --quiet reviewsd")
    with shop.load(site) as load:
        shop.run_block(
            "git pull\ndocker compose build\ndocker compose", "git pull", "docker compose build"
        )
        shop.run("docker compose up --detach --wait")
    record_testsuite_property("update of one node", str(load))
    assert before != shop.run("docker compose ps --quiet reviewsd")
    assert [] == load.failed


def test_sync_imports_the_reviews_of_its_sources(shop: Shop) -> None:
    """The commands of the document run as the owner of the data, in the volume of the daemon."""
    shop.run_block("mkdir")
    shop.run_block("docker run")
    incoming = shop.place / "sync/incoming"
    incoming.mkdir(parents=True)
    table = incoming / "shop.csv"
    table.write_text("id,rating,date,author\n1,5,2026-11-02,Synced Sue\n")
    os.utime(table, (0, 0))  # quiet for long
    shop.engine.own(f"{SHOP}/sync")
    document = (ROOT / "docs/how-to/sync.md").read_text()
    _, commands, rest = document.partition("mkdir -p data sync")
    lines = (commands + rest.partition("```")[0]).splitlines()
    *lines, listing = lines
    shop.run("\n".join(lines))
    site = shop.site()

    def is_served() -> bool:
        try:
            return b"Synced Sue" in site.request("GET", urls.REVIEWS, client=FIRST).body
        except OSError:  # Caddy does not listen yet
            return False

    with shop.engine.network():
        until(is_served, "the review", 60)
    assert USER == (shop.data / "reviews.json").stat().st_uid
    assert re.search(r"shop +file +ok ", shop.run(listing))
    shop.run("docker compose stop sync")
    assert "exited" in shop.run("docker compose ps --all --format '{{.State}}' sync").lower()


def test_clients_have_limits_of_their_own_by_both_protocols(shop: Shop) -> None:
    """Each address has a limit of its own, and headers of the client do not change it."""
    shop.run_block("mkdir")
    shutil.copyfile(DEMO / "reviews.json", shop.data / "reviews.json")
    limit = {"REVIEWSD_HUB__LIMITS__REQUESTS_PER_MINUTE": str(REQUESTS)}
    override = {"services": {"reviewsd": {"environment": limit}}}
    (shop.place / "compose.override.yaml").write_text(json.dumps(override))
    shop.run_block("docker compose up")
    shop.until_served(shop.site())
    form = b"hub.mode=subscribe&hub.topic=/feed.xml&hub.callback=http://subscriber.example/"
    for client in docker.CLIENTS:
        site = shop.site(address="2001:db8:1::1" if ":" in client else FIRST)
        with shop.engine.network():
            statuses = [
                site.request(
                    "POST", urls.HUB, {**FORM, "X-Forwarded-For": forged}, form, client
                ).status
                for forged in (f"198.51.100.{number}" for number in range(REQUESTS + 1))
            ]
        assert [*REQUESTS * [400], 429] == statuses, client


def test_three_nodes(shop: Shop, record_testsuite_property: Record) -> None:
    """Neither what is documented nor a node that goes away loses a request.

    ``test_nodes`` has them share the hub.
    """
    prepare(shop)
    shop.run_block("docker run")
    shop.run("docker compose up --detach --wait")
    site = shop.site("reviewsd-nodes")
    shop.until_served(site)
    for node in ("node1", "node2", "node3"):
        status = shop.run(f"docker compose exec {node} reviewsctl status")
        assert "hub        0 subscriptions" in status
        assert "the state store fails" not in status

    build(shop.engine, "reviewsd", "FROM reviewsd", "LABEL update=three")
    with shop.load(site) as load:
        shop.run_block("git pull\ndocker compose build\nfor", "git pull", "docker compose build")
    record_testsuite_property("update of three nodes, one after the other", str(load))
    assert [] == load.failed

    with shop.load(site) as load:
        shop.run("docker compose kill node1")
    record_testsuite_property("a node that is killed", str(load))
    assert [] == load.failed

    build(shop.engine, "reviewsd", "FROM reviewsd", "LABEL update=all")
    with shop.load(site) as load:
        shop.run("docker compose up --detach --wait")
    record_testsuite_property("update of three nodes at once", str(load))
    assert [] == load.failed


def prepare(shop: Shop) -> None:
    """Do what the first lines of the compose file say."""
    text = (shop.place / "packaging/container/compose.nodes.yaml").read_text()
    lines = re.findall(r"^#     (.*)$", text, re.MULTILINE)
    variables = [line for line in lines if re.match(r"[A-Z_]+=", line)]
    commands = [line for line in lines if line not in variables]
    assert "docker compose up --detach" == commands.pop()
    for command in commands:
        as_root = command.startswith("sudo ")
        shop.run(command.removeprefix("sudo "), user=0 if as_root else USER)
    values = "\n".join(variables).replace("reviews.example.com", NAME).replace("...", "secret")
    (shop.place / ".env").write_text(f"{values}\n")


def test_podman_without_root(shop: Shop, record_testsuite_property: Record) -> None:
    """Import, start and update as with Docker."""
    socket = f"/run/user/{USER}/podman/podman.sock"
    shop.run(
        "podman load --quiet --input ../reviewsd.tar; podman tag reviewsd localhost/reviewsd;"
        f"docker save {CADDY} | podman load --quiet"
    )
    shop.run_block("mkdir")
    # in place of the socket of systemd, which starts it on a real machine, and runs health checks
    shop.run("setsid podman system service --time 0 >/dev/null 2>&1 </dev/null &")
    shop.run(f"until test -S {socket}; do sleep 0.1; done")
    up = block("containers.md", "docker compose up").replace("docker", "podman", 1)
    output = shop.run(up)
    imported = shop.run_block("podman build", "podman build --format docker --tag reviewsd .")
    assert "imported 7 new" in imported
    assert "sudo" not in output + imported
    assert USER == (shop.data / "reviews.json").stat().st_uid
    volumes = f"{HOME}/.local/share/containers/storage/volumes"
    root = shop.engine.path(f"{volumes}/reviewsd_caddy/_data/caddy/pki/authorities/local/root.crt")
    until(root.exists, "Caddy's authority", 60)
    site = PublicSite(NAME, 443, ssl.create_default_context(cafile=str(root)), FIRST)
    shop.until_served(site)
    build(
        shop.engine, "localhost/reviewsd", "FROM localhost/reviewsd", "LABEL update=p", by="podman"
    )
    before = shop.run("podman ps --quiet --filter name=reviewsd-reviewsd")
    with shop.load(site) as load:
        shop.run(up)
        shop.until_served(site)
    record_testsuite_property("update under Podman", str(load))
    assert before != shop.run("podman ps --quiet --filter name=reviewsd-reviewsd")
    assert [] == load.failed
    shop.run("podman compose down --volumes --timeout 2")

"""``reviewsctl service install``: planned, shown, and done to an image (interfaces.md 1.6, O14)."""

import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from reviewsctl.daemon.units import OWN, SYNC_UNITS, UNITS
from reviewsctl.files.installation import given, plan
from reviewsctl.files.named_files import NamedFile
from reviewsctl.files.requested import Installation, placed
from reviewsctl.files.steps import CopyFile, WriteFile
from reviewsctl.files.unit_text import unit
from reviewsctl.importing.undo import undo
from reviewsd.api.places import DATA_FILES
from reviewsd.api.places import SYSTEM as CONFIG
from tests.support.commands import Ctl
from tests.support.programs import run_program
from tests.support.shop import NOW, Shop, google

pytestmark = pytest.mark.processes

SOCKET_UNIT = Path("/etc/systemd/system/reviewsd.socket")
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-sysusers") is None, reason="systemd is not installed"
)
HOME = Path("/home/jo hn/100%")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root of an image."""
    root = tmp_path / "root"
    (root / "etc").mkdir(parents=True)
    return root


def installation(config: Path | None, data: Path, *listen: str) -> Installation:
    folder = NamedFile(key="data_dir", place="$.data_dir", path=data, copy=Path("/srv/reviews"))
    return Installation(
        reviewsd=Path("/opt/r/bin/reviewsd"),
        reviewsctl=Path("/opt/r/bin/reviewsctl"),
        needs=(Path("/opt/r"), Path("/usr")),
        config=config,
        data=replace(folder, copy=data) if config is None else folder,
        listen=listen,
    )


SERVED = installation(None, Path("/data"))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration, with an empty data directory beside it."""
    file = tmp_path / "reviewsd.yaml"
    file.write_text("base_url: https://r.example.com\n")
    file.chmod(0o644)
    (tmp_path / "data").mkdir()
    return file


def test_sync_sees_exports_in_folders_that_are_hidden_from_services() -> None:
    """/tmp is another one by PrivateTmp=, and home directories are hidden."""
    exports = [Path(f"{folder}/in/*.csv") for folder in ("/tmp", "/var/tmp", "/home/jo", "/srv")]
    files = [NamedFile(key="sources.a.path", place="", path=path, copy=path) for path in exports]
    text = unit(replace(SERVED, files=tuple(files)), "reviewsd-sync.service")
    assert "\nBindReadOnlyPaths=/tmp/in /var/tmp/in /home/jo/in\n" in text


def test_programs_of_a_user_are_seen_but_never_run_by_root() -> None:
    """``uv tool install`` and pipx install programs like this; that user could become root."""
    programs = (HOME / "bin/reviewsd", HOME / "bin/reviewsctl")
    of_user = replace(SERVED, reviewsd=programs[0], reviewsctl=programs[1], needs=(HOME,))
    text = unit(of_user, "reviewsd.service")
    assert '\nExecStart="/home/jo hn/100%%/bin/reviewsd" --config' in text
    assert '\nExecReload="/home/jo hn/100%%/bin/reviewsctl" reload\n' in text
    assert "=+" not in text
    assert '\nProtectHome=tmpfs\nBindReadOnlyPaths="/home/jo hn/100%%"\n' in text


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/opt/x/shop/ca.pem", "/copy"),
        ("/opt/x/shop/../shop/sub/ca.pem", "/copy"),
        ("/home/jo/ca.pem", "/copy"),
        ("/root/ca.pem", "/copy"),
        ("/tmp/ca.pem", "/copy"),
        ("/var/tmp/ca.pem", "/copy"),
        ("/opt/x/shop/../ngx/ca.pem", "/opt/x/ngx/ca.pem"),
        ("/etc/ssl/ca.pem", "/etc/ssl/ca.pem"),
    ],
)
def test_file_is_copied_from_beside_the_configuration_or_where_a_service_cannot_see_it(
    path: str, place: str
) -> None:
    """All else is named absolutely: a relative path would lead elsewhere from /etc/reviewsd."""
    file = NamedFile(key="", place="", path=Path(path), copy=Path("/copy"))
    assert Path(place) == placed(file, Path("/opt/x/shop/reviewsd.yaml")).copy
    secret = replace(file, is_secret=True)
    assert Path("/copy") == placed(secret, Path("/opt/x/shop/reviewsd.yaml")).copy


@pytest.mark.parametrize(
    ("metrics", "allowed"),
    [
        ("tcp:9090:interface=127.0.0.1", "SocketBindAllow=tcp:9090\n"),
        ("tcp6:port=9091", "SocketBindAllow=tcp:9091\n"),
        ("tcp:9092:interface=localhost:backlog=9", "SocketBindAllow=tcp:9092\n"),
        ("unix:/run/reviewsd/metrics.sock", ""),
        ("", ""),
    ],
)
def test_service_may_open_the_port_of_the_metrics(metrics: str, allowed: str) -> None:
    """SocketBindDeny= would keep it from starting."""
    for name in ("reviewsd.service", "reviewsd@.service"):
        text = unit(replace(SERVED, metrics=metrics), name)
        assert f"adds the line.\n{allowed}SocketBindDeny=any\n" in text


@pytest.mark.parametrize(
    ("listen", "stream"),
    [
        ("tcp:8081:interface=127.0.0.1", "127.0.0.1:8081"),
        ("tcp:port=8081", "8081"),
        (r"tcp6:8081:interface=\:\:1", "[::1]:8081"),
        ("tcp:8081:interface=localhost", "127.0.0.1:8080"),
        ("tcp:8081:backlog=9", "127.0.0.1:8080"),
        ("systemd:name=http", "127.0.0.1:8080"),
    ],
)
def test_the_socket_unit_listens_where_the_configuration_says(listen: str, stream: str) -> None:
    steps = plan(installation(None, Path("/d"), listen), Path("/"))
    (text,) = (
        item.text for item in steps if isinstance(item, WriteFile) and item.path == SOCKET_UNIT
    )
    assert f"\nListenStream={stream}\n" in text


def copies_of(config: Path) -> list[CopyFile]:
    """Return the copies that the plan of an installation into ``root`` has."""
    steps = plan(installation(config, config.parent / "data"), config.parent / "root")
    return [step for step in steps if isinstance(step, CopyFile)]


def test_service_gets_all_files_of_the_data_directory_and_the_reviews_last(config: Path) -> None:
    """Without corrections.json it would publish reviews that are hidden, and the next try would not copy it."""
    for name in DATA_FILES:
        (config.parent / "data" / name).touch()
    copies = copies_of(config)
    assert set(DATA_FILES) == {step.source.name for step in copies}
    assert "reviews.json" == copies[-1].source.name


def test_hidden_reviews_stay_hidden_where_the_service_has_reviews_already(config: Path) -> None:
    """What is there stays, and so do the versions that are kept of it."""
    data, there = config.parent / "data", config.parent / "root/srv/reviews"
    for place in (data / ".reviewsctl/history", there):
        place.mkdir(parents=True)
        (place / "reviews.json").touch()
    for name in ("reviews.json", "corrections.json"):
        (data / name).touch()
    assert [data / "corrections.json"] == [step.source for step in copies_of(config)]


def test_import_can_be_undone_on_the_server(config: Path, root: Path, tmp_path: Path) -> None:
    """The history and the log of imports lie beside the reviews, for their owner alone."""
    data = tmp_path / "data"
    shop = Shop(data)
    shop.imported(google(tmp_path / "1.json", {"author": "Ann"}))
    shop.imported(google(tmp_path / "2.json", {"author": "Ann"}, {"author": "Bo"}))
    (data / "corrections.json").write_text("{}")
    (data / ".reviewsctl/corrections.log").write_text("{}\n")
    (data / ".reviewsctl/corrections.log").chmod(0o600)
    for step in copies_of(config):
        step.do(root)
    there = root / "srv/reviews"
    assert {"Ann", "Bo"} == Shop(there).reviews.keys()
    assert 0o600 == stat.S_IMODE((there / ".reviewsctl/corrections.log").stat().st_mode)
    assert (1, 1) == (undo(there / "reviews.json", 1, NOW).gone, len(Shop(there).reviews))
    assert [] == copies_of(config)


@needs_systemd
def test_an_image_gets_all_of_it(ctl: Ctl, shop: Path, root: Path) -> None:
    """Also one that is named by a relative path, for which systemctl asks in vain."""
    done = ctl("service", "install", "--root", "../root", folder=shop)

    assert 0 == done.returncode, done.stderr
    places = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("install")]
    assert all(place.startswith(f"{root}/") for place in places)
    config = root / "etc/reviewsd/reviewsd.yaml"
    document = yaml.safe_load(config.read_text())
    assert ("https://r.example.com", "/srv/reviews", "/var/lib/reviewsd") == tuple(
        document[key] for key in ("base_url", "data_dir", "state_dir")
    )
    assert 0o644 == stat.S_IMODE(config.stat().st_mode)
    assert (root / "srv/reviews/insights.yaml").is_file()
    assert (root / "srv/reviews/reviews.json").read_text() == (
        shop / "data/reviews.json"
    ).read_text()
    assert "reviewsd-admin:" in (root / "etc/group").read_text()
    units = root / "etc/systemd/system"
    assert (units / "multi-user.target.wants/reviewsd.service").is_symlink()
    assert (units / "sockets.target.wants/reviewsd-admin.socket").is_symlink()
    again = ctl("service", "install", "--dry-run", "--root", str(root))
    assert (0, False, False) == (
        again.returncode,
        f"write {config}" in again.stdout,
        "install -D" in again.stdout,
    )


@needs_systemd
def test_existing_configuration_is_not_replaced(ctl: Ctl, shop: Path, root: Path) -> None:
    (root / "etc/reviewsd").mkdir()
    config = root / CONFIG.relative_to("/")
    config.write_text("base_url: https://mine.example.com\ndata_dir: /data\n")
    config.chmod(0o644)
    done = ctl("service", "install", "--root", str(root))
    assert 0 == done.returncode, done.stderr
    assert config.read_text().startswith("base_url: https://mine")
    assert "ReadOnlyPaths=-/data\n" in (root / "etc/systemd/system/reviewsd.service").read_text()
    note = f"note: {config} was there and is kept: neither {shop}/reviewsd.yaml nor the reviews of its data_dir were"
    named = ctl("service", "install", "--root", str(root), "--config", str(shop))
    for run in (done, named):  # its messages and metrics were left out without a word
        assert note in run.stdout
    own = ctl("service", "install", "--root", str(root), "--config", str(config), "--dry-run")
    assert "is kept" not in own.stdout


@needs_systemd
def test_uninstall_removes_only_what_install_wrote(ctl: Ctl, shop: Path, root: Path) -> None:
    units = root / "etc/systemd/system"
    drop_in = units / "reviewsd.service.d/own.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text("[Service]\n")
    uninstall = ("service", "uninstall", "--root", str(root))
    refused = ctl(*uninstall)
    assert (1, "") == (refused.returncode, refused.stdout)
    assert "there is no /etc/systemd/system/reviewsd.service" in refused.stderr
    ctl("service", "install", "--root", str(root))
    (units / "multi-user.target.wants/reviewsd@1.service").symlink_to("../reviewsd@.service")

    planned = ctl(*uninstall, "--dry-run")
    assert f" {units}/reviewsd@.service " in planned.stdout
    assert (units / "reviewsd.service").exists()
    done = ctl(*uninstall)

    assert 0 == done.returncode, done.stderr
    assert planned.stdout == f"{done.stdout}nothing was written\n"
    files = {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() or path.is_symlink()
    }
    systems = {
        path
        for path in files
        if path.startswith(("etc/group", "etc/gshadow", "etc/passwd", "etc/shadow", "etc/.pwd"))
    }
    assert {
        "etc/reviewsd/reviewsd.yaml",
        "etc/systemd/system/reviewsd.service.d/own.conf",
        "srv/reviews/insights.yaml",
        "srv/reviews/reviews.json",
    } == files - systems
    assert "/var/lib/reviewsd" in done.stdout


def test_debian_package_is_removed_by_apt(ctl: Ctl, tmp_path: Path) -> None:
    packaged = tmp_path / "usr/lib/systemd/system/reviewsd.service"
    packaged.parent.mkdir(parents=True)
    packaged.touch()
    done = ctl("service", "uninstall", "--root", str(tmp_path))
    assert (1, "") == (done.returncode, done.stdout)
    assert "sudo apt-get remove reviewsd" in done.stderr


def test_a_dry_run_shows_every_step_and_takes_none(ctl: Ctl, shop: Path) -> None:
    done = ctl("service", "install", "--dry-run")
    steps = done.stdout.splitlines()
    program = next(line for line in steps if "check --config" in line)
    assert program.endswith("/reviewsctl check --config /etc/reviewsd/reviewsd.yaml")
    sysusers = ("reviewsd.conf", "reviewsd-sync.conf")
    assert [
        "mkdir -p /srv/reviews",
        f"install -D -m 644 {shop}/data/insights.yaml /srv/reviews/insights.yaml",
        f"install -D -m 644 {shop}/data/reviews.json /srv/reviews/reviews.json",
        "write /etc/reviewsd/reviewsd.yaml, mode 644",
        *(f"write /etc/sysusers.d/{name}, mode 644" for name in sysusers),
        f"systemd-sysusers {' '.join(sysusers)}",
        *(f"write {OWN / name}, mode 644" for name in (*UNITS, *SYNC_UNITS)),
        program,
        "systemctl daemon-reload",
        "systemctl enable --now reviewsd.socket reviewsd-admin.socket reviewsd.service",
        "nothing was written",
    ] == steps


def test_many_kept_versions_and_their_owner_are_one_line_each(ctl: Ctl, shop: Path) -> None:
    """Twenty lines of them, and one of forty paths, stood before what matters."""
    history = shop / "data/.reviewsctl/history"
    history.mkdir(parents=True)
    for number in range(9):
        (history / f"reviews-{number}.json").touch()
    config = shop / "reviewsd.yaml"
    config.write_text(config.read_text() + SOURCES % "/srv/in")
    steps = ctl("service", "install", "--dry-run").stdout.splitlines()
    assert f"copy 9 files of {history} to /srv/reviews/.reviewsctl/history" in steps
    assert not any("reviews-1.json" in step for step in steps)
    if not Path("/srv/reviews").exists():
        owner = "chown --no-dereference reviewsd-sync:reviewsd-data /srv/reviews"
        assert f"{owner}, and 12 names in it" in steps


SOURCES = "sources: [{name: shop, type: file, path: %s/*.csv}]\n"


@needs_systemd
def test_timer_of_image_comes_and_goes_with_sources(ctl: Ctl, shop: Path, root: Path) -> None:
    """The system of the image is not running, so its data directory is given away later."""
    config = shop / "reviewsd.yaml"
    config.write_text(config.read_text() + SOURCES % "/srv/in")
    install = ("service", "install", "--root", str(root))
    done = ctl(*install)

    assert 0 == done.returncode, done.stderr
    assert "chown -R reviewsd-sync:reviewsd-data /srv/reviews\n" in done.stdout
    units = root / "etc/systemd/system"
    sync = (units / "reviewsd-sync.service").read_text()
    assert "\nExecStart=/usr/bin/reviewsctl " not in sync
    assert "\nReadWritePaths=/srv/reviews\n" in sync
    timer = units / "timers.target.wants/reviewsd-sync.timer"
    assert timer.is_symlink()
    assert "reviewsd-sync:" in (root / "etc/passwd").read_text()

    installed = root / CONFIG.relative_to("/")
    installed.write_text(installed.read_text().replace(SOURCES % "/srv/in", ""))
    done = ctl(*install)
    assert 0 == done.returncode, done.stderr
    assert not timer.is_symlink()


NAMED = """
hub: {callbacks: {ca_file: ca.pem}}
mcp: {session_key_file: mcp.key}
pages: {templates_dir: templates}
notify:
  - {name: owner, url_file: "owner.url", stars: 2}  # me
  - name: chat
    url_file: %s/chat.url
    stars: 5
sources:
  - {name: shop, type: file, path: in/*.csv}
  - {name: web, type: url, url: "https://example.com/r.csv", header_file: web.header}
"""


@pytest.fixture
def named(shop: Path, tmp_path: Path) -> Path:
    """A configuration that names every kind of file."""
    config = shop / "reviewsd.yaml"
    config.write_text(config.read_text() + NAMED % tmp_path)
    (shop / "templates").mkdir()
    (shop / "templates/.git").mkdir()
    for place in ("ca.pem", "templates/head.html", "templates/.git/config", "templates/owner.url"):
        (shop / place).write_text(place)
    for path in (tmp_path / "chat.url", *(shop / f"{name}" for name in ("owner.url", "mcp.key"))):
        path.write_text(path.name)
        path.chmod(0o600)
    (shop / "web.header").write_text("web.header")
    return shop


@needs_systemd
def test_files_that_a_configuration_names_go_with_it(ctl: Ctl, named: Path, root: Path) -> None:
    """The copy named files that were not there, and the service did not start."""
    install = ("service", "install", "--root", str(root))
    done = ctl(*install)
    assert f"note: reviewsctl sync goes on reading {named}/in/*.csv (" in done.stdout
    assert 0 == done.returncode, done.stderr

    etc = root / "etc/reviewsd"
    secrets = {
        etc / "notify/owner.url": "owner.url",
        etc / "notify/chat.url": "chat.url",
        etc / "credentials/web.header": "web.header",
        root / "etc/credstore/reviewsd.mcp-session-key": "mcp.key",
    }
    for path, content in secrets.items():
        assert (content, 0o600, 0o700) == (
            path.read_text(),
            stat.S_IMODE(path.stat().st_mode),
            stat.S_IMODE(path.parent.stat().st_mode),
        )
    for place in ("ca.pem", "templates/head.html"):
        assert (place, 0o644) == (
            (etc / place).read_text(),
            stat.S_IMODE((etc / place).stat().st_mode),
        )
    assert ["head.html"] == [path.name for path in (etc / "templates").iterdir()]
    document = yaml.safe_load((etc / "reviewsd.yaml").read_text())
    assert "/etc/reviewsd/ca.pem" == document["hub"]["callbacks"]["ca_file"]
    assert "/etc/reviewsd/templates" == document["pages"]["templates_dir"]
    assert [None, None] == [target["url_file"] for target in document["notify"]]
    assert None is document["mcp"]["session_key_file"]
    assert f"{named}/in/*.csv" == document["sources"][0]["path"]
    assert None is document["sources"][1]["header_file"]
    assert "stars: 2}  # me\n" in (etc / "reviewsd.yaml").read_text()
    for name in ("reviewsd.service", "reviewsd@.service"):
        text = (root / "etc/systemd/system" / name).read_text()
        assert "\nLoadCredential=notify:/etc/reviewsd/notify\n" in text

    again = ctl(*install, "--dry-run")
    assert (0, False) == (again.returncode, "install -D" in again.stdout)


def test_older_secret_in_place_of_new_one_is_refused(ctl: Ctl, named: Path, root: Path) -> None:
    """Messages would go to the address of an earlier installation."""
    there = root / "etc/reviewsd/notify/owner.url"
    there.parent.mkdir(parents=True)
    there.write_text("older")
    done = ctl("service", "install", "--root", str(root), "--dry-run")
    assert (1, "") == (done.returncode, done.stdout)
    assert f"{there}: it is there already, and differs from {named}/owner.url\n" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_sync_gets_data_of_root_and_not_that_of_another_user(ctl: Ctl, tmp_path: Path) -> None:
    """Its owner imports without sudo, and has the sync run as himself."""
    result = replace(installation(None, tmp_path), has_sources=True)
    text = unit(result, "reviewsd-sync.service")
    assert "\nUser=reviewsd-sync\nGroup=reviewsd-data\n" in text
    assert f"\nReadWritePaths={tmp_path}\n" in text
    steps = list(map(str, plan(result, Path("/"))))
    assert f"chown --no-dereference reviewsd-sync:reviewsd-data {tmp_path}" in steps
    os.chown(tmp_path, 65534, 65534)
    assert not any("chown" in str(step) for step in plan(result, Path("/")))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_given_folder_is_writable_for_its_group_and_follows_no_link(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "outside"
    (data / ".reviewsctl").mkdir(parents=True)
    (data / "other").mkdir()
    for file in (outside, data / "reviews.json", data / ".reviewsctl/corrections.log"):
        file.touch(mode=0o600)
    (data / "insights.json").symlink_to(outside)
    for step in given(data, [], "nobody:nogroup"):
        step.do(Path("/"))

    paths = [
        data,
        data / "reviews.json",
        data / ".reviewsctl",
        data / ".reviewsctl/corrections.log",
    ]
    assert {65534} == {path.stat().st_uid for path in paths}
    assert [0o2775, 0o600, 0o2775, 0o600] == [stat.S_IMODE(path.stat().st_mode) for path in paths]
    assert {0} == {path.stat().st_uid for path in (outside, data / "other")}


@pytest.mark.skipif(Path("/run/systemd/system").exists(), reason="this machine runs systemd")
def test_without_systemd_it_refuses_politely(ctl: Ctl, shop: Path) -> None:
    done = ctl("service", "install")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("Error: not installed: this machine does not run systemd\n")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_as_hardened_as_the_shipped_one(ctl: Ctl, shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "reviewsd.service"
    file.write_text(ctl("service", "install", "--print-unit").stdout)
    done = run_program(
        ["systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager", file]
    )
    assert 0 == done.returncode, done.stdout


def test_units_of_the_debian_package_are_not_replaced(ctl: Ctl, shop: Path, tmp_path: Path) -> None:
    """Units in /etc would mask them for good, and no upgrade of the package would change the service."""
    root = tmp_path / "root"
    units = root / "usr/lib/systemd/system"
    units.mkdir(parents=True)
    (units / "reviewsd.service").touch()
    for arguments in ((), ("--dry-run",)):
        done = ctl("service", "install", "--root", str(root), *arguments)
        assert (1, "") == (done.returncode, done.stdout)
        assert done.stderr == (
            "Error: not installed: the Debian package has installed the units of the service\n"
            "Use them: sudo systemctl enable --now "
            "reviewsd.socket reviewsd-admin.socket reviewsd.service\n"
        )
    assert not (root / "etc").exists()

    own = root / "etc/systemd/system/reviewsd.service"
    own.parent.mkdir(parents=True)
    own.touch()
    done = ctl("service", "install", "--root", str(root))
    assert "\nRemove those in /etc/systemd/system, which take their place: sudo " in done.stderr


def test_a_password_is_not_copied_into_a_file_for_all(ctl: Ctl, shop: Path) -> None:
    ctl.environment["REVIEWSD_HUB__STORE"] = "postgresql://u:geheim@h/db"
    done = ctl("service", "install", "--dry-run")
    assert (1, "") == (done.returncode, done.stdout)
    assert "has a password" in done.stderr
    assert "geheim" not in done.stderr

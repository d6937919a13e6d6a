"""The configuration to try the hub with (websub.md 4); docs/reference/websub.md is typed with it."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from reviewsd.config.convert import addresses, callback_policy, public_port
from reviewsd.config.load import load
from reviewsd.domain.callback import CallbackRefusedError, Refusal, parse_callback

ROOT = Path(__file__).parent.parent
FILE = ROOT / "config" / "development.yaml"


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

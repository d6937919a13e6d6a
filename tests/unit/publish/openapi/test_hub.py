"""The hub in the OpenAPI document against what reads the forms (contract 5, seed 4.8)."""

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode

import jsonschema
import pytest

from reviewsd.domain.callback import MAX_LENGTH, CallbackPolicy
from reviewsd.domain.reviews import Business
from reviewsd.domain.subscription import Mode
from reviewsd.http1 import urls
from reviewsd.publish.openapi import document
from reviewsd.websub import verification
from reviewsd.websub.requests import MAX_SECRET, MAX_VERIFY_TOKEN, HubRequestError, parse_request
from tests.support import hub_rows

BASE_URL = "https://reviews.acme.example"
DOCUMENT: dict[str, Any] = json.loads(document.render(BASE_URL, Business(name="Acme")))
HUB = DOCUMENT["paths"][urls.HUB]
FORM = "application/x-www-form-urlencoded"
(MEDIA,) = HUB["post"]["requestBody"]["content"].values()
POLICY = CallbackPolicy(own_host="reviews.acme.example", own_ports=frozenset({443}))
CALLBACKS = HUB["post"]["callbacks"]
(VERIFY,) = CALLBACKS["verification"].values()
(NOTIFY,) = CALLBACKS["notification"].values()


def accepted(**fields: object) -> bool:
    """Whether a form with these fields changed is accepted."""
    form = MEDIA["example"] | {f"hub.{name}": value for name, value in fields.items()}
    try:
        body = urlencode(form).encode()
        parse_request(body, FORM.encode(), BASE_URL, 864_000, POLICY)
    except HubRequestError:
        return False
    return True


def described(**fields: object) -> bool:
    """Whether it has the schema."""
    form = MEDIA["example"] | {f"hub.{name}": value for name, value in fields.items()}
    return jsonschema.Draft202012Validator(MEDIA["schema"]).is_valid(form)


@pytest.mark.parametrize("method", ["get", "post"])
def test_every_answer_is_text_that_is_not_kept(method: str) -> None:
    for status, answer in HUB[method]["responses"].items():
        assert ["text/plain"] == list(answer["content"])
        later = {"Retry-After"} if status in {"429", "503"} else set()
        assert {"Cache-Control"} | later == answer["headers"].keys()


def test_the_example_is_accepted() -> None:
    assert [FORM] == list(HUB["post"]["requestBody"]["content"])
    assert accepted()
    assert described()


def test_the_fields_have_the_bounds_of_what_reads_them() -> None:
    fields = MEDIA["schema"]["properties"]
    assert [mode.value for mode in Mode] == fields["hub.mode"]["enum"]
    assert MAX_LENGTH == fields["hub.callback"]["maxLength"]
    assert MAX_SECRET == fields["hub.secret"]["maxLength"]
    assert str(MAX_VERIFY_TOKEN) in fields["hub.verify_token"]["description"]
    assert set(urls.TOPICS) <= set(fields["hub.topic"]["enum"])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("mode", value) for value in ("subscribe", "unsubscribe", "publish", "", "denied")),
        *(("topic", f"{BASE_URL}{path}") for path in (*urls.TOPICS, "", urls.INSIGHTS)),
        *(("topic", path) for path in (*urls.TOPICS, "", "/", "/feed.xml?")),
        *(("lease_seconds", value) for value in (1, 0, -1, 10**12)),
        *(("secret", value) for value in ("s", 199 * "s", 200 * "s")),
    ],
)
def test_the_schema_accepts_what_the_hub_accepts(name: str, value: object) -> None:
    assert accepted(**{name: value}) is described(**{name: value})


@pytest.mark.parametrize(
    ("callback", "expected"),
    [
        ("https://sub.example.org", True),
        ("https://sub.example.org?", True),
        ("https://sub.example.org.:8443/a/b?c=%2f&hub.mode=x;y", True),
        ("https://sub.example.org/".ljust(MAX_LENGTH, "a"), True),
        ("https://sub.example.org/".ljust(MAX_LENGTH + 1, "a"), False),
        ("http://sub.example.org/", False),
        ("sub.example.org", False),
        ("", False),
    ],
)
def test_callback_is_described_as_an_https_address(callback: str, *, expected: bool) -> None:
    """The grammar of an address is a URL library's business, not that of a pattern of 300 characters."""
    assert expected is described(callback=callback)
    assert expected is accepted(callback=callback)


@pytest.mark.parametrize(
    "callback",
    [
        "https://a@sub.example.org/",
        "https://sub.example.org:65536/",
        "https://[::1]/",
        "https://a..org/",
    ],
)
def test_hub_refuses_more_than_the_schema(callback: str) -> None:
    assert described(callback=callback)
    assert not accepted(callback=callback)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("lease", [1, 0, -1, 300.5, "soon", ""])
def test_a_lease_is_read_to_subscribe_and_ignored_to_unsubscribe(mode: Mode, lease: object) -> None:
    """H18; an empty one is none, which a schema of integers cannot say."""
    taken = accepted(mode=mode.value, lease_seconds=lease)
    assert (mode is Mode.UNSUBSCRIBE or lease in {1, ""}) is taken
    if lease != "":
        assert taken is described(mode=mode.value, lease_seconds=lease)


def test_the_verification_is_described_as_it_is_sent() -> None:
    """Seed 4.8, W10, W11."""
    documented = {row["name"]: row for row in VERIFY["get"]["parameters"]}
    sent = dict(parse_qsl(verification._query(hub_rows.ASKED)))
    assert sent.keys() | {"hub.reason"} == documented.keys()
    for name in sent.keys() - {"hub.lease_seconds"}:
        jsonschema.validate(sent[name], documented[name]["schema"])
    assert {"hub.mode", "hub.topic"} == {
        name for name, row in documented.items() if row["required"]
    }
    assert "2XX" in VERIFY["get"]["responses"]


def test_the_notification_is_described_as_it_is_sent() -> None:
    """Seed 4.8, W14, W15, W19; websub.md 3."""
    sent = {row["name"]: row["example"] for row in NOTIFY["post"]["parameters"]}
    assert ["Link", "ETag", "X-Hub-Signature"] == list(sent)
    assert (
        f'<{BASE_URL}{urls.ATOM_FEED}>; rel="self", <{BASE_URL}{urls.HUB}>; rel="hub"'
        == sent["Link"]
    )


def test_delivery_has_the_media_type_of_the_topic() -> None:
    types = {
        media_type
        for path in urls.TOPICS
        for media_type in DOCUMENT["paths"][path]["get"]["responses"]["200"]["content"]
    }
    assert types == NOTIFY["post"]["requestBody"]["content"].keys()

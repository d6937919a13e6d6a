"""Google and Trustpilot as their APIs answer, and the readers of them on loopback."""

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reviewsctl.sources.google import GoogleReader
from reviewsctl.sources.oauth import SCOPE, Client, GoogleTokens
from reviewsctl.sources.trustpilot import TrustpilotReader
from reviewsctl.sources.wire import Wire
from tests.support.source_stub import Asked, response

Reviews = dict[str, dict[str, Any]]
"""Reviews by their ids."""


def google_review(number: int) -> dict[str, Any]:
    time = f"2026-01-{1 + number % 28:02}T10:00:00Z"
    return {
        "name": f"accounts/1/locations/2/reviews/g{number}",
        "reviewId": f"g{number}",
        "reviewer": {"displayName": f"Ann {number}"},
        "starRating": "FIVE",
        "createTime": time,
        "updateTime": time,
    }


def trustpilot_review(number: int, **members: object) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "consumer": {"displayName": f"Bo {number}"},
        "businessUnit": {"id": "5a1", "displayName": "Harbor"},
        "stars": 4,
        "text": f"Number {number}",
        "createdAt": f"2026-02-{1 + number % 28:02}T10:00:00Z",
        "isVerified": True,
        "status": "active",
        **members,
    }


class Google:
    """Google as it answers; the token that it accepts changes with each refresh."""

    def __init__(self, reviews: Reviews) -> None:
        self.reviews = reviews
        self.total: int | None = None
        self.accepted = "acc3ss-0"
        self.refreshes = 0
        self.grant: Callable[[Asked], bytes] = self._grant
        self.next: Callable[[int], str] = lambda start: f"next-{start}"

    def __call__(self, asked: Asked) -> bytes:
        if asked.path == "/token":
            self.refreshes += 1
            return self.grant(asked)
        if asked.headers["authorization"] != f"Bearer {self.accepted}":
            return response('{"error": {"status": "UNAUTHENTICATED"}}', 401)
        start = int(asked.query.get("pageToken", "next-0").removeprefix("next-"))
        size, reviews = int(asked.query["pageSize"]), list(self.reviews.values())
        page: dict[str, Any] = {"reviews": reviews[start : start + size]}
        page["totalReviewCount"] = len(reviews) if self.total is None else self.total
        if start + size < len(reviews):
            page["nextPageToken"] = self.next(start + size)
        return response(json.dumps(page if reviews else {}))

    def _grant(self, asked: Asked) -> bytes:
        assert {"refresh_token", "authorization_code"} & {asked.form["grant_type"]}
        self.accepted = f"acc3ss-{self.refreshes}"
        grant = {"access_token": self.accepted, "expires_in": 3599, "scope": f"openid {SCOPE}"}
        return response(json.dumps({**grant, "refresh_token": f"r3fresh-{self.refreshes}"}))


class Trustpilot:
    """Trustpilot as it answers."""

    def __init__(self, reviews: Reviews) -> None:
        self.reviews = reviews
        self.total: int | None = None
        self.key = "k3y"

    def __call__(self, asked: Asked) -> bytes:
        reviews = list(self.reviews.values())
        if asked.path.endswith("/accesstoken"):
            assert {"grant_type": "client_credentials"} == asked.form
            is_known = asked.headers["authorization"] == "Basic azN5OnMzY3JldA=="
            grant = {"access_token": "acc3ss", "expires_in": "359999"}
            return response(json.dumps(grant)) if is_known else response(status=401)
        if asked.path == "/v1/business-units/find":
            if asked.headers["apikey"] != self.key:
                return response(status=401)
            total = len(reviews) if self.total is None else self.total
            return response(json.dumps({"id": "5a1", "numberOfReviews": {"total": total}}))
        assert "Bearer acc3ss" == asked.headers["authorization"]
        start = (int(asked.query["page"]) - 1) * 100
        return response(json.dumps({"reviews": reviews[start : start + 100]}))


def google_tokens(
    wire: Wire, state: Path, now: Callable[[], datetime.datetime], origin: str
) -> GoogleTokens:
    client = Client("id.apps.example", "cl1ent-s3cret")
    return GoogleTokens(wire, client, state / "tokens", "google", now, origin)


def google_reader(tokens: GoogleTokens) -> GoogleReader:
    return GoogleReader(tokens, "accounts/1/locations/2", tokens.origin)


def trustpilot_reader(wire: Wire, origin: str) -> TrustpilotReader:
    return TrustpilotReader(wire, "harbor.example", "k3y", "s3cret", origin)

"""A service that notices are sent to: what apprise's ``json://`` addresses expect, on loopback."""

import json
from pathlib import Path
from typing import Any

from tests.support.source_stub import Stub, response


class NotifiedService(Stub):
    """Runs from entering to leaving, and keeps what arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.status = 200
        """The status of each response."""
        self.answer = lambda _: response(status=self.status)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in their order."""
        return [json.loads(asked.body) for asked in self.asked]

    @property
    def titles(self) -> list[str]:
        return [message["title"] for message in self.messages]

    @property
    def address(self) -> str:
        """Its address for apprise, with a password and a token."""
        return f"json://user:Password@127.0.0.1:{self.server_address[1]}/Token"

    def write_address(self, file: Path) -> None:
        """Write its address into a file that only its owner may read."""
        file.write_text(f"# the owner's\n{self.address}\n")
        file.chmod(0o600)

"""The operator's settings of documents for machines, and facts about the program.

They are apart from what renders, so that the daemon reads them without the templates' engines.
"""

from msgspec import Struct

from reviewsd.config.schema import Crawlers, Security


class MachineSettings(Struct, frozen=True, kw_only=True):
    """The settings and facts of documents for machines."""

    crawlers: Crawlers = "all"
    security: Security = Security()
    registry_auth: str | None = None
    """Proof of the domain for the MCP registry (``mcp.registry_auth``)."""
    version: str = "0.0.0"
    """Version of the program."""
    tools: str = '{"tools":[]}'
    """The result of ``tools/list``."""

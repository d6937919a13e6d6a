"""One of several nodes on one machine: the configuration of all, with a state of its own (decision 139)."""

import re
from pathlib import Path

from msgspec.structs import asdict

from reviewsd.config.errors import ConfigError, of_file
from reviewsd.config.schema import Config

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")


class NodeConfig(Config, frozen=True, kw_only=True):
    """The configuration of one node."""

    shared_dir: Path
    """The state directory of all nodes, which has their keys."""

    @property
    def key_folder(self) -> Path:
        """The folder of ``secret.key`` and ``mcp.key``."""
        return self.shared_dir


def as_node(config: Config, name: str, file: Path) -> NodeConfig:
    """Return the configuration of the node ``name``.

    Its state is in ``state_dir/nodes/NAME``, and its admin socket beside the configured one. All nodes use
    the keys of ``state_dir``, so that sessions of agents and sealed secrets are valid at each of them.

    Args:
        config: The configuration that the nodes share.
        name: The argument of ``--node``.
        file: Named in the error.

    Raises:
        ConfigError: The name cannot be used, or the nodes would not share subscriptions.
    """
    if _NAME.fullmatch(name) is None:
        reason = f"--node {name}: expected at most 32 letters a to z, digits and hyphens"
        raise ConfigError([of_file(str(file), reason)])
    if not config.hub.shared:
        reason = "hub.store: --node needs postgresql://..., which all nodes share"
        raise ConfigError([of_file(str(file), reason)])
    settings = {
        **asdict(config),
        "state_dir": config.state_dir / "nodes" / name,
        "admin_socket": config.admin_socket.with_name(f"{name}.sock"),
    }
    return NodeConfig(**settings, shared_dir=config.key_folder)

"""Find the files that ship beside the code: `cypher/` and `config/`."""

import os
from pathlib import Path

VERSION = "0.2.0"
_PACKAGE = Path(__file__).parent


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder, e.g. `resource("config", "settings.toml")`.

    A wheel carries both folders inside the package; a checkout has them beside it.

    >>> resource("config", "settings.toml").is_file()
    True
    """
    inside = _PACKAGE.joinpath(*parts)
    return inside if inside.exists() else _PACKAGE.parent.joinpath(*parts)


def user_file() -> Path | None:
    """Return the user's file of settings: the one that MEMGRAPH_ENGINE_CONFIG names, else one in this folder."""
    named, beside = os.environ.get("MEMGRAPH_ENGINE_CONFIG"), Path("memgraph-engine.toml")
    return Path(named) if named else beside if beside.is_file() else None


LANGUAGES = (*sorted(one.name for one in resource("config", "language").iterdir() if one.is_dir()), "standard")
"""The languages that a memory may have: those with a folder of their own, and any other one as standard."""

"""`memgraph-engine init`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import printed
from memgraph_engine.errors import SettingsError
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from memgraph_engine.settings import Settings

_ASSIGNMENT = re.compile(r"^(?=\w+ = )", re.MULTILINE)


@printed
def init(
    write_config: Annotated[
        Path | None, "FILE: Also write a file with all settings, commented out, for you to change."
    ] = None,
    paper: Annotated[str, "NAME: With the settings of a paper, e.g. memfly (docs/papers.md)."] = "",
) -> Iterator[object]:
    """Make Neo4j, the schema and the embedder ready.

    It fetches what is needed, and starts the managed server or connects to the one that the settings name. It can be
    repeated.
    """
    from memgraph_engine.settings import Settings

    settings = Settings.load(**({"preset": paper} if paper else {}))
    if write_config:
        _write(write_config, paper)
    ready = _prepare(settings)
    yield ready
    show.facts(show.console(), {name.replace("_", " "): value for name, value in ready.items()})
    typer.echo("Ready. Try: memgraph-engine demo", err=True)


def _write(file: Path, paper: str) -> None:
    template = _ASSIGNMENT.sub("# ", resource("config", "settings.toml").read_text("utf-8"))
    if paper:
        template = template.replace('# preset = ""', f'preset = "{paper}"')
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(template)
    except FileExistsError:
        raise SettingsError(f"{file} is there already; it was left as it is.") from None
    except OSError as error:
        raise SettingsError(f"{file} can't be written: {error.strerror}.") from None
    typer.echo(
        f"Wrote {file}. It is read as ./memgraph-engine.toml, or where MEMGRAPH_ENGINE_CONFIG names it.",
        err=True,
    )


def _prepare(settings: "Settings") -> dict[str, object]:
    """Connect, and return what is ready and where."""
    from memgraph_engine.engine import wiring
    from memgraph_engine.graph.server.local import LocalServer

    engine = wiring.build(settings)
    with engine.db as db:
        ready: dict[str, object] = {"neo4j": db.uri, "database": settings.database}
    if not settings.uri:
        server = LocalServer(settings).status()
        ready |= {"version": server.version, "home": server.home, "browser": server.browser_url}
    return ready | {
        "embedder": engine.embedder.name,
        "dimensions": engine.embedder.dimensions,
        "tenant": settings.tenant,
    }

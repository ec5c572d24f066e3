"""What makes an installation ready, and tells how it is."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import Target, connect, on_tenant, printed
from memgraph_engine.cli.group import Commands
from memgraph_engine.errors import SettingsError
from memgraph_engine.resources import resource

if TYPE_CHECKING:
    from memgraph_engine.model.health import Health, Undone
    from memgraph_engine.settings import Settings

_NEXT = """Ready. A conversation to look at: memgraph-engine demo
A memory of your own:               memgraph-engine add "I live in Lisbon." --user ana
                                    memgraph-engine search "Where do I live?" --user ana
From Python: docs/tutorial.md, or for a chat assistant docs/assistant.md"""
_ASSIGNMENT = re.compile(r"^(?=\w+ = )", re.MULTILINE)


@printed
def init(
    write_config: Annotated[
        Path | None, "FILE: Also write a file with all settings, commented out, for you to change."
    ] = None,
    preset: Annotated[str, "NAME: With the settings of a paper, e.g. memfly (docs/papers.md)."] = "",
) -> Iterator[object]:
    """Make Neo4j, the schema and the embedder ready.

    It fetches what is needed, and starts the managed server or connects to the one that the settings name. It can be
    repeated.
    """
    from memgraph_engine.settings import Settings

    settings = Settings.load(**({"preset": preset} if preset else {}))
    if write_config:
        _write(write_config, preset)
    ready = _prepare(settings)
    yield ready
    show.facts({name.replace("_", " "): value for name, value in ready.items()})
    typer.echo(_NEXT, err=True)


def _write(file: Path, preset: str) -> None:
    template = _ASSIGNMENT.sub("# ", resource("config", "settings.toml").read_text("utf-8"))
    if preset:
        template = _with(template, resource("config", "presets", f"{preset}.toml").read_text("utf-8"))
        template = template.replace('# preset = ""', f'preset = "{preset}"')
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


def _with(template: str, preset: str) -> str:
    """Return the file with a preset's values for the defaults, commented out as these."""
    table = ""
    for line in preset.splitlines():
        named = re.match(r"\[(.+)\]|(\w+) = ", line)
        table = named[1] if named and named[1] else table
        if named and named[2]:
            head, found, rest = template.partition(f"\n[{table}]\n")
            own = re.sub(rf"^# {named[2]} = .*$", f"# {line}".replace("\\", r"\\"), rest, count=1, flags=re.MULTILINE)
            template = head + found + own
    return template


def _prepare(settings: "Settings") -> dict[str, object]:
    """Connect, and return what is ready and where."""
    from memgraph_engine.engine import wiring
    from memgraph_engine.graph.server.local import LocalServer

    typer.echo("Connecting to Neo4j; where the settings name none, it is fetched and started here.", err=True)
    wiring.open_database(settings).close()
    typer.echo("Loading the embedding model, which is fetched if it is not here, and making the schema.", err=True)
    engine = wiring.build(settings)
    with engine.db as db:
        ready: dict[str, object] = {"neo4j": db.uri, "database": settings.database}
    if not settings.uri:
        server = LocalServer(settings).status()
        ready |= {"version": server.version, "home": server.home, "browser": server.browser}
    return ready | {
        "embedder": engine.embedder.name,
        "dimensions": engine.embedder.dimensions,
        "tenant": settings.tenant,
    }


@on_tenant
def health(
    on: Target,
    overdue: Annotated[float, "SECONDS: Work that waits longer than this is a fault.", {"min": 0}] = 3600.0,
) -> Iterator[object]:
    """Tell whether the database answers, and what waits.

    It tells the schema and the clock, and what waits for a worker.
    It starts no server and loads no embedder. The exit code is 1 if anything is wrong.
    """
    found = _look(on.tenant, timedelta(seconds=overdue))
    on.failed = not found.ok
    yield found
    waits = {f"waits to {one.job}": _waits(one) for one in found.undone}
    facts = {"server": found.server, "schema": f"{found.schema} of {found.expected}", "clock": f"{found.clock:+} s"}
    topics = {"topics": _topics(found.fresh)} if found.fresh else {}
    show.facts({**facts, **waits, **topics, "state": "well" if found.ok else "not well"})
    for fault in found.faults:
        typer.echo(show.clean(fault), err=True)


def _waits(one: "Undone") -> str:
    notes = f"{show.count(one.notes, 'note')} in " if one.notes else ""
    since = f", since {show.moment(one.since)}" if one.since else ""
    return f"{notes}{one.memories:,} memories{since}"


def _topics(fresh: int) -> str:
    from memgraph_engine.settings import Settings

    after = Settings.load().worker.topics_after
    due = f"; a worker finds topics anew from {after:,} on" if after else ""
    return f"{show.count(fresh, 'new note')} with keywords, in the memory that has most{due}"


def _look(tenant: str | None, overdue: timedelta) -> "Health":
    from memgraph_engine.engine.wiring import open_database
    from memgraph_engine.errors import LocalServerError, StoreError
    from memgraph_engine.graph.health import look
    from memgraph_engine.model.health import Health
    from memgraph_engine.settings import Settings

    settings = Settings.load(**({"tenant": tenant} if tenant else {}))
    if not settings.uri:
        from memgraph_engine.graph.server.local import LocalServer

        if not LocalServer(settings).address():
            return Health("", ("The managed server does not run: memgraph-engine db start starts it.",))
    try:
        with open_database(settings) as db:
            return look(db, settings.tenant, settings.lifecycle.cap, settings.lifecycle.cap_bytes, overdue)
    except (StoreError, LocalServerError) as error:
        return Health(settings.uri, (str(error),))


embedder_app = Commands("embedder", "The database's embedder, and its change.", ("status", "change", "rollback"))


@printed
def calibrate() -> Iterator[object]:
    """Fit relevance for an embedder that was never fitted.

    How relevant notes are, and which are tied, is told on the embedder's own scale then. The database keeps it, and
    clients read it as they connect.
    """
    from memgraph_engine.graph import schema
    from memgraph_engine.recall.relevance import weights
    from memgraph_engine.worker.calibrate import calibrate as calibrated

    with connect(None) as memory:
        embedder = memory.engine.embedder
        found: dict[str, object] = {"embedder": embedder.name, "calibrated": not weights(embedder.name)}
        told = f"{embedder.name} is calibrated with the package; nothing was done."
        if found["calibrated"]:
            one = calibrated(embedder)
            schema.calibrate(memory.engine.db, one.stored())
            found |= {**json.loads(one.stored()), "languages": [*one.languages]}
            told = f"{embedder.name} is calibrated, by the languages that it knows: {', '.join(one.languages)}."
    yield found
    typer.echo(told)

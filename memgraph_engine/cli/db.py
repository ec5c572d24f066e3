"""`memgraph-engine db`: the managed local Neo4j server."""

import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.command import printed
from memgraph_engine.cli.group import Commands
from memgraph_engine.cli.options import Json
from memgraph_engine.cli.show import bar
from memgraph_engine.errors import LocalServerError

if TYPE_CHECKING:  # loaded when a command runs, so that `--help` is fast
    from memgraph_engine.graph.server.backups import Backup
    from memgraph_engine.graph.server.local import LocalServer, Status
    from memgraph_engine.settings import Settings

db_app = Commands("db", "The managed local Neo4j server.")


@db_app.command()
@printed
def start() -> Iterator[object]:
    """Start the server unless it runs.

    It keeps running until `db stop`.
    """
    server = _server()
    server.start()
    found = server.status()
    yield found
    _print(found)


@db_app.command()
@printed
def stop(
    timeout: Annotated[float, "Seconds to wait for a clean stop before the server is killed.", {"min": 0}] = 60.0,
) -> Iterator[object]:
    """Stop the server and wait until it is gone."""
    outcome = _server().stop(timeout)
    yield {"outcome": outcome}
    said = {
        "stopped": "Stopped.",
        "killed": f"It did not stop within {timeout:.0f} s and was killed; the next start recovers its data.",
        "not running": "The managed server does not run.",
    }
    typer.echo(said[outcome])


@db_app.command()
def status(as_json: Json = False) -> None:
    """Tell whether the server runs, and where.

    It tells the address, and where the files are.
    The exit code is 3 if it does not run, and 1 if it runs and can't use its database.
    """
    found = _server().status()
    show.document(found) if as_json else _print(found)
    if not found.running:
        raise typer.Exit(3)
    if found.fault:
        raise LocalServerError(
            f"The managed server can't use its database: {found.fault} If its disk was full, free space. Then start it "
            "again: memgraph-engine db stop, memgraph-engine db start"
        )


@db_app.command()
@printed
def logs(limit: Annotated[int, "--limit -n N: How many lines, at most.", {"min": 1}] = 50) -> Iterator[object]:
    """Print the end of the server's log."""
    found = _server().logs(limit)
    yield found
    typer.echo("\n".join(found) or "There is no log yet.")


@db_app.command()
def browser(
    print_only: Annotated[bool, "--print: Print the address, user and password; open nothing."] = False,
    as_json: Json = False,
) -> None:
    """Open Neo4j Browser on the running server.

    It prints the address, the user and the password too.
    """
    server = _server()
    address, url = server.address(), server.status().browser
    if not (address and url):
        raise LocalServerError("The managed server does not run. Start it: memgraph-engine db start")
    shown = {"browser": url, "user": address.user, "password": address.password}
    show.document(shown) if as_json else _columns(shown)
    if not print_only:
        webbrowser.open(url)


@db_app.command()
@printed
def compact() -> Iterator[object]:
    """Write what the database holds into a new store.

    The new one takes the place of the old one.
    Neo4j leaves the bytes of what was deleted or erased in its files; the new ones have none of them.
    Nobody else can use the server meanwhile; it is started again if it ran. Needs twice the room on the disk.
    """
    from memgraph_engine.graph.server.compaction import compact as compacted

    with bar("Copying", lambda: None) as progress:
        found = compacted(_settings(), progress.reach)
    yield found
    typer.echo(
        f"Copied {found.nodes:,} nodes and {found.relationships:,} relationships: {_mb(found.bytes_before)} before, "
        f"{_mb(found.bytes_after)} after."
    )


@db_app.command()
@printed
def backup(
    path: Annotated[Path, "FILE|FOLDER: The archive to write, or a folder in which it gets a name."],
) -> Iterator[object]:
    """Write all data of the server into an archive.

    It holds the data of all tenants, and the password.
    The server is stopped meanwhile, and started again if it ran. The archive is there when it is whole, and its owner
    alone can read it. `db restore` puts it back.
    """
    from memgraph_engine.graph.server.backups import backup as backed_up

    with bar("Copying", lambda: None) as progress:
        found = backed_up(_settings(), path, progress.reach)
    yield found
    typer.echo(f"Wrote {_archive(found)}")


@db_app.command()
@printed
def restore(
    file: Annotated[Path, "FILE: An archive that `db backup` wrote."],
    yes: Annotated[bool, "--yes -y: Replace without asking."] = False,
) -> Iterator[object]:
    """Put the data of a backup in the place of all there is.

    What is there stays until a server has answered on the restored data. A server that ran is started again. What was
    erased since the backup is there again.
    """
    from memgraph_engine.graph.server.backups import restore as restored

    settings = _settings()
    size = _server().status().data_bytes
    if size and not yes:
        typer.confirm(f"This replaces the managed server's database ({_mb(size)}). Replace it?", abort=True, err=True)
    with bar("Checking", lambda: None) as progress:
        found = restored(settings, file, progress.reach)
    yield found
    typer.echo(f"Restored {_archive(found)}")


def _archive(found: "Backup") -> str:
    return f"{found.path}: {found.files} files, {_mb(found.bytes)}, of {show.moment(found.made)}."


@db_app.command()
def reset(yes: Annotated[bool, "--yes -y: Delete without asking."] = False) -> None:
    """Stop the server and delete all that it has.

    That is its data, password, configuration and logs.
    """
    server = _server()
    found = server.status()
    if not yes:
        typer.confirm(
            f"This deletes the managed server's database ({_mb(found.data_bytes)}), password, configuration "
            f"and logs in {found.home}. Delete them?",
            abort=True,
        )
    server.reset()
    typer.echo(f"Deleted what was in {found.home}.")


def _settings() -> "Settings":
    """Return the settings, and say so if they name another server."""
    from memgraph_engine.settings import Settings

    settings = Settings.load()
    if settings.uri:
        typer.echo(f"The setting uri names {settings.uri}; this is about the managed local server only.", err=True)
    return settings


def _server() -> "LocalServer":
    from memgraph_engine.graph.server.local import LocalServer

    return LocalServer(_settings())


def _print(found: "Status") -> None:
    typer.echo("The managed server runs." if found.running else "The managed server does not run.")
    left = ("running", "fault", "data_bytes")
    shown = {name: value for name, value in vars(found).items() if name not in left and value is not None}
    _columns({**shown, "data": _mb(found.data_bytes)})


def _columns(rows: Mapping[str, object]) -> None:
    for name, value in rows.items():
        typer.echo(f"{name:9} {value}")


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"

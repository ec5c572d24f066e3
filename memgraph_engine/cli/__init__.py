"""The command line: commands that are rows of a table (`rows`), and those that are more than a method of `Memory`."""

import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from memgraph_engine.cli import change, erase, look, papers, rows, serve, servers, setup, show, talk
from memgraph_engine.cli.db import db_app
from memgraph_engine.cli.demo import demo
from memgraph_engine.cli.eval import eval_app
from memgraph_engine.cli.group import Commands, Group
from memgraph_engine.cli.hook import hook
from memgraph_engine.cli.import_ import import_app
from memgraph_engine.cli.serve import worker
from memgraph_engine.errors import MemgraphEngineError
from memgraph_engine.interface.status import status_of
from memgraph_engine.resources import VERSION

__all__ = ["app"]

_HELP = """A knowledge memory engine for LLM agents whose memory is one Neo4j graph.

Exit codes: 0 fine, 1 failed, 2 wrong usage or input that can't be used, 130 interrupted.
"""


class _Commands(Group):
    """Turns an error of ours into a line on stderr and its exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except MemgraphEngineError as error:
            _tell(error)
            raise typer.Exit(status_of(error).exit_code) from None
        except OSError as error:
            if error.errno != errno.ENOSPC or error.filename:  # not of what is printed
                raise
            _tell(f"The output can't be written: {error.strerror}.")
            os._exit(1)  # or Python tries again to write it, and tells that it failed
        return result


def _tell(error: object) -> None:
    typer.secho("Error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
    typer.echo(show.clean(str(error)), err=True)


app = Commands(
    "memgraph-engine",
    _HELP,
    cls=_Commands,
    rich_markup_mode=None,  # half a second of imports for a frame around the help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"memgraph-engine {VERSION}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True, show_default=False)
    ] = False,
) -> None:
    """Take the options that stand before a command."""


_PANELS: Mapping[str, Sequence[Commands | Callable[..., None] | str]] = {
    "Talk to a memory": (talk.add, talk.ingest, talk.search, talk.ask, "context", "prompt", "reflect", hook),
    "Look at what it holds": (
        *("get", "list", "source", "history", "explain", "decisions", look.profile, "facts", "sessions", "stats"),
        *("cost", "anchors", look.audit_app),
    ),
    "Change it": (
        *("update", change.delete, "undo", "untie", "pin", "unpin", "restore", "end-session", change.policy_app),
    ),
    "Erase for good": (erase.forget, erase.hold, "release", "receipts", erase.verify_erasure),
    "Run it": (
        *(setup.init, demo, serve.serve, serve.mcp, worker, db_app, serve.keys_app, "users", servers.tenants_app),
        *(servers.servers_app, setup.health),
        *("verify", "export", import_app, talk.process, "sweep", change.limit, "evict", "render", setup.calibrate),
        setup.embedder_app,
    ),
    "From the papers": (papers.topics_app, papers.blocks_app, papers.claims_app, "evolve", eval_app),
}
"""All commands, those that are in the table of rows by name, in the order in which help lists them."""
for panel, some in _PANELS.items():
    for one in some:
        if isinstance(one, Commands):
            app.add_typer(one, rich_help_panel=panel)
        elif isinstance(one, str):
            app.command(one, rich_help_panel=panel)(rows.command(one))
        else:
            lenient = dict.fromkeys(("ignore_unknown_options", "allow_extra_args"), one is hook)
            app.command(rich_help_panel=panel, context_settings=lenient)(one)  # agents stop at the exit code 2

"""The command line. Each command is a thin function over `Memory` in a file of its own."""

import errno
import os
import sys
from typing import Annotated, Any

import typer

from memgraph_engine import __version__
from memgraph_engine.cli import show
from memgraph_engine.cli.add import add
from memgraph_engine.cli.ask import ask
from memgraph_engine.cli.audit import audit_app
from memgraph_engine.cli.blocks import blocks_app
from memgraph_engine.cli.calibrate import calibrate
from memgraph_engine.cli.claims import claims_app
from memgraph_engine.cli.context import context
from memgraph_engine.cli.cost import cost
from memgraph_engine.cli.db import db_app
from memgraph_engine.cli.decisions import decisions
from memgraph_engine.cli.delete import delete
from memgraph_engine.cli.demo import demo
from memgraph_engine.cli.end_session import end_session
from memgraph_engine.cli.eval import eval_app
from memgraph_engine.cli.evict import evict
from memgraph_engine.cli.evolve import evolve
from memgraph_engine.cli.explain import explain
from memgraph_engine.cli.export import export
from memgraph_engine.cli.forget import forget
from memgraph_engine.cli.get import get
from memgraph_engine.cli.group import Group
from memgraph_engine.cli.health import health
from memgraph_engine.cli.history import history
from memgraph_engine.cli.hold import hold
from memgraph_engine.cli.import_ import import_app
from memgraph_engine.cli.ingest import ingest
from memgraph_engine.cli.init import init
from memgraph_engine.cli.keys import keys_app
from memgraph_engine.cli.limit import limit
from memgraph_engine.cli.list import list_notes
from memgraph_engine.cli.mcp import mcp
from memgraph_engine.cli.pin import pin
from memgraph_engine.cli.policy import policy_app
from memgraph_engine.cli.process import process
from memgraph_engine.cli.profile import profile
from memgraph_engine.cli.prompt import prompt
from memgraph_engine.cli.receipts import receipts
from memgraph_engine.cli.reflect import reflect
from memgraph_engine.cli.release import release
from memgraph_engine.cli.render import render
from memgraph_engine.cli.restore import restore
from memgraph_engine.cli.search import search
from memgraph_engine.cli.serve import serve
from memgraph_engine.cli.sessions import sessions
from memgraph_engine.cli.stats import stats
from memgraph_engine.cli.sweep import sweep
from memgraph_engine.cli.tenants import tenants
from memgraph_engine.cli.topics import topics_app
from memgraph_engine.cli.undo import undo
from memgraph_engine.cli.unpin import unpin
from memgraph_engine.cli.untie import untie
from memgraph_engine.cli.update import update
from memgraph_engine.cli.users import users
from memgraph_engine.cli.verify import verify
from memgraph_engine.cli.verify_erasure import verify_erasure
from memgraph_engine.cli.worker import worker
from memgraph_engine.errors import MemgraphEngineError
from memgraph_engine.interface.status import status_of

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


app = typer.Typer(
    name="memgraph-engine",
    cls=_Commands,
    help=_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,  # half a second of imports for a frame around the help
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"memgraph-engine {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_version, is_eager=True, show_default=False),
    ] = False,
) -> None:
    """Take the options that stand before a command."""


app.command("init")(init)
app.command("calibrate")(calibrate)
app.command("demo")(demo)
app.command("add")(add)
app.command("ingest")(ingest)
app.command("process")(process)
app.command("worker")(worker)
app.command("serve")(serve)
app.command("search")(search)
app.command("ask")(ask)
app.command("context")(context)
app.command("prompt")(prompt)
app.command("reflect")(reflect)
app.command("profile")(profile)
app.command("get")(get)
app.command("list")(list_notes)
app.command("history")(history)
app.command("explain")(explain)
app.command("update")(update)
app.command("delete")(delete)
app.command("decisions")(decisions)
app.command("undo")(undo)
app.command("untie")(untie)
app.command("forget")(forget)
app.command("receipts")(receipts)
app.command("verify-erasure")(verify_erasure)
app.command("sweep")(sweep)
app.command("end-session")(end_session)
app.command("restore")(restore)
app.command("limit")(limit)
app.command("evict")(evict)
app.command("evolve")(evolve)
app.command("pin")(pin)
app.command("unpin")(unpin)
app.command("hold")(hold)
app.command("release")(release)
app.command("export")(export)
app.add_typer(import_app, name="import")
app.command("render")(render)
app.command("stats")(stats)
app.command("users")(users)
app.command("sessions")(sessions)
app.command("tenants")(tenants)
app.command("cost")(cost)
app.command("verify")(verify)
app.command("health")(health)
app.command("mcp")(mcp)
app.add_typer(keys_app, name="keys")
app.add_typer(audit_app, name="audit")
app.add_typer(policy_app, name="policy")
app.add_typer(topics_app, name="topics")
app.add_typer(blocks_app, name="blocks")
app.add_typer(claims_app, name="claims")
app.add_typer(eval_app, name="eval")
app.add_typer(db_app, name="db")

"""What commands have in common: whose memory they are on, how it is reached, and `--json`.

A command is a generator: it yields what `--json` prints, and what stands behind that prints it for people.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.options import NARROWING, Json, Shared, Tenant, User, again, strings, taking, whose
from memgraph_engine.errors import NotFound
from memgraph_engine.interface.filters import filters_of
from memgraph_engine.remote import Remote

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose
    from memgraph_engine.model.result import Decision

_TOLD = 5  # decisions whose undo is told
_MOST_NEAR = 3


def connect(tenant: str | None, *, deferred: bool = False) -> "Memory":
    """Connect as the settings say, a `deferred` embedder to be loaded when it embeds, if ever.

    The imports that this takes are made here, so that `--help` is fast.
    """
    from memgraph_engine.client import Memory
    from memgraph_engine.engine.wiring import build
    from memgraph_engine.recall.ranking import rankings
    from memgraph_engine.settings import Settings

    if not deferred:
        return Memory.connect(tenant=tenant)
    settings = Settings.load(**({} if tenant is None else {"tenant": tenant}))
    rankings(settings.recall.ranking)  # as Memory.connect does
    return Memory(build(settings, deferred=True))


class Target(ExitStack):
    """The memory that a command is on; it is reached when it is asked for, and left when all is printed."""

    failed = False  # the exit code is 1, however the result is printed

    def __init__(self, owner: "Whose", tenant: str | None, *, as_json: bool) -> None:
        super().__init__()
        self.owner, self.tenant, self.as_json = owner, tenant, as_json
        self._known: Memory | None = None

    def memory(self, *, asking: bool = False) -> "Memory":
        """Reach it for a user who was written to, or the shared memory; raises NotFound that names the nearest users.

        A question (`asking`) is asked of the shared memory where the tenant has one, and the user is told of.
        """
        if self._known is None:
            memory, user = self.connect(), self.owner["user_id"]
            if user is not None and not _written(memory, user):
                unknown = _unknown(memory, user)
                if not (asking and _written(memory, None)):
                    raise NotFound(unknown)
                typer.echo(f"{unknown} The shared memory is asked.", err=True)
            self._known = memory
        return self._known

    def server(self) -> Remote | None:
        """Return the server that the settings name; None without one, or with --tenant: there a key says which."""
        return None if self.tenant else Remote.of_settings()

    def connect(self) -> "Memory":
        """Reach it for anybody, or for the whole tenant."""
        return self.enter_context(connect(self.tenant, deferred=True))

    def spread(self, ray: str | None) -> "Memory":
        """Reach it for the whole tenant; the nodes of a Ray cluster, if one is named, store what is given in bulk."""
        if ray is None:
            return self.connect()
        from memgraph_engine import fleet
        from memgraph_engine.settings import Settings

        return self.enter_context(fleet.over(Settings.load(**({"tenant": self.tenant} if self.tenant else {})), ray))

    def again(self, command: str) -> str:
        """Return a command on the same memory, as a hint tells it."""
        return again(command, self.owner, self.tenant)

    def faults(self, found: Sequence[str]) -> Iterator[object]:
        """Yield the faults that a check found, and print a line for each; the command fails if there is one."""
        self.failed = bool(found)
        yield found
        for line in found or ["No faults."]:
            typer.echo(show.clean(line))

    def undoing(self, how: str, decisions: "Sequence[Decision]", fallbacks: Sequence[str] = ()) -> None:
        """Say on standard error why models were not used, and how to take back what was decided."""
        show.fallbacks(fallbacks)
        for decision in decisions[:_TOLD]:
            typer.echo(show.clean(f"{how}: {self.again(f'undo {decision.id}')}"), err=True)
        if len(decisions) > _TOLD:
            more = f"And {len(decisions) - _TOLD:,} more decisions. To list them: {self.again('decisions')}"
            typer.echo(show.clean(more), err=True)


def _unknown(memory: "Memory", user: str) -> str:
    """Say that there is no such user, and which are like it."""
    tenant = memory.engine.settings.tenant
    names = [one.id for one in memory.users()]
    said = f"There is no user {user!r} in tenant {tenant!r}"
    if near := _near(user, names):
        return show.clean(f"{said}. Did you mean {' or '.join(map(repr, near))}?")
    if not names:
        return show.clean(f"{said}, nor any other; `memgraph-engine tenants list` lists the tenants.")
    return show.clean(f"{said}; `memgraph-engine users --tenant {quote(tenant)}` lists those that there are.")


def _written(memory: "Memory", user: str | None) -> bool:
    from memgraph_engine.graph import scopes
    from memgraph_engine.model.scope import Scope

    name = Scope(memory.engine.settings.tenant, user).name
    return scopes.state(memory.engine.db, name) is not None or scopes.left(memory.engine.db, name)


def _near(user: str, names: Iterable[str]) -> list[str]:
    """Return the names that are most like a user's, whatever their case."""
    folded: dict[str, str] = {}
    for name in names:
        folded.setdefault(name.casefold(), name)
    return [folded[one] for one in get_close_matches(user.casefold(), folded, n=_MOST_NEAR)]


Command = Callable[..., Iterator[object]]


def _option(name: str, kind: Any, default: object = None) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


_WHOSE = (_option("user", User), _option("shared", Shared, False))
_TENANT, _JSON = _option("tenant", Tenant), _option("as_json", Json, False)


def on_memory(command: Command) -> Callable[..., None]:
    """Give a command the options that say whose memory it is on, and --json; and for `filters`, those that narrow."""
    return _run(command, [*_WHOSE, _TENANT], [_JSON])


def on_tenant(command: Command) -> Callable[..., None]:
    """Give a command --tenant and --json."""
    return _run(command, [], [_TENANT, _JSON])


def printed(command: Command) -> Callable[..., None]:
    """Give a command --json alone; it is on no memory."""
    return _run(command, [], [_JSON])


def _run(command: Command, before: Sequence[Parameter], after: Sequence[Parameter]) -> Callable[..., None]:
    own = dict(signature(command).parameters)
    target = own.pop("on", None)
    filters = NARROWING[own["filters"].annotation] if "filters" in own else {}
    narrowing = [_option(name, kind) for name, kind in filters.items()]

    @wraps(command)
    def run(**given: Any) -> None:
        common = {one.name: given.pop(one.name) for one in (*before, *after)}
        owner: Whose = {"user_id": None, "shared": False}
        if before:
            owner = whose(common["user"], common["shared"])
        if filters:
            given["filters"] = filters_of({name: strings(given.pop(name)) for name in filters})
        with Target(owner, common.get("tenant"), as_json=common["as_json"]) as on:
            steps = command(on, **given) if target else command(**given)
            found = next(steps)
            if not on.as_json:
                for _ in steps:
                    pass
            elif isinstance(found, Iterator):
                show.array(found)
            else:
                show.document(found)
        if on.failed:
            raise typer.Exit(1)

    between = [part for one in own.values() for part in (narrowing if one.name == "filters" else [one])]
    return taking(run, [*before, *between, *after])

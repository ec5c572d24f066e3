"""What commands have in common: whose memory they are on, how it is reached, and `--json`.

A command is a generator: it yields what `--json` prints, and what stands behind that prints it for people.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import typer

from memgraph_engine.cli import show
from memgraph_engine.cli.connect import connect, known
from memgraph_engine.cli.options import NARROWING, Json, Shared, Tenant, User, again, called_with, strings, whose
from memgraph_engine.interface.filters import filters_of

if TYPE_CHECKING:
    from memgraph_engine.client import Memory
    from memgraph_engine.interface.whose import Whose
    from memgraph_engine.model.result import Decision

_TOLD = 5  # decisions whose undo is told


class Target(ExitStack):
    """The memory that a command is on; it is reached when it is asked for, and left when all is printed."""

    failed = False  # the exit code is 1, however the result is printed

    def __init__(self, owner: "Whose", tenant: str | None, *, as_json: bool) -> None:
        super().__init__()
        self.owner, self.tenant, self.as_json = owner, tenant, as_json
        self._known: Memory | None = None

    def memory(self, *, asking: bool = False) -> "Memory":
        """Reach it for a user who was written to, or the shared memory (`connect.known`)."""
        self._known = self._known or self.enter_context(known(self.tenant, self.owner, asking=asking))
        return self._known

    def connect(self) -> "Memory":
        """Reach it for anybody, or for the whole tenant."""
        return self.enter_context(connect(self.tenant))

    def again(self, command: str) -> str:
        """Return a command on the same memory, as a hint tells it."""
        return again(command, self.owner, self.tenant)

    def shown(self, found: object, none: str = "", again: str = "") -> Iterator[object]:
        """Yield a result and display it; of an empty list say that there is `none`, and which command makes some."""
        yield found
        from memgraph_engine.cli.display import display

        if not display(found, self) and none:
            typer.echo(f"{none}: {self.again(again)}" if again else none, err=not again)

    def decided(self, done: str, decision: "Decision") -> Iterator[object]:
        """Yield the one decision that a command made, and print what it did."""
        yield decision
        typer.echo(f"{show.clean(done)} (decision {decision.id}).")

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


Command = Callable[..., Iterator[object]]
_ONE: Mapping[str, tuple[Any, object]] = {"user": (User, None), "shared": (Shared, False), "tenant": (Tenant, None)}
_JSON: Mapping[str, tuple[Any, object]] = {"as_json": (Json, False)}


def on_memory(command: Command) -> Callable[..., None]:
    """Give a command the options that say whose memory it is on, and --json; and for `filters`, those that narrow."""
    return _with(command, _ONE, _JSON)


def on_tenant(command: Command) -> Callable[..., None]:
    """Give a command --tenant and --json."""
    return _with(command, {}, {"tenant": _ONE["tenant"], **_JSON})


def printed(command: Command) -> Callable[..., None]:
    """Give a command --json alone; it is on no memory."""
    return _with(command, {}, _JSON)


def _with(
    command: Command, before: Mapping[str, tuple[Any, object]], after: Mapping[str, tuple[Any, object]]
) -> Callable[..., None]:
    own = dict(signature(command).parameters)
    target = own.pop("on", None)
    filters = NARROWING[own["filters"].annotation] if "filters" in own else {}
    narrowing = _options({name: (option, None) for name, option in filters.items()})

    def run(**given: Any) -> None:
        common = {name: given.pop(name) for name in (*before, *after)}
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

    parameters = [part for one in own.values() for part in (narrowing if one.name == "filters" else [one])]
    return called_with(run, command, [*_options(before), *parameters, *_options(after)])


def _options(some: Mapping[str, tuple[Any, object]]) -> list[Parameter]:
    return [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in some.items()
    ]

"""Options that several commands share, and what the tab key offers behind them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

import typer

from memgraph_engine.cli.show import clean
from memgraph_engine.errors import InvalidInput
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import ABOUT, FILTERS, NOTE_FILTERS, NoteFilters, SearchFilters, metadata_of
from memgraph_engine.interface.whose import Whose

if TYPE_CHECKING:
    from memgraph_engine.graph.database import Database
    from memgraph_engine.settings import Settings

_SECONDS = 2.0  # that a terminal waits at most for the server
_MOST = 200  # names
_PLAIN = re.compile(r"[\w.+@%][\w.+@%:/=-]*")  # others a shell might run, cut in two or take for an option


def user_names(context: typer.Context, incomplete: str) -> list[str]:
    """Return the users of the tenant whose names begin so."""
    from memgraph_engine.graph import scopes

    return _named(context, incomplete, lambda db, tenant: (user.id for user in scopes.users(db, tenant)))


def session_names(context: typer.Context, incomplete: str) -> list[str]:
    """Return the sessions that begin so, of the user that was named, or of the shared memory."""
    from memgraph_engine.graph import scopes
    from memgraph_engine.model.scope import Scope

    user, shared = context.params.get("user"), context.params.get("shared")
    if not user and not shared:
        return []

    def found(db: "Database", tenant: str) -> Iterable[str]:
        return (one.id for one in scopes.sessions(db, Scope(tenant, user).name))

    return _named(context, incomplete, found)


def _named(context: typer.Context, incomplete: str, find: "Callable[[Database, str], Iterable[str]]") -> list[str]:
    from memgraph_engine.errors import MemgraphEngineError
    from memgraph_engine.settings import Settings

    try:
        settings = Settings.load()
        tenant = context.params.get("tenant") or settings.tenant
        if not (db := _database(settings)):
            return []
        with db:
            names = (name for name in find(db, tenant) if name.startswith(incomplete))
            return [name for name in names if _PLAIN.fullmatch(name)][:_MOST]
    except MemgraphEngineError:
        return []


def _database(settings: "Settings") -> "Database | None":
    """Reach the server of the settings, or the managed one if it runs."""
    from memgraph_engine.graph.database import Address, Database
    from memgraph_engine.graph.server.local import LocalServer

    at = Address.of(settings) or LocalServer(settings).address()
    return Database(at, database=settings.database, connect_timeout=_SECONDS, retry_time=0.0) if at else None


Command = TypeVar("Command", bound=Callable[..., Any])

User = Annotated[str | None, "--user -u NAME: The user whose memory is meant.", {"autocompletion": user_names}]
Shared = Annotated[bool, "Take the tenant's shared memory, not a user's."]
Tenant = Annotated[str | None, "NAME: The tenant; else the setting `tenant`."]
Json = Annotated[bool, "--json: Print one JSON document, for machines."]
Ray = Annotated[str | None, "--ray ADDRESS: Do it on the nodes of a Ray cluster at HOST:PORT; auto: on this machine."]
NoWait = Annotated[
    bool, "Store it, and let `process` construct its note later; until then search finds it by its words."
]
Query = Annotated[str, "QUERY: What you want to know."]
MANY: Mapping[str, Any] = {"min": 1, "max": MOST}
"""How many of something can be asked for."""
Considered = Annotated[int, "--top-k -n N: How many notes are considered, at most.", MANY]
Budget = Annotated[int | None, "TOKENS: The most tokens of the context, 200 or more; else the setting `answer.budget`."]
History = Annotated[
    str,
    "ID: The conversation that goes on: its last turns tell what the question refers back to.",
    {"autocompletion": session_names},
]
NoteId = Annotated[str, "ID: The id of a note, or of one of its sources."]
_LINE = re.compile(r"((?:--?[a-z][\w/-]* ?)*)([A-Z][A-Z=|]*)?: (.*)")


def whose(user: str | None, shared: bool) -> Whose:
    """Return whose memory is meant; it takes exactly one of the two options."""
    if shared and user is not None:
        raise typer.BadParameter(
            "it means the tenant's memory, which belongs to no user: leave one of the two out.", param_hint="--shared"
        )
    if not shared and not user:
        raise typer.BadParameter("say whose memory is meant, or --shared for the tenant's.", param_hint="--user")
    return {"user_id": user, "shared": shared}


def again(command: str, owner: Whose, tenant: str | None) -> str:
    """Return a command as a hint tells it: of the memory that was meant.

    >>> again("undo 4f", {"user_id": "ana lee", "shared": False}, "acme")
    "memgraph-engine undo 4f --user 'ana lee' --tenant acme"
    """
    whom = "--shared" if owner["shared"] else f"--user {quote(str(owner['user_id']))}"
    return clean(f"memgraph-engine {command} {whom}{f' --tenant {quote(tenant)}' if tenant else ''}")


def metadata(pairs: Sequence[str]) -> dict[str, object]:
    """Read the values of --metadata; one that can't be read is wrong usage."""
    try:
        return metadata_of(pairs)
    except InvalidInput as error:
        raise typer.BadParameter(str(error), param_hint="--metadata") from None


_LISTED = list[str] | None
_FILTERS: Mapping[str, tuple[Any, str]] = {
    "tags": (_LISTED, "--tag "),
    "any_tags": (_LISTED, "--any-tag "),
    **dict.fromkeys(("metadata", "policy", "not_policy", "include"), (_LISTED, "")),
    "min_similarity": (float | None, ""),
    "archived": (bool | None, "--archived: "),
}
FILTER_OPTIONS: dict[str, Any] = {
    name: Annotated[kind, f"{names}{ABOUT[name]}", {"autocompletion": session_names if name == "session" else None}]
    for name in FILTERS
    for kind, names in [_FILTERS.get(name, (str | None, ""))]
}
"""The option of each filter that a question takes (`interface.filters`)."""
NOTE_OPTIONS: dict[str, Any] = {name: FILTER_OPTIONS[name] for name in NOTE_FILTERS}
"""Those that a listing takes."""
NARROWING: Mapping[Any, Mapping[str, Any]] = {NoteFilters: NOTE_OPTIONS, SearchFilters: FILTER_OPTIONS}
"""The options that stand in place of a command's parameter `filters`, by its type."""


def strings(value: object) -> list[str]:
    """Return the value of an option as `filters_of` reads it."""
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def taking(command: Command, parameters: Iterable[Parameter]) -> Command:
    """Give a command these parameters, by which Typer calls it, whatever its own are."""
    given = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]
    # Typer reads the options off these two
    command.__signature__ = Signature(given)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in given}
    return command


def described(command: Command) -> Command:
    """Give a command the options that its parameters are annotated with, each in a line."""
    return taking(command, map(_read, signature(command).parameters.values()))


def _read(parameter: Parameter) -> Parameter:
    """Return a parameter of a command as Typer reads it.

    It is annotated with a line of help, such as "--limit -n N: What it means", and by what else Typer is to know. The
    names are left out where the parameter has the only one; a switch has no N. Without a name and a default it is an
    argument.

    >>> def evict(most: Annotated[int, "--most -n N: How many, at most.", {"min": 1}] = 20): ...
    >>> (option,) = (_read(one).annotation.__metadata__[0] for one in signature(evict).parameters.values())
    >>> option.metavar, option.help, option.min
    ('N', 'How many, at most.', 1)
    """
    kind, told, *more = get_args(parameter.annotation) or (None, None)
    if not isinstance(told, str):
        return parameter
    found = _LINE.fullmatch(told)
    names, metavar, meaning = found.groups() if found else ("", None, told)
    given: dict[str, Any] = {"metavar": metavar, "help": meaning, **(more[0] if more else {})}
    option: Any = (
        typer.Argument(**given)
        if parameter.default is Parameter.empty and not names
        else typer.Option(*(names.split() or [f"--{parameter.name.replace('_', '-')}"]), **given)
    )
    return parameter.replace(annotation=Annotated[kind, option])

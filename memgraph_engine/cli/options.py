"""Options that several commands share."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from shlex import quote
from typing import Annotated, Any, TypeVar

import typer

from memgraph_engine.cli import complete
from memgraph_engine.errors import InvalidInput
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.interface.filters import filters_of, metadata_of
from memgraph_engine.interface.whose import Whose
from memgraph_engine.model.marker import shown

Told = TypeVar("Told")

User = Annotated[
    str | None,
    typer.Option("--user", "-u", metavar="NAME", help="The user whose memory is meant.", autocompletion=complete.users),
]
Shared = Annotated[
    bool,
    typer.Option("--shared", help="Take the tenant's shared memory, not a user's.", show_default=False),
]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="The tenant; else the setting `tenant`.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for machines.", show_default=False)]
NoWait = Annotated[
    bool,
    typer.Option(
        "--no-wait",
        help="Store it, and let `process` construct its note later; until then search finds it by its words.",
        show_default=False,
    ),
]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")]
Considered = Annotated[
    int, typer.Option("--top-k", "-k", metavar="N", min=1, max=MOST, help="How many notes are considered, at most.")
]
Budget = Annotated[
    int | None,
    typer.Option(
        metavar="TOKENS", help="The most tokens of the context, 200 or more; else the setting `answer.budget`."
    ),
]
History = Annotated[
    str,
    typer.Option(
        metavar="ID",
        help="The conversation that goes on: its last turns tell what the question refers back to.",
        autocompletion=complete.sessions,
    ),
]
NoteId = Annotated[str, typer.Argument(metavar="ID", help="The id of a note, or of one of its sources.")]


def _one(metavar: str, meaning: str) -> object:
    return Annotated[str | None, typer.Option(metavar=metavar, help=meaning)]


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
    return shown(f"memgraph-engine {command} {whom}{f' --tenant {quote(tenant)}' if tenant else ''}")


def metadata(pairs: Sequence[str]) -> dict[str, object]:
    """Read the values of --meta; one that can't be read is wrong usage."""
    try:
        return metadata_of(pairs)
    except InvalidInput as error:
        raise typer.BadParameter(str(error), param_hint="--meta") from None


NOTE_OPTIONS: dict[str, Any] = {
    "session": Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Only notes of this conversation or document.", autocompletion=complete.sessions
        ),
    ],
    "speaker": _one("NAME", "Only what this speaker said."),
    "role": _one("ROLE", "Only messages of this role."),
    "agent": _one("ID", "Only what was said to this agent."),
    "kind": _one("KIND", "Only what came as this: message, document, code, api_result or item."),
    "since": _one("TIME", "Only what was said then or later, ISO 8601."),
    "until": _one("TIME", "Only what was said then or before, ISO 8601."),
    "tags": Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only notes with this tag; can be repeated.")
    ],
    "metadata": Annotated[
        list[str] | None,
        typer.Option(
            "--meta", metavar="KEY=VALUE", help="Only notes with this entry in the metadata; can be repeated."
        ),
    ],
}
"""The option of each filter that a listing takes (`interface.filters`)."""
FILTER_OPTIONS: dict[str, Any] = {
    **NOTE_OPTIONS,
    "as_of": _one("TIME", "Ask what was true in the world then; a day means its end."),
    "known_at": _one("TIME", "Ask what the memory held then (nothing before its import); a day means its end."),
    "min_similarity": Annotated[
        float | None, typer.Option(metavar="X", help="Only notes at least this similar to the question, -1 to 1.")
    ],
    "include": Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY", help="Also notes of this policy, which are shown only if asked for; can be repeated."
        ),
    ],
    "archived": Annotated[
        bool | None, typer.Option("--archived", help="Also notes that a summary stands for; they are found by words.")
    ],
}
"""The option of each filter that a question takes."""


def _strings(value: object) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def filtered(command: Callable[..., Told]) -> Callable[..., Told]:
    """Give a command, in place of its parameter `filters`, the options that narrow a question down."""
    return _taking(command, FILTER_OPTIONS)


def narrowed(command: Callable[..., Told]) -> Callable[..., Told]:
    """Likewise those that narrow a listing down."""
    return _taking(command, NOTE_OPTIONS)


def _taking(command: Callable[..., Told], filters: Mapping[str, Any]) -> Callable[..., Told]:
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=option) for name, option in filters.items()
    ]
    parameters: list[Parameter] = []
    for own in signature(command).parameters.values():
        parameters += options if own.name == "filters" else [own]

    def run(*on: object, **given: Any) -> Told:
        values = {name: given.pop(name) for name in filters}
        lists = {name: _strings(value) for name, value in values.items()}
        return command(*on, **given, filters=filters_of(lists))

    return called_with(run, command, parameters)


def called_with(
    run: Callable[..., Told], command: Callable[..., object], parameters: list[Parameter]
) -> Callable[..., Told]:
    """Let a function stand for a command: with its name and help, and with these parameters."""
    run = wraps(command)(run)
    given = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]
    # Typer calls by name, and reads the options off these two
    run.__signature__ = Signature(given)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in given}
    return run

"""Options that several commands share."""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

if TYPE_CHECKING:
    from memgraph_engine.reading import Narrowing

User = Annotated[str | None, typer.Option("--user", "-u", metavar="NAME", help="Whose memory.")]
Shared = Annotated[
    bool,
    typer.Option("--shared", help="The tenant's shared memory, instead of a user's.", show_default=False),
]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="The tenant; else the setting `tenant`.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, for machines.", show_default=False)]
NoWait = Annotated[
    bool,
    typer.Option(
        "--no-wait", help="Only store it, to be found by its words; `process` does the rest.", show_default=False
    ),
]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")]
Session = Annotated[str | None, typer.Option(metavar="ID", help="Only of this conversation.")]
Speaker = Annotated[str | None, typer.Option(metavar="NAME", help="Only what this one said.")]
Role = Annotated[str | None, typer.Option(metavar="ROLE", help="Only of this role.")]
Agent = Annotated[str | None, typer.Option(metavar="ID", help="Only what was said to this agent.")]
Since = Annotated[str | None, typer.Option(metavar="TIME", help="Not said before, ISO 8601.")]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="Not said after, ISO 8601.")]
AsOf = Annotated[str | None, typer.Option(metavar="TIME", help="What was true in the world then; a day means its end.")]
KnownAt = Annotated[str | None, typer.Option(metavar="TIME", help="What this memory held then; likewise.")]
Tag = Annotated[list[str] | None, typer.Option(metavar="TAG", help="With this tag; can be repeated.")]
Meta = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="With this entry in the metadata; can be repeated.")
]
MinSimilarity = Annotated[float | None, typer.Option(metavar="X", help="At least this near to the question, -1 to 1.")]
Considered = Annotated[int, typer.Option("--top-k", "-k", metavar="N", help="At most this many notes are considered.")]
Budget = Annotated[
    int | None,
    typer.Option(metavar="TOKENS", help="Of the context, 200 or more; else the setting `answer.budget`."),
]
NoteId = Annotated[str, typer.Argument(metavar="ID", help="A note's id, or that of one of its sources.")]


class Whose(TypedDict):
    """The arguments by which each method of Memory knows whose memory is meant."""

    user_id: str | None
    shared: bool


def whose(user: str | None, shared: bool) -> Whose:
    """Return whose memory is meant; asking for none or for two is wrong usage."""
    if shared and user is not None:
        raise typer.BadParameter("it is the tenant's memory, which has no user: leave one out.", param_hint="--shared")
    if not shared and not user:
        raise typer.BadParameter("say whose memory is meant, or --shared for the tenant's.", param_hint="--user")
    return {"user_id": user, "shared": shared}


def metadata(pairs: Sequence[str]) -> dict[str, object]:
    """Read KEY=VALUE pairs; a value that is JSON (2, true) is taken as that, any other as text.

    >>> metadata(["room=blue", "floor=2"])
    {'room': 'blue', 'floor': 2}
    """
    read: dict[str, object] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not key or not sign:
            raise typer.BadParameter(f"{pair!r} is not of the form KEY=VALUE.", param_hint="--meta")
        if key in read:
            raise typer.BadParameter(f"{key!r} is given twice.", param_hint="--meta")
        try:
            read[key] = json.loads(value)
        except (ValueError, RecursionError):
            read[key] = value
    return read


def _narrowing(
    session: Session = None,
    speaker: Speaker = None,
    role: Role = None,
    agent: Agent = None,
    since: Since = None,
    until: Until = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    tag: Tag = None,
    meta: Meta = None,
    min_similarity: MinSimilarity = None,
) -> "Narrowing":
    return {
        "session": session,
        "speaker": speaker,
        "role": role,
        "agent": agent,
        "since": since,
        "until": until,
        "as_of": as_of,
        "known_at": known_at,
        "tags": tag or (),
        "metadata": metadata(meta or []),
        "min_similarity": min_similarity,
    }


def narrowed(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of its parameter `narrowing`, the options that narrow a question down."""
    options = signature(_narrowing).parameters
    parameters: list[Parameter] = []
    for own in signature(command).parameters.values():
        parameters += options.values() if own.name == "narrowing" else [own]

    @wraps(command)
    def run(**given: object) -> None:
        narrowing = _narrowing(**{name: given.pop(name) for name in options})  # type: ignore[arg-type]
        command(**given, narrowing=narrowing)

    # Typer calls by name, and reads the options off these two
    run.__signature__ = Signature([one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run

"""From what a caller gives (texts, mappings, objects of chat libraries) to Sources: all checked, id and hash made."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, cast, get_args
from zoneinfo import ZoneInfo

from memgraph_engine.errors import InvalidInput, named
from memgraph_engine.ingest import chat
from memgraph_engine.interface.arguments import deeper, meant
from memgraph_engine.interface.defaults import MOST
from memgraph_engine.language.dates import as_day
from memgraph_engine.model.item import is_items
from memgraph_engine.model.marker import shows
from memgraph_engine.model.memory import NEVER, UNKNOWN_PAST, Source, SourceKind
from memgraph_engine.model.redaction import KEEPING, Redaction
from memgraph_engine.trust import TRUST, Trust, below, by_origin

if TYPE_CHECKING:
    from memgraph_engine.lifecycle.policies import Policies
    from memgraph_engine.model.scope import Scope
    from memgraph_engine.settings import Settings


class MessageObject(Protocol):
    """An object of a chat library, which Pydantic made: it gives its fields by `model_dump`."""

    def model_dump(self) -> Mapping[str, object]:
        """Return the message as a mapping."""


Message = str | Mapping[str, object] | MessageObject
"""A text, or a message as chat APIs give it: a mapping, or an object of their libraries."""


class MessageFields(TypedDict, total=False):
    """The fields of a message; `Memory.add_many` says what each means."""

    id: str
    kind: SourceKind
    role: str
    speaker: str
    agent: str
    text: str
    caption: str
    session: str
    time: datetime | str
    tags: Sequence[str]
    metadata: Mapping[str, object]
    policy: str
    expires: datetime | str
    trust: Trust


FIELDS = tuple(MessageFields.__annotations__)
_KINDS = tuple(kind for kind in get_args(SourceKind) if kind != "item")  # those are put by a store, under keys
_NAMES = ("id", "role", "speaker", "agent", "session")
_LONGEST_NAME = 512
_LONGEST_METADATA = 16_384
_LONGEST_CAPTION = 65_536  # unlike a text, it is not cut into passages
_MOST_TAGS = 64
_UNHEARD = ("system", "tool")  # these are kept, and make no notes unless they are asked for
_MOST_UNHEARD = 1_000_000  # characters; also the most that max_text may be
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_DEEPEST = 200  # Python's own limit is 1,000 calls, of which a program has used some
_YEARS = range(2, 9999)  # the first and last year stand for "since ever" and "never"
_CALLED = {  # what else programs call the fields
    "id": ("message_id", "msg_id", "uuid"),
    "text": ("message", "msg", "body"),
    "speaker": ("user", "user_name", "username", "author", "sender", "from"),
    "session": ("session_id", "conversation", "conversation_id", "thread", "thread_id", "chat_id"),
    "time": ("said_at", "sent_at", "created_at", "at", "when", "date", "datetime", "timestamp"),
    "tags": ("labels", "categories"),
    "metadata": ("meta", "extra"),
    "expires": ("expires_at", "expiry", "ttl", "until"),
}
_FARTHEST = timedelta(hours=14)  # of a time zone from UTC: Kiribati's
SINGLE = "the message"
"""How messages of errors call one that came alone."""
_LAST = "\U0010ffff"  # no character, and the upper bound of open filters


def messages(given: object, fields: MessageFields) -> list[object]:
    """Return a message, or a few, with the fields that each lacks; without one the fields are the message."""
    if given is None:
        return [fields]
    if "text" in fields:
        raise InvalidInput("add takes a message or a text=, not both.")
    one = as_mapping(given)
    if isinstance(one, Mapping):
        several: Sequence[object] = [one]
    elif isinstance(given, Sequence) and not isinstance(given, bytes | bytearray):
        several = given
    else:
        raise InvalidInput(f"add takes a text, a message or a list of them, not {named(given)}.")
    own = map(as_mapping, several)
    return [{**fields, **each} if isinstance(each, Mapping) else each for each in own]


def source_of(
    settings: "Settings",
    policies: "Policies",
    redaction: Redaction,
    scope: "Scope",
    message: object,
    where: str,
    now: datetime,
) -> Source:
    """Return a message of a scope as a source, which has its policy; raises InvalidInput that says `where`."""
    zone, most = settings.timezone, settings.max_text
    source = parse_message(
        message, where, timezone=zone, max_text=most, user=scope.user or "", now=now, redaction=redaction
    )
    return policies.assigned(source, where, now)


def parse_message(
    given: object,
    where: str,
    *,
    timezone: str,
    max_text: int,
    user: str = "",
    now: datetime | None = None,
    redaction: Redaction = KEEPING,
) -> Source:
    """Check one message (a text, a mapping of FIELDS, or a chat API's own) and return it as a Source.

    A time is ISO 8601 or a datetime; without an offset it is read in `timezone`; so is when it `expires`. Without a
    speaker, the role `user` is that of `user`, and `assistant` that of the message's agent. Without an id, a hash of
    the content is the id, and of `now` where it has no time.
    A turn of a chat, which has a role, may have no words: a model that calls a tool says nothing. What is said to or by
    machines may be longer than `max_text`. `redaction` covers secrets, or refuses them. Raises InvalidInput that names
    `where` and what is wrong.

    >>> parse_message({"role": "user", "content": "Hi!"}, "message 0", timezone="UTC", max_text=100).role
    'user'
    """
    message = as_mapping(given)
    if not isinstance(message, Mapping):
        raise InvalidInput(f"{where} is {named(given)}; a text, or a mapping with its fields, is needed.")
    given = chat.fields(message, where)
    unknown = [key for key in given if key not in FIELDS]
    if unknown:
        near = meant(str(unknown[0]), (*FIELDS, *chat.OTHER_NAMES), _CALLED)
        instead = f" Did you mean {near!r}?" if near else " What else is to be kept of it goes into metadata."
        others = f"{', '.join(chat.OTHER_NAMES)} and tool_calls of chat APIs"
        raise InvalidInput(
            f"{where} has the unknown field {unknown[0]!r}; the fields are {', '.join(FIELDS)}, {others}.{instead}"
        )
    names: Any = {name: _name(given.get(name), f"{where}: {name}") for name in _NAMES}
    if is_items(names["id"]):
        raise InvalidInput(f"{where}: the id {names['id']!r} begins as those of stores' items do; give it another one.")
    if not names["speaker"]:
        names["speaker"] = {"user": user.replace("\0", ""), "assistant": names["agent"]}.get(names["role"], "")
    kind: Any = given.get("kind", "message")
    if not (isinstance(kind, str) and kind in _KINDS):
        raise InvalidInput(f"{where}: kind {kind!r} is none of {', '.join(_KINDS)}.")
    caption = _text(given.get("caption", ""), f"{where}: caption", min(max_text, _LONGEST_CAPTION))
    most = _MOST_UNHEARD if names["role"] in _UNHEARD else max_text
    text = _text(given.get("text", ""), f"{where}: text", most)
    if not names["role"] and not text.strip() and not caption.strip():
        raise InvalidInput(f"{'the text' if where == SINGLE else where} is empty; give at least one word.")
    said_at, said_as = _time(given.get("time"), f"{where}: time", timezone)
    source = Source(
        id=names.pop("id"),
        text=redaction.text(text, where),
        hash="",
        kind=cast("SourceKind", kind),
        said_at=said_at,
        said_as=said_as,
        caption=redaction.text(caption, where),
        tags=check_tags(given.get("tags"), f"{where}: tags"),
        metadata=redaction.mapping(check_metadata(given.get("metadata"), f"{where}: metadata"), where),
        policy_as=_name(given.get("policy"), f"{where}: policy"),
        trust_as=check_trust(given.get("trust"), f"{where}: trust"),
        expires_as=parse_time(given.get("expires"), f"{where}: expires", timezone, end=True),
        **names,
    )
    digest = content_hash(source)
    return replace(source, id=source.id or _own_id(digest, None if said_as else now), hash=digest)


def as_mapping(given: object) -> object:
    """Return a message as a mapping, if it is one: a text, or an object of a chat library, which Pydantic made."""
    if isinstance(given, str):
        return {"text": given}
    dump = getattr(given, "model_dump", None)
    return dump() if callable(dump) else given


def _own_id(digest: str, now: datetime | None) -> str:
    """Return the id of what was given none: said again later, it is another statement."""
    return hashlib.blake2b(f"{digest} {now.isoformat()}".encode(), digest_size=16).hexdigest() if now else digest


def content_hash(source: Source) -> str:
    """Return the hash by which a repeat of a source is known: of all that was said, by whom, where and when.

    So is the class of trust to which a call lowers it, for a repeat in another class says it anew. One moment
    may be spelt in several ways; a day alone is another than its first moment.
    """
    day = as_day(source.said_as) if source.said_as else None
    when = day or source.said_at
    identity = [
        source.kind,
        source.role,
        source.speaker,
        source.session,
        when and when.isoformat(),
        source.text,
        source.caption,
        *([source.trust] if below(source.trust, by_origin(source.kind, source.role)) else ()),
    ]
    return hashlib.blake2b(json.dumps(identity, ensure_ascii=False).encode(), digest_size=16).hexdigest()


def check_text(text: object, where: str, max_text: int) -> str:
    """Return a text that can be remembered; raises InvalidInput."""
    if isinstance(text, str) and len(text) > max_text:
        raise InvalidInput(f"{where} has {len(text):,} characters; at most {max_text:,} are allowed.")
    checked = _text(text, where, max_text)
    if not checked.strip():
        raise InvalidInput(f"{where} is empty; give at least one word.")
    return checked


def check_texts(value: object, where: str) -> tuple[str, ...]:
    """Return texts that are only compared with, none for None; raises InvalidInput."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise InvalidInput(f"{where} is {named(value)}; a list of strings is needed.")
    return tuple(value)


def parse_time(value: object, where: str, timezone: str, *, end: bool = False) -> datetime | None:
    """Read an ISO 8601 string or a datetime, as UTC; raises InvalidInput.

    As the `end` of a range, a day without an hour is meant to its last millisecond.

    >>> str(parse_time("2024-01-31", "until", "UTC", end=True))
    '2024-01-31 23:59:59.999000+00:00'
    """
    return _time(_end_of_day(value) if end else value, where, timezone)[0]


def parse_instant(value: object, where: str, timezone: str) -> datetime | None:
    """Read the moment from which a search looks, as UTC; a day is meant to its last millisecond.

    Any year will do: the first is when only what holds since ever held, the last when only what never ends does.
    Raises InvalidInput for what is no time.

    >>> str(parse_instant("2024-01-31", "as_of", "UTC")), str(parse_instant("9999-12-31", "as_of", "UTC"))
    ('2024-01-31 23:59:59.999000+00:00', '9999-12-30 23:59:59.999000+00:00')
    """
    if value is None:
        return None
    moment, _ = _read_time(_end_of_day(value), where)
    if moment.year < _YEARS[0]:
        return UNKNOWN_PAST
    if moment.year > _YEARS[-1]:
        return NEVER - timedelta(milliseconds=1)
    return _utc(moment, timezone)


def local(moment: datetime, timezone: str) -> datetime:
    """Return a moment in the zone whose days a person means; at the ends of time, where there is none, as it is."""
    try:
        return moment.astimezone(ZoneInfo(timezone))
    except OverflowError:
        return moment


def check_name(value: object, where: str) -> str:
    """Return an id, session, speaker or the like that can be stored; raises InvalidInput."""
    if value is None:
        raise InvalidInput(f"{where} is None; a string is needed.")
    return _name(value, where)


def check_switches(**given: object) -> None:
    """Raise InvalidInput for what is neither true nor false."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise InvalidInput(f"{name} must be true or false, not {value!r}.")


def check_trust(value: object, where: str) -> Trust | Literal[""]:
    """Return a class of trust, '' for None; raises InvalidInput."""
    if value not in (None, *TRUST):
        raise InvalidInput(f"{where} must be one of {', '.join(TRUST)}, not {value!r}.")
    return cast("Trust", value or "")


def check_limit(limit: object, what: str = "limit") -> int:
    """Return how many decisions, runs or blocks are to be listed; raises InvalidInput."""
    if type(limit) is not int or not 1 <= limit <= MOST:
        raise InvalidInput(f"{what} must be a whole number from 1 to {MOST}, not {limit!r}.")
    return limit


def check_path(path: object) -> Path:
    """Return the path of a file; raises InvalidInput."""
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidInput(f"path must be that of a file, not {path!r}.")
    return Path(path)


def check_paths(value: object) -> list[Path]:
    """Return the paths of files or folders that were given, one or several; raises InvalidInput."""
    some = [value] if isinstance(value, str | Path) else value
    if (
        isinstance(some, bytes)
        or not isinstance(some, Sequence)
        or not all(isinstance(one, str | Path) for one in some)
    ):
        raise InvalidInput(
            f"path must be the path of a file or folder, or a list of them, not {value!r}; add_many takes messages."
        )
    if any(one == "" for one in some):
        raise InvalidInput("path is empty; write '.' for the folder that you are in.")
    return [Path(_storable(str(one), "path")) for one in some]


def _storable(value: str, where: str) -> str:
    if "\0" in value:
        raise InvalidInput(f"{where} holds a NUL character, which can't be stored.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{where} holds a lone surrogate at character {error.start}, which can't be stored."
        ) from None
    return value


def _text(value: object, where: str, longest: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is {named(value)}; a string is needed.")
    if len(value) > longest:
        raise InvalidInput(
            f"{where} has {len(value):,} characters; a message has at most {longest:,}. "
            "Longer texts are documents: `memgraph-engine ingest FILE` cuts them into passages."
        )
    return _storable(value, where)


def _name(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{where} is {named(value)}; a string is needed.")
    if len(value) > _LONGEST_NAME:
        raise InvalidInput(f"{where} has {len(value)} characters; at most {_LONGEST_NAME} are allowed.")
    if _storable(value, where) and not shows(value):
        raise InvalidInput(f"{where} {value!r} is blank: leave it out, or give a name that can be seen.")
    if _LAST in value:
        raise InvalidInput(f"{where} holds U+10FFFF, which is no character.")
    return value


def _end_of_day(value: object) -> object:
    """Return the last millisecond of a day, in local time, for it may have 23 or 25 hours; anything else as it is."""
    day = as_day(value) if isinstance(value, str) else None
    return datetime.combine(day, time(23, 59, 59, 999_000)) if day else value


def _time(value: object, where: str, timezone: str) -> tuple[datetime | None, str | None]:
    if value is None:
        return None, None
    moment, given = _read_time(value, where)
    if moment.year not in _YEARS:
        raise InvalidInput(f"{where} {given!r} lies outside the years {_YEARS[0]} to {_YEARS[-1]}.")
    return _utc(moment, timezone), given


def _read_time(value: object, where: str) -> tuple[datetime, str]:
    """Return a moment, and as it was given; raises InvalidInput, also for an offset that no place on earth has."""
    if not isinstance(value, datetime | str):
        raise InvalidInput(
            f"{where} is {named(value)}; write it as ISO 8601, e.g. 2023-05-08T13:56:00, or give a datetime."
        )
    given = value.isoformat() if isinstance(value, datetime) else _storable(value, where)
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(
            f"{where} {given[:60]!r} can't be read; write it as ISO 8601, e.g. 2023-05-08T13:56:00."
        ) from None
    if abs(moment.utcoffset() or timedelta()) > _FARTHEST:
        raise InvalidInput(f"{where} {given[:60]!r} has an offset of more than 14 hours from UTC, which no place has.")
    return moment, given


def _utc(moment: datetime, timezone: str) -> datetime:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone))
    return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)


def check_tags(value: object, where: str) -> tuple[str, ...]:
    """Return tags, sorted and each once; raises InvalidInput."""
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
        raise InvalidInput(f"{where} is {named(value)}; a list of strings is needed.")
    if len(value) > _MOST_TAGS:
        raise InvalidInput(f"{where} has {len(value)} entries; at most {_MOST_TAGS} are allowed.")
    tags = [_name(tag, where) for tag in value]
    if not all(tags):
        raise InvalidInput(f"{where} has an empty entry.")
    return tuple(sorted(set(tags)))


def check_depth(written: str, where: str) -> None:
    """Raise InvalidInput for JSON that is nested deeper than it can be read and written everywhere."""
    if deeper(written.encode(errors="surrogatepass"), _DEEPEST):
        raise InvalidInput(f"{where} is nested more than {_DEEPEST} deep; at most {_DEEPEST} are allowed.")


def check_metadata(value: object, where: str) -> Mapping[str, object]:
    """Return metadata as JSON would give it back; raises InvalidInput."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) and key for key in value):
        raise InvalidInput(f"{where} must be a mapping whose keys are non-empty strings.")
    try:
        written = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{where} can't be written as JSON: {error}.") from None
    if len(written) > _LONGEST_METADATA:
        raise InvalidInput(
            f"{where} has {len(written):,} characters as JSON; at most {_LONGEST_METADATA:,} are allowed."
        )
    check_depth(written, where)
    _storable(written, where)
    if _ESCAPED_NUL.search(written):
        raise InvalidInput(f"{where} holds a NUL character, which can't be stored.")
    copy: dict[str, object] = json.loads(written)
    return copy

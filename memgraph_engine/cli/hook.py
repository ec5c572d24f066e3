"""Hooks of coding agents: what is known is added to sessions and prompts, and what was said is kept (docs/plugins.md).

An agent waits for each event. So a hook never fails: in trouble it says nothing, and a line in its log tells why.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from memgraph_engine.errors import InvalidInput, LocalServerError, MemgraphEngineError, SettingsError
from memgraph_engine.remote import Remote, settings

_EVENTS = {  # what an event is for, by its name with any agent
    **dict.fromkeys(("SessionStart", "sessionStart"), "start"),
    **dict.fromkeys(("UserPromptSubmit", "beforeSubmitPrompt"), "prompt"),
    **dict.fromkeys(("Stop", "stop", "SessionEnd", "sessionEnd"), "keep"),
    "afterAgentResponse": "reply",  # of which the last is kept
}
_LAST = 1.2  # seconds at most at the end of a session: Claude Code gives all its hooks 1.5 then
_MOST = 8_000_000  # bytes of an event
_LONGEST = 100_000  # characters of a message that are kept
_SIZE = 10_000  # characters that agents take
_WAITING = 20  # messages of a project that wait to be kept while nobody takes them
_TOLD = 200  # lines that are remembered as told
_BUDGET = 800  # tokens that are added to a prompt; to a session twice as many
_OPENING = "{}: what was decided, what holds here, what is preferred, what is unfinished?"
_TAG = "recalled-memory"  # that of model/marker.py, which takes its time to load
_HEAD = f"<{_TAG}>\nFrom earlier sessions; it may be out of date. This project's memory: --user '{{}}'\n"
_FOOT = f"</{_TAG}>"
_NEW = '{"turn": "", "at": "", "prompt": "", "reply": "", "user": "", "told": [], "waiting": {}}'


def hook(
    event: Annotated[str, "EVENT: The event, as the agent calls it; or project, for whose memory this folder's is."],
    host: Annotated[str, "--for HOST: claude-code, codex or cursor."] = "claude-code",
) -> None:
    """Answer a hook of a coding agent.

    It reads the event's JSON from standard input, and answers in the agent's form. The exit code is 0 whatever happens.
    """
    if event == "project":
        return typer.echo(project(str(Path.cwd())))
    text = ""
    try:
        from concurrent.futures import ThreadPoolExecutor, wait

        os.chdir(Path.home())  # the settings are the user's: a project's own could name another server
        if not 0 < (own := settings("hook")["deadline"]) < inf:
            raise SettingsError("The setting hook.deadline is a number of seconds above 0.")
        seconds = min(own, _LAST if event == "SessionEnd" else 2.0)
        work = ThreadPoolExecutor(1).submit(lambda: answered(event, host, sys.stdin.buffer.read(), seconds))
        if not wait([work], seconds).done:
            raise TimeoutError(f"It took longer than {seconds:g} seconds.")
        text = work.result()
    except BaseException as error:  # noqa: BLE001  the agent goes on
        _log(host, event, error)
    with suppress(Exception):
        sys.stdout.write(text or _form(host, event, ""))
        sys.stdout.flush()
    os._exit(0)  # what still runs is left


def answered(event: str, host: str, given: bytes, deadline: float) -> str:
    """Return what is printed for an event; '' for nothing. Raises ValueError for what is none."""
    if len(given) > _MOST:
        raise ValueError("it is too large")
    found = json.loads(given)

    def told(*names: str) -> str:
        some = (one for one in map(found.get, names) if isinstance(one, str) and one)
        return next(some, "")[:_LONGEST].encode(errors="replace").decode()

    kind, name = _EVENTS[event], told("conversation_id", "session_id")[:200]
    if not name or "agent_id" in found:  # that is of an agent that the agent asked
        return ""
    user = project(told("cwd") or str((found.get("workspace_roots") or [""])[0]))
    turn, text, session = told("prompt_id", "turn_id", "generation_id"), "", _file(host, name)
    state = json.loads(_NEW) | json.loads(session.read_text("utf-8") if session.exists() else "{}")
    server = Remote.of_settings(deadline)
    ask = server.ask if server else _here
    if kind == "prompt":  # the one before may have been broken off
        state |= {"waiting": _said(state, host, name), "turn": turn or _now(), "at": _now(), "reply": ""}
        state |= {"user": user, "prompt": told("prompt")}
        _save(session, state)
        if host != "cursor":  # which takes nothing then
            text = _known(ask, user, state["prompt"][:2000], state["told"])
    elif kind == "start":
        state["told"] = state["told"] if told("source") == "resume" else []  # what was added is gone from it
        text = _known(ask, user, _OPENING.format(user.rpartition("/")[2]), state["told"], opening=True)
    else:
        state |= {"turn": turn or state["turn"], "reply": told("last_assistant_message", "text") or state["reply"]}
        state["user"] = state["user"] or user  # the prompt's, wherever the agent went since
    if kind == "keep":
        state |= {"waiting": _said(state, host, name), "prompt": "", "reply": ""}
        _save(session, state)
        for whose, some in state["waiting"].items():  # notes are made where a server has the embedder loaded
            with suppress(InvalidInput):  # what is refused is not sent again
                ask("add_many", messages=some, user_id=whose, wait=bool(server), shown=state["told"])
        state["waiting"] = {}
    _save(session, state)
    return _form(host, event, text)


def _said(state: Mapping[str, Any], host: str, name: str) -> dict[str, list[dict[str, str]]]:
    """Return what waits to be kept, by whose it is, and the exchange; what is said again in a turn has the same id."""
    of_all = {"session": f"{host} {name}", **({"time": state["at"]} if state["at"] else {})}
    user, assistant = {"role": "user", "speaker": "User"}, {"role": "assistant", "agent": host}
    all_waiting: dict[str, list[dict[str, str]]] = state["waiting"]
    waiting = {one["id"]: one for one in all_waiting.get(state["user"], ())}
    for whose, text in ((user, state["prompt"]), (assistant, state["reply"])):
        if _TAG in text.casefold():
            from memgraph_engine.model.marker import without_recalled

            text = without_recalled(text)
        if text.strip():
            id = _digest(host, name, state["turn"], whose["role"], text)
            waiting[id] = {"id": id, "text": text, **of_all, **whose}
    return all_waiting | ({state["user"]: [*waiting.values()][-_WAITING:]} if waiting else {})


def _known(ask: Callable[..., Any], user: str, query: str, told: list[str], *, opening: bool = False) -> str:
    """Return what the project's memory and the shared one hold on a question, but for lines that were told."""
    found = ask("context", query=query, user_id=user, budget=_BUDGET * (1 + opening))
    text = head = _HEAD.format(user)
    for line in [one["line"].partition("] ")[2] for one in found["entries"] if found["sure"] or opening]:
        if line not in told and len(text) + len(line) + 3 + len(_FOOT) <= _SIZE:
            text += f"- {line}\n"
            told.append(line)
    del told[:-_TOLD]
    return text + _FOOT if opening or text != head else ""


def _save(session: Path, state: Mapping[str, Any]) -> None:
    """Write what is remembered of a session, whole, and remove what is older than a month."""
    from memgraph_engine.files import written_whole

    with written_whole(session) as file:
        file.write(json.dumps(state).encode())
    for old in session.parent.glob("*.json"):
        if time.time() - old.stat().st_mtime > 30 * 86_400:
            old.unlink(missing_ok=True)


def _form(host: str, event: str, text: str) -> str:
    """Return a text as an agent takes it: each refuses what it doesn't know."""
    if host == "cursor":
        form: dict[str, object] = {"continue": True} if event == "beforeSubmitPrompt" else {}
        return json.dumps({"additional_context": text} if text else form)
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}) if text else ""


def project(folder: str) -> str:
    """Return the user whose memory is a project's: by the address of its repository, so of all clones and worktrees.

    Without an address it is the repository's first commit, and without a repository the folder. Relative ones are none.
    """
    url = _git(folder, "config", "--get", "remote.origin.url")
    if url.startswith("/") or ":" in url.partition("/")[0]:
        host, _, path = (url.partition("://")[2] or url.replace(":", "/", 1)).partition("/")
        name = f"{host.rpartition('@')[2].partition(':')[0].lower()}/{path.strip('/').removesuffix('.git')}"
    else:
        name = _git(folder, "rev-list", "--max-parents=0", "HEAD").rpartition("\n")[2] or os.path.realpath(folder)
    return f"project {name}"[:500]


def _git(folder: str, *arguments: str) -> str:
    """Return what git answers, '' if it can't; it is waited for, since its silence would name another memory."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        call = ["git", "-C", folder or ".", *arguments]
        return subprocess.run(call, env=own, capture_output=True, check=True).stdout.decode().strip()  # noqa: S603
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""


def _here(method: str, **given: Any) -> Any:
    from memgraph_engine.cli.command import connect
    from memgraph_engine.graph.server.local import LocalServer
    from memgraph_engine.interface.results import json_form
    from memgraph_engine.settings import Settings

    if not (own := Settings.load()).uri and not LocalServer(own).address():
        raise LocalServerError("The managed server does not run: memgraph-engine db start starts it.")
    with connect(None, deferred=True) as memory:
        return json_form(getattr(memory, method)(**given))


def _file(*names: str) -> Path:
    """Return where a session is remembered; the folder, where the log is too, is its owner's alone."""
    import platformdirs

    home = os.environ.get("MEMGRAPH_ENGINE_HOME") or platformdirs.user_data_path("memgraph-engine")
    folder = Path(home).expanduser() / "hooks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"{_digest(*names)}.json"


def _log(host: str, event: str, error: BaseException) -> None:
    """Tell what went wrong, in a line, without words of the session."""
    with suppress(Exception):
        file = _file().with_name("log")
        if file.exists() and file.stat().st_size > 1_000_000:
            file.unlink()
        safe = isinstance(error, MemgraphEngineError | TimeoutError) and not isinstance(error, InvalidInput)
        told = f"{host} {event} {type(error).__name__}{f': {error}' if safe else ''}"
        with file.open("a", encoding="utf-8") as out:
            out.write(f"{_now()} {' '.join(told.split())[:400]}\n")


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")

"""A running server, asked by the names of `Memory`'s methods: nothing of the engine is loaded for that."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from memgraph_engine import errors
from memgraph_engine.operations import OPERATIONS
from memgraph_engine.resources import resource, user_file

_OPERATIONS = {one.name: one for some in OPERATIONS.values() for one in some}
_SOME = "search Hits,context Context,prompt Prompt,answer Answer,reflect Reflection,add Receipt,update Decision"
EMBEDS = dict(one.split() for one in f"{_SOME},anchors Anchor,blocks Block".split(","))
"""The methods that take the embedder, which the command line asks a server for: what each returns, or a list of."""
_ERRORS = {400: errors.InvalidInput, 401: errors.KeyRefused, 403: errors.NotAllowed, 404: errors.NotFound}
_ERRORS |= {409: errors.SourceConflict, 413: errors.InvalidInput, 503: errors.Overloaded}


def settings(table: str) -> dict[str, Any]:
    """Return a table of the settings as `Settings` reads it, but for its checks; raises SettingsError.

    All of `remote` is of the environment, or else of the file: a key goes to no server but that named beside it.
    """
    import tomllib

    prefix = f"MEMGRAPH_ENGINE_{table}__".upper()
    named = {name[len(prefix) :].lower(): value for name, value in os.environ.items() if name.startswith(prefix)}
    try:
        files = [file.read_text("utf-8") if file else "" for file in (resource("config", "settings.toml"), user_file())]
        default, own = (tomllib.loads(file).get(table, {}) for file in files)
        given = {**own, **named} if table != "remote" else named if "url" in named else own
        return {name: type(value)(given.get(name, value)) for name, value in default.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise errors.SettingsError(f"The settings of the table {table} can't be read: {error}.") from None


class Remote:
    """The server at a URL, asked by methods that are named like `Memory`'s; `timeout` is of a step of a request."""

    def __init__(self, url: str, key: str = "", timeout: float = 60.0) -> None:
        self._at, self._key, self._timeout = urlsplit(url.rstrip("/")), key, timeout
        if self._at.scheme not in ("http", "https") or not self._at.hostname or "@" in self._at.netloc:
            raise errors.SettingsError("remote.url is of the form http://HOST:PORT or https://HOST, without a user.")

    @classmethod
    def of_settings(cls, timeout: float = 60.0) -> "Remote | None":
        """Return the server that the settings `remote` name; None where they name none."""
        found = settings("remote")
        return cls(**found, timeout=timeout) if found["url"] else None

    def __getattr__(self, name: str) -> Any:
        def call(**given: Any) -> Any:
            from memgraph_engine.interface.results import read
            from memgraph_engine.model import answer, block, result

            found, listed = self.ask(name, **given), _OPERATIONS[name].listed
            kind = {**vars(answer), **vars(block), **vars(result)}[EMBEDS[name]]
            return [read(kind, one) for one in found[listed]] if listed else read(kind, found)

        if name not in EMBEDS:
            raise AttributeError(name)
        return call

    def answer_stream(self, **given: Any) -> Iterator[Any]:
        """Yield an answer's text, if it has one, then all of it."""
        answer = self.answer(**given)
        yield from filter(None, (answer.text, answer))

    def ask(self, method: str, *, user_id: str | None = None, shared: bool = False, **given: Any) -> Any:
        """Return what a method of Memory answers over REST, in JSON; raises the error that the server tells of."""
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        verb, path = _OPERATIONS[method].rest.split()
        path, in_path, _ = path.partition("{")
        path += quote(given.pop("id")) if in_path else ""
        query = urlencode({"shared": "true"} if shared else {} if user_id is None else {"user_id": user_id})
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        kind = HTTPSConnection if self._at.scheme == "https" else HTTPConnection
        try:
            with closing(kind(str(self._at.hostname), self._at.port, timeout=self._timeout)) as connection:
                connection.request(verb, f"{self._at.path}{path}?{query}", json.dumps(given), headers)
                answer = connection.getresponse()
                found = dict(json.loads(answer.read()))
        except (OSError, HTTPException, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise errors.Unreachable(f"No server of this engine answers at {self._at.geturl()} ({why}).") from None
        if answer.status < 400:
            return found
        raise _ERRORS.get(answer.status, errors.StoreError)(found.get("detail") or f"The server told {answer.status}.")

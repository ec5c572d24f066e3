"""Claude's memory tool on a memory: its files are exact values in a user's memory (docs/claude.md)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import category

from memgraph_engine.asking.items import ItemReader
from memgraph_engine.client import Memory
from memgraph_engine.errors import MemgraphEngineError, needed
from memgraph_engine.ingest.messages import check_name
from memgraph_engine.model.item import FILES, Put, source_id
from memgraph_engine.model.scope import scope_of
from memgraph_engine.writing.items import ItemWriter

with needed("Claude's memory tool", "claude"):
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

_ROOT = "/memories"
_LEVELS = 2  # of folders that a view of one shows
_WIDTH = 6  # of line numbers
_AROUND = 2  # lines around a change that are shown


class MemgraphMemoryTool(BetaAbstractMemoryTool):
    """Keeps the files that Claude writes about a user, below /memories, in that user's memory.

    A file is an item: its text is exact, no message is merged with it, its former texts stay in its history and can be
    undone, and `search` and `context` find what it says. A folder is there as long as it has files. Safe to share
    between threads; of two that change one file at once, the later change counts.
    """

    def __init__(
        self, memory: Memory, user_id: str, *, cache_control: BetaCacheControlEphemeralParam | None = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._scope = scope_of(memory.engine.settings.tenant, user_id)
        self._reader, self._writer = ItemReader(memory.engine, FILES), ItemWriter(memory.engine, FILES)

    def call(self, input: object) -> Any:  # as the SDK calls it
        """Do what a model asks; what the engine refuses is told to it in a sentence."""
        try:
            return super().call(input)
        except MemgraphEngineError as error:
            raise ToolError(str(error)) from error

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return a file with numbered lines, or what a folder holds."""
        path = _checked(command.path)
        text = self._text(path)
        if text is None:
            return self._folder(path)
        first, last = 1, -1
        lines = text.split("\n")
        if command.view_range:
            first, last = _range(command.view_range)
        first = max(first, 1)
        return f"{path}:\n{_numbered(lines[first - 1 : None if last == -1 else last], first)}"

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a file that is not there."""
        path = _checked(command.path)
        if path == _ROOT or self._text(path) is not None or self._below(path):
            raise ToolError(f"There is something at {path} already.")
        if inside := [above for above in _above(path) if self._text(above) is not None]:
            raise ToolError(f"{inside[0]} is a file: nothing can be put below it.")
        self._write({path: command.file_text})
        return f"Created {path}."

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace words that stand in a file once."""
        path, text = self._file(command.path)
        found = text.count(command.old_str) if command.old_str else 0
        if found != 1:
            raise ToolError(f"These words stand in {path} {found} times; give more of what is around the one you mean.")
        before, _, after = text.partition(command.old_str)
        changed = before + (command.new_str or "") + after
        self._write({path: changed})
        at, lines = before.count("\n"), changed.split("\n")
        first = max(at - _AROUND, 0)
        return f"Changed {path}:\n{_numbered(lines[first : at + _AROUND + 1], first + 1)}"

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put lines behind a line of a file; 0 is its beginning."""
        path, text = self._file(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(f"{path} has {len(lines)} lines: insert_line is a number from 0 to that.")
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        joined = "\n".join(lines)
        self._write({path: joined if joined.endswith("\n") else f"{joined}\n"})
        return f"Changed {path}."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with all that is in it; `undo` of the engine brings it back."""
        path = _checked(command.path)
        gone = [path] if self._text(path) is not None else self._below(path)
        if path == _ROOT or not gone:
            raise ToolError(f"There is no file or folder {path} that could be deleted.")
        self._writer.remove(self._scope, gone)
        return f"Deleted {path}."

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Give a file, or a folder, another path."""
        old, new = _checked(command.old_path), _checked(command.new_path)
        own = self._text(old)
        moved = {old: own} if own is not None else {path: self._text(path) for path in self._below(old)}
        if old == _ROOT or not moved:
            raise ToolError(f"There is no file or folder {old} that could be renamed.")
        if new == _ROOT or new.startswith(f"{old}/") or self._text(new) is not None or self._below(new):
            raise ToolError(f"There is something at {new} already, or it is below {old}.")
        if inside := [above for above in _above(new) if self._text(above) is not None]:
            raise ToolError(f"{inside[0]} is a file: nothing can be put below it.")
        self._write({_checked(new + path.removeprefix(old)): text or "" for path, text in moved.items()})
        self._writer.remove(self._scope, moved)
        return f"Renamed {old} to {new}."

    def clear_all_memory(self) -> str:
        """Delete all files; `undo` of the engine brings them back, and its `forget` erases them."""
        self._writer.remove(self._scope, self._below(_ROOT))
        return "All files are deleted."

    def _file(self, given: str) -> tuple[str, str]:
        path = _checked(given)
        text = self._text(path)
        if text is None:
            raise ToolError(f"There is no file {path}.")
        return path, text

    def _text(self, path: str) -> str | None:
        found = self._reader.find(self._scope, [path])
        return json.loads(found[path].value) if path in found else None

    def _write(self, files: Mapping[str, str]) -> None:
        """Write files; those that are not there all of them or none."""
        said = {path: (f"{path}: {text}",) if text.strip() else () for path, text in files.items()}
        self._writer.put(self._scope, [Put(path, json.dumps(text), said[path]) for path, text in files.items()])

    def _below(self, path: str) -> list[str]:
        return sorted(item.key for item in self._reader.begun(self._scope, f"{path}/"))

    def _folder(self, path: str) -> str:
        inner = [one.removeprefix(f"{path}/").split("/") for one in self._below(path)]
        if not inner and path != _ROOT:
            raise ToolError(f"There is no file or folder {path}.")
        shown = {
            "/".join(parts[:level]) + ("/" if level < len(parts) else "")
            for parts in inner
            for level in range(1, min(len(parts), _LEVELS) + 1)
        }
        return "\n".join([f"{path}/", *(f"{path}/{one}" for one in sorted(shown))])


def _checked(given: str) -> str:
    """Return a path below /memories, without what goes up; raises ToolError.

    >>> _checked("/memories/notes/./boats.md"), _checked("/memories/")
    ('/memories/notes/boats.md', '/memories')
    """
    parts = [part for part in given.split("/") if part not in ("", ".")]
    if not given.startswith("/") or not parts or f"/{parts[0]}" != _ROOT or ".." in parts:
        raise ToolError(f"A path begins with {_ROOT} and goes nowhere else, not {given!r}.")
    if any(category(sign) in ("Cc", "Zl", "Zp") for sign in given):
        raise ToolError(f"A path has no line breaks or other control characters, as {given!r} has.")
    path = "/" + "/".join(parts)
    check_name(source_id(FILES, path), "path")
    return path


def _range(given: Sequence[object]) -> tuple[int, int]:
    match given:
        case [int(first), int(last)]:
            return first, last
    raise ToolError(f"view_range is two numbers of lines, the last one -1 for the end, not {given!r}.")


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:level]) for level in range(3, len(parts))]


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))

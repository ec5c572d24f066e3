"""Run the code of a Markdown page as its reader would: in order, in one folder, in one memory.

- `python` blocks share their names. A `text` block directly behind one, or behind a `sh` block of nothing but
  `memgraph-engine`, is what it prints; `…` stands for anything.
- Of a `sh` block the lines that begin with `memgraph-engine` run, and exit with 0, or as `# exits with 3` says.
  Of those that go on for ever only the options are checked.
- `json`, `jsonl`, `toml`, `yaml` are parsed. A `toml` block is settings, unless it is another file.
- `cypher` runs as a read.
- `<!-- file: notes/boats.md -->` before a block writes it, and no more; `memgraph-engine.toml` then holds for what
  follows.
- `<!-- needs: langgraph -->` skips a block where that can't be imported.
- `<!-- not run: REASON -->` only compiles, parses or, of commands, checks the options.
"""

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import neo4j
import pytest
import typer
import yaml
from typer.testing import CliRunner

from memgraph_engine import Memory, Settings
from memgraph_engine.cli import app

PROGRAM = "memgraph-engine"
ENDLESS = {"mcp", "serve", "worker"}  # of these the options are checked
SHOWN = {"text", "ini", "js", "ts", "markdown", "html"}  # languages of which nothing can be checked
_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_REMARKS = re.compile(r"(?:<!-- (?:file|needs|not run): [^\n]* -->\s*)+\Z")
_COMMANDS = typer.main.get_command(app)
_REMARK = re.compile(r"<!-- (file|needs|not run): ([^\n]*) -->")


class Wrong(AssertionError):
    """A block does not do what its page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block, and what the comments before it say."""

    language: str
    text: str
    line: int
    remarks: dict[str, str]
    shown: "Block | None"  # what stands directly behind it as what it prints


def blocks(page: str) -> list[Block]:
    """Read the blocks of a page."""
    found, behind, after = list[Block](), None, len(page)
    for fence in reversed(list(_FENCE.finditer(page))):
        indent, language, text = fence.groups()
        said = _REMARKS.search(page, 0, fence.start())
        remarks = dict(_REMARK.findall(said[0])) if said else {}
        shown = behind if behind and behind.language == "text" and not page[fence.end() : after].strip() else None
        text = re.sub(f"^{indent}", "", text, flags=re.MULTILINE)
        behind = Block(language, text, page.count("\n", 0, fence.start()) + 1, remarks, shown)
        after = fence.start()
        found.insert(0, behind)
    return found


@dataclass
class Runner:
    """Runs the blocks of a page, in the working folder and the tenant of the environment."""

    page: str
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "page"})

    def run(self, text: str) -> None:
        """Run a page; raises Wrong with the line of what is wrong."""
        try:
            for block in blocks(text):
                self._block(block)
        finally:
            for one in {id(one): one for one in self.names.values() if isinstance(one, Memory)}.values():
                one.close()

    def _block(self, block: Block) -> None:
        with self._at(block):
            check = getattr(self, f"_{block.language}", None)
            if check is None and block.language not in SHOWN:
                raise Wrong(f"a block can't be {block.language!r}")
            if "file" in block.remarks:
                path = Path(block.remarks["file"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")
            if check:
                check(block)

    @contextlib.contextmanager
    def _at(self, block: Block) -> Iterator[None]:
        """Tell where on the page it fails."""
        try:
            yield
        except (Exception, SystemExit) as error:  # whatever the code of a page raises
            told = str(error) if isinstance(error, Wrong) else f"{type(error).__name__}: {error}"
            raise Wrong(f"{self.page}, line {block.line}: {told}") from error

    def _runs(self, block: Block) -> bool:
        needs = block.remarks.get("needs", "").split()
        return not {"not run", "file"} & block.remarks.keys() and all(map(_installed, needs))

    # ---- a method for each language -----------------------------------------------------------

    def _python(self, block: Block) -> None:
        code = compile("\n" * block.line + block.text, self.page, "exec")  # tracebacks name the page's own lines
        if self._runs(block):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, self.names)
            _compare(block.shown, out.getvalue())

    def _sh(self, block: Block) -> None:
        printed, whole = "", True
        for line in block.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == [PROGRAM]:
                _parsed(words[1:])
                wanted = re.search(r"# exits with (\d+)", line)
                if self._runs(block) and words[1] not in ENDLESS:
                    printed += _command(words[1:], int(wanted[1]) if wanted else 0)
            whole = whole and words[:1] in ([], [PROGRAM])
        if self._runs(block) and whole:
            _compare(block.shown, printed)

    def _json(self, block: Block) -> None:
        json.loads(block.text)

    def _jsonl(self, block: Block) -> None:
        for line in block.text.splitlines():
            json.loads(line)

    def _yaml(self, block: Block) -> None:
        yaml.safe_load(block.text)

    def _toml(self, block: Block) -> None:
        tomllib.loads(block.text)
        if block.remarks.get("file", "memgraph-engine.toml") == "memgraph-engine.toml":
            with pytest.MonkeyPatch.context() as patch:
                file = Path(".settings.toml").absolute()
                file.write_text(block.text, "utf-8")
                patch.setenv("MEMGRAPH_ENGINE_CONFIG", str(file))
                Settings.load()
            file.unlink()

    def _cypher(self, block: Block) -> None:
        scope = f"{os.environ['MEMGRAPH_ENGINE_TENANT']}/ana"
        settings = Settings.load()
        if self._runs(block):
            with (
                neo4j.GraphDatabase.driver(
                    settings.uri, auth=(settings.user, settings.password.get_secret_value())
                ) as driver,
                driver.session(default_access_mode=neo4j.READ_ACCESS) as session,
            ):
                session.run(block.text, scope=scope).consume()


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _parsed(words: list[str]) -> None:
    """Check a command's options and arguments, whether or not the files are there; raises Wrong."""
    command, name, context = _COMMANDS, PROGRAM, None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            context = command.make_context(name, list(words))
            while hasattr(command, "commands"):  # as a group goes on when it is invoked
                name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
                context = command.make_context(name, rest, parent=context)
    except typer.Exit:  # --help and its like
        return
    except Exception as error:  # the library's own, which it does not export
        told = error.format_message() if hasattr(error, "format_message") else str(error)
        if not told.endswith("does not exist.") and "(env var: " not in told:
            raise Wrong(f"{shlex.join([PROGRAM, *words])}: {told}") from error


def _command(words: list[str], wanted: int) -> str:
    """Run a command; return what it prints."""
    result = CliRunner().invoke(app, words)
    if result.exit_code != wanted:
        unforeseen = result.exception if not isinstance(result.exception, SystemExit) else ""
        raise Wrong(f"{shlex.join(words)} exits with {result.exit_code}: {result.output}{unforeseen}")
    return result.stdout


def _compare(shown: Block | None, printed: str) -> None:
    """Hold what a page shows against what is printed; `…` stands for anything."""
    if shown is None:
        return
    said, came = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown.text, printed))
    if not re.fullmatch(".*?".join(map(re.escape, said.split("…"))), came, re.DOTALL):
        raise Wrong(f"line {shown.line} shows\n{said}\nbut it prints\n{came}")

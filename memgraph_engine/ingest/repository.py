"""What a repository holds: the files that git knows or would take, else all below a folder; nothing binary or large."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from memgraph_engine.errors import InvalidInput
from memgraph_engine.ingest.folders import File, Folder, link_reason, listing
from memgraph_engine.model.ingested import Fault, Remark, Skipped

_LARGEST = 1_000_000  # bytes
_START = 8000  # bytes, of which git takes as many to tell what is binary
_MADE = (".lock", "-lock.json", "-lock.yaml", ".min.js", ".min.css", ".map")
_FOLDERS = ("__pycache__", "node_modules")
_SECONDS = 60
_OWN = "a repository of its own"
# a repository's own settings name programs; none of them is run
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false")
_WALKED = "{why}: all files below it are read, also what git would ignore, but no hidden ones and no links"
_REFUSED = (
    "git does not list it, so it can't be told which files belong to it and which may hold secrets. Nothing of it was "
    "read. Once `git ls-files` lists it, ingest it again. Git says: {said}"
)


def repository(
    path: Path,
    id: str,  # as the API calls it
    parts: Mapping[str, str] = MappingProxyType({}),
) -> Folder:
    """List a repository: what is tracked, and what is neither tracked nor ignored; without git, as any folder.

    Nothing is listed of a work tree that git refuses to list, or of a folder in which git keeps its own files. Links
    are not followed. What is binary, larger than 1 MB, or made by a program for programs is skipped.
    """
    try:
        folder = _tracked(path, id, parts)
    except _NoGit as why:
        folder = listing(path, id, lambda _: True, parts)
        folder.remarks.append(Remark(str(path), _WALKED.format(why=why)))
    except _Refused as said:
        folder = Folder(path, id, parts, unlisted=[id])
        folder.faults.append(Fault(str(path), 0, _REFUSED.format(said=said)))
    files, folder.files = folder.files, []
    for file in files:
        if reason := _passed_over(file.path, path):
            folder.skipped.append(Skipped(str(file.path), reason))
        else:
            folder.files.append(file)
    folder.skipped.sort(key=lambda one: one.file)
    return folder


def check_folder(path: Path) -> None:
    """Raise InvalidInput for what can't be a repository."""
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{path} is no folder, so it is no repository; a single file of code has the format code.")


class _NoGit(Exception):
    """Why git can't know a folder."""


class _Refused(Exception):
    """What git says of a folder that it might know, and does not list."""


def _tracked(path: Path, id: str, parts: Mapping[str, str]) -> Folder:
    folder = Folder(path, id, parts)
    for name in _listed(path):
        file = path / name
        try:
            if reason := _left_out(file, path):
                folder.skipped.append(Skipped(str(file), reason))
                folder.unlisted += [folder.name(file)] if reason == _OWN else []
            elif file.exists():  # else it is deleted, and git is not told yet
                folder.files.append(File(file, folder.name(file)))
        except OSError as error:
            folder.faults.append(Fault(str(file), 0, f"can't be read: {error.strerror}"))
            folder.unlisted.append(folder.name(file))
    folder.files.sort(key=lambda file: file.path.relative_to(path).parts)
    return folder


def _left_out(file: Path, root: Path) -> str:
    """Return why what git lists is not read, '' if it is; raises OSError where that can't be seen."""
    if file.is_symlink():
        return link_reason(file, root)
    if file.is_dir():
        return _OWN
    outside = file.exists() and root.resolve() not in file.resolve().parents
    return "behind a link out of the folder" if outside else ""


def _listed(path: Path) -> list[str]:
    """Return what git knows, and what it would take; of the latter nothing hidden, which may hold secrets (`.env`)."""
    known = _git(path, "--cached")
    new = (name for name in _git(path, "--others", "--exclude-standard") if not re.search(r"(?:^|/)\.", name))
    if not (names := known.union(new)):
        raise _NoGit("git knows nothing in it, as it may be ignored")
    return sorted(names)


def _git(path: Path, *which: str) -> set[str]:
    """Return the files of a folder that git lists."""
    command = [*_GIT, "-C", str(path), "ls-files", "-z", *which]
    # as it is in a hook, the environment may name another repository; what git says is understood in English
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | {"LC_ALL": "C"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
    except FileNotFoundError:
        raise _NoGit("git is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Refused(type(error).__name__) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        if "not a git repository" in said and not (path / ".git").exists():
            raise _NoGit("it is no git work tree")
        raise _Refused(said)
    return {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}


def _passed_over(file: Path, root: Path) -> str:
    """Return why a file is not read, '' if it is."""
    within = file.relative_to(root)
    if made := next((part for part in within.parts if part in _FOLDERS), ""):
        return f"in {made}"
    if within.name.endswith(_MADE):
        return "made by a program for programs"
    try:
        if not file.is_file():
            return "no file"
        if file.stat().st_size > _LARGEST:
            return "larger than 1 MB"
        with file.open("rb") as opened:
            start = opened.read(_START)
    except OSError:
        return ""  # so that it is told why it can't be read
    # UTF-16 and UTF-32 hold NUL too
    return "binary" if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) else ""

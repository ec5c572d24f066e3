"""Hooks of mkdocs: what is right on the site and in the repository, where a link names a file.

Files outside docs/ that pages link to get pages of their own in the site. A link whose words are the name of a page's
file shows the page's title.
"""

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_LINK = re.compile(r"\]\(\.\./([^)#]+)\)")
_NAMED = re.compile(r"\[`?([\w/-]+\.md)`?\]\(\1(#[^)]*)?\)")
_SHOWN = "repository"  # the folder of these pages


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each file, notebook or folder that a page or a notebook links to."""
    from mkdocs.structure.files import File

    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]
    linked = {name for page in pages for name in _LINK.findall(page.read_text("utf-8"))}
    for name in sorted(name for name in linked if not name.startswith("docs/")):
        made = f"# {name}\n\n{_shown(ROOT / name)}"
        files.append(File.generated(config, f"{_SHOWN}/{name.rstrip('/')}.md", content=made))
    return files


def on_page_markdown(markdown: str, page: Any, **_others: object) -> str:
    """Let these links lead to these pages, and others show the titles of theirs."""
    if "/" in page.file.src_uri:  # only pages of the top link so
        return markdown
    titled = _NAMED.sub(lambda link: f"[{_title(link[1])}]({link[1]}{link[2] or ''})", markdown)
    return _LINK.sub(lambda link: f"]({_SHOWN}/{link[1].rstrip('/')}.md)", titled)


def _title(page: str) -> str:
    """Return the first heading of a page."""
    return (ROOT / "docs" / page).read_text("utf-8").partition("\n")[0].removeprefix("# ")


def _shown(path: Path) -> str:
    """Return what a page says of a file; raises FileNotFoundError, which breaks the build."""
    if path.is_dir():
        files = [one for one in sorted(path.rglob("*")) if one.is_file() and "__pycache__" not in one.parts]
        return "".join(f"## {one.relative_to(path)}\n\n{_shown(one)}" for one in files)
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        return "".join(_cell(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"])
    return _fenced(path.suffix.removeprefix("."), text)


def _cell(kind: str, text: str) -> str:
    """Return a cell of a notebook; its title is a heading below the page's own, its links lead to pages here."""
    if kind != "markdown":
        return _fenced("python", text)
    text = re.sub(r"^#", "##", text, flags=re.MULTILINE).replace("](../docs/", "](../../")
    return re.sub(r"\]\(([^):]+\.(?!md\))\w+)\)", r"](\1.md)", text) + "\n\n"


def _fenced(language: str, text: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````\n\n"

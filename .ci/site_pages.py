"""Makes pages of the site of what stands in the repository for readers of files.

MkDocs calls it (``hooks`` in mkdocs.yml). The README, the changelog and CONTRIBUTING become pages;
a link to a file that is no page goes to the repository; the file name after the language of a code
block becomes its title. A page that loads something from elsewhere is an error.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
}
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?\)")
ASSET = re.compile(
    r"<(?:script|img|iframe|source)[^>]+src=.?(?:https?:)?//|<link[^>]+"
    r"rel=.?(?:stylesheet|preload|preconnect|icon)[^>]+href=.?(?:https?:)?//"
)
FENCE = re.compile(r"^```(\w+) +([\w./-]+)$", re.M)


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages of the repository's root."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrites links and code blocks of a page."""
    names = {site: name for name, site in PAGES.items()}
    path = page.file.src_uri
    place = PurePosixPath(names.get(path, f"docs/{path}")).parent

    def link(match: re.Match[str]) -> str:
        target, anchor = match[2], match[3] or ""
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        parts: list[str] = []
        for part in (place / target).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        name = "/".join(parts)
        if name in PAGES:
            target = PAGES[name]
        elif parts[0] == "docs":
            target = "/".join(parts[1:])
        else:
            return f"{match[1]}{SOURCE}/{name}{anchor})"
        return f"{match[1]}{'../' * path.count('/')}{target}{anchor})"

    return FENCE.sub(r'```\1 title="\2"', LINK.sub(link, markdown))


def on_post_build(config: Any) -> None:
    """Refuses a site that loads a script, style or picture from another place."""
    for page in Path(config.site_dir).rglob("*.html"):
        if found := ASSET.search(page.read_text(encoding="utf-8")):
            raise PluginError(f"{page}: loads something from elsewhere: {found[0]}")

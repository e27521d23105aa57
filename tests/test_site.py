"""The site as a browser gets it: every link leads somewhere, and nothing comes from another host."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


class Links(HTMLParser):
    """What a page leads to, what it loads, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.leads, self.loads, self.places = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.leads.append(found["href"])
        elif tag in ("script", "link", "img", "iframe", "source") and found.get("rel") != "canonical":
            self.loads += [found[name] for name in ("src", "href") if found.get(name)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="needs pip install 'novikoff[docs]'")
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(place)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True,
                          text=True, timeout=1200)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {path: Links(path.read_text()) for path in place.rglob("*.html")}


def test_every_link_leads_to_a_page_and_a_place_in_it(site):
    wrong = []
    for page, links in site.items():
        for target in links.leads:
            parts = urlsplit(target)
            if parts.scheme or page.name == "404.html":
                continue
            there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            there = there / "index.html" if there.is_dir() else there
            known = site[there].places if there in site else {parts.fragment}
            if not there.exists() or unquote(parts.fragment) not in known:
                wrong.append(f"{page.name}: {target}")
    assert len(site) > 150
    assert wrong == []


def test_nothing_comes_from_another_host(site):
    loaded = {target for links in site.values() for target in links.loads if not target.startswith("data:")}
    assert [target for target in loaded if urlsplit(target).scheme or target.startswith("//")] == []
    styles = "".join(path.read_text() for path in next(iter(site)).parents[0].rglob("*.css"))
    assert not re.search(r"url\(['\"]?(https?:)?//", styles)

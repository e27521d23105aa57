"""The built site in a browser: no page violates the rules of axe, in light or in dark mode."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SITE = Path(__file__).parents[1] / "site"
PARTS = 8
"""Number of tests over which the pages are spread."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="needs make docs"),
]


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line per request."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """The site on a port of this machine: the page for missing ones has absolute addresses."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("part", range(PARTS))
def test_pages_of_the_site_pass_axe_and_ask_no_other_machine(browser, address, scheme, part):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    wrong, elsewhere = {}, []
    page.on("request", lambda request: None if request.url.startswith((address, "data:", "blob:", "about:"))
            else elsewhere.append(request.url))  # fmt: skip
    for path in sorted(SITE.rglob("*.html"))[part::PARTS]:
        page.goto(address + path.relative_to(SITE).as_posix(), wait_until="domcontentloaded")
        found = axe.Axe().run(page, options={"iframes": False})  # saved games have a test of their own
        if found.violations_count:
            wrong[str(path.relative_to(SITE))] = [
                (one["id"], one["nodes"][0]["html"][:120]) for one in found.response["violations"]
            ]
    page.close()
    assert wrong == {}
    assert elsewhere == []

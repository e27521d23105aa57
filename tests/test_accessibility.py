"""The built site in a browser: no page violates the rules of axe, in light or in dark mode."""

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("part", range(PARTS))
def test_pages_of_the_site_pass_axe(browser, scheme, part):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    wrong = {}
    for path in sorted(SITE.rglob("*.html"))[part::PARTS]:
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        found = axe.Axe().run(page, options={"iframes": False})  # saved games have a test of their own
        if found.violations_count:
            wrong[str(path.relative_to(SITE))] = [
                (one["id"], one["nodes"][0]["html"][:120]) for one in found.response["violations"]
            ]
    page.close()
    assert wrong == {}

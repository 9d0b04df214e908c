"""The pages as HTML: no warning; readable at any width, without a network."""

import subprocess
import sys
from pathlib import Path

import pytest

import browser
import skodyn
from test_docs import PAGES

ROOT = Path(__file__).parent.parent
LOOKED_AT = (
    "README",
    "docs/contact",
    "docs/api",
    "docs/theory",
    "docs/flexible",
    "docs/days/reader",
    "docs/tutorial",
    "genindex",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("myst_parser", reason="pip install 'skodyn[docs]' builds the pages")
    folder = tmp_path_factory.mktemp("site")
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "."]
    done = subprocess.run([*sphinx, folder], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_pages_build_as_html_without_a_warning(site):
    reference = (site / "docs" / "api.html").read_text()
    for name in set(skodyn.__all__) - {"__version__"}:
        assert f'id="skodyn.{name}"' in reference or f">sk.{name}<" in reference, name
    assert "articulated body algorithm (ABA)" in reference
    assert "forward_dynamics" in (site / "searchindex.js").read_text()
    for page in PAGES:
        html = (site / page.relative_to(ROOT)).with_suffix(".html").read_text()
        assert page.read_text().partition("\n")[0].removeprefix("# ") in html
        assert html.count("<math ") == page.read_text().count("$$") // 2


@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.WITHOUT)
@pytest.mark.parametrize("width", [1200, 800, 400])
def test_pages_keep_their_navigation_at_any_width(site, width):
    with browser.chromium() as started:
        page = started.new_page(viewport={"width": width, "height": 800})
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        for name in LOOKED_AT:
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            page.evaluate("scrollTo(0, 1500)")
            menu, button = page.locator("div.menu"), page.locator("label[for=menu-open]")
            assert menu.is_visible() == (width > 760)
            if width <= 760:
                button.click()
            for link in ("index of names", "Flexible bodies", "Closed loops"):
                assert menu.get_by_role("link", name=link).first.is_visible(), (name, link)
            top = menu.bounding_box()["y"]
            assert 0 <= top < 100, f"{name}: the menu scrolled away, {top}"
        assert all(address.startswith("file:") for address in asked)


@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.WITHOUT)
def test_formulas_are_set_by_the_browser(site):
    with browser.chromium() as started:
        page = started.new_page(viewport={"width": 1200, "height": 800})
        page.goto((site / "docs" / "contact.html").as_uri())
        fraction = page.locator("math mfrac").first
        over, under = (fraction.locator(":scope > *").nth(i).bounding_box() for i in (0, 1))
        assert over["y"] + over["height"] <= under["y"] + 1  # one above the other


@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.WITHOUT)
def test_output_stands_right_below_the_code_that_prints_it(site):
    with browser.chromium() as started:
        page = started.new_page(viewport={"width": 1200, "height": 800})
        page.goto((site / "docs" / "days" / "student.html").as_uri())
        outputs = page.locator("div.highlight-output pre")
        assert outputs.count() >= 3
        for i in range(outputs.count()):
            below = outputs.nth(i).bounding_box()
            code = outputs.nth(i).locator("xpath=../../preceding-sibling::div[1]//pre")
            above = code.bounding_box()
            assert abs(above["y"] + above["height"] - below["y"]) < 2
            assert (above["x"], above["width"]) == (below["x"], below["width"])
        assert "('turn', 'pitch', 'reach', 'roll')" in outputs.nth(1).inner_text()

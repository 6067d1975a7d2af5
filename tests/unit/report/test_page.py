"""The HTML report in a real browser: Chromium without a window."""

import base64

import pytest
import result_examples
from browsing import (
    INK_AND_PAPER,
    all_of,
    colours,
    fits_a_phone,
    media,
    names_are_sound,
    opened,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from cschoice.report.compute.summary import summarize
from cschoice.report.formats.html import html


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for made in (result_examples.small, result_examples.mixed):
        content = html(summarize(made(folder / made.__name__), "laptop"))
        (folder / f"{made.__name__}.html").write_bytes(content["report.html"])
    return folder


@pytest.fixture
def page(browser, pages):
    with opened(browser, pages / "small.html") as found:
        yield found


def column(page, table, place):
    """Return the texts of a column, row by row."""
    script = (
        "return [...document.querySelectorAll(`#table-${arguments[0]} > tbody > tr:not(.detail)`)]"
        ".map(row => row.cells[arguments[1]].innerText.trim())"
    )
    return page.execute_script(script, table, place)


def heading(page, table, place):
    return all_of(page, f"#table-{table} > thead th")[place]


def test_a_click_sorts_and_a_third_one_restores(page):
    before = column(page, "comparison-accuracy", 1)
    cell = heading(page, "comparison-accuracy", 2)
    button = cell.find_element(By.TAG_NAME, "button")
    button.click()
    assert cell.get_attribute("aria-sort") == "descending"
    means = [float(text.split()[0]) for text in column(page, "comparison-accuracy", 2)]
    assert means == sorted(means, reverse=True)
    assert all(column(page, "comparison-accuracy", 0))  # every row says its dataset now
    button.click()
    assert cell.get_attribute("aria-sort") == "ascending"
    button.click()
    assert cell.get_attribute("aria-sort") == "none"
    assert column(page, "comparison-accuracy", 1) == before


def test_the_keyboard_sorts_words_and_opens_details(page):
    cell = heading(page, "comparison-accuracy", 1)
    cell.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert cell.get_attribute("aria-sort") == "ascending"
    words = column(page, "comparison-accuracy", 1)
    assert words == sorted(words)
    more = all_of(page, "#table-comparison-accuracy .more")[0]
    more.send_keys(Keys.SPACE)
    assert more.get_attribute("aria-expanded") == "true"
    assert len(all_of(page, ".detail")) == 1


def test_details_tell_everything_of_a_cell_and_move_with_its_row(page):
    more = page.find_element(By.CSS_SELECTOR, "[data-key='pareto2d/feta']")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", more)
    more.click()
    detail = page.find_element(By.CSS_SELECTOR, ".detail")
    words = detail.text
    parts = (
        "Fold", "F₁-measure", "Threshold", "Best hyperparameters", "Tuning", "CPU time", "Seed",
        "l2 = ", "n_units = ", "Environment: device cpu, python 3.11.7",
    )  # fmt: skip
    for part in parts:
        assert part in words
    assert "secret-host" not in page.page_source
    assert len(all_of(page, ".detail table > tbody > tr")) == 5
    assert len(detail.find_elements(By.CSS_SELECTOR, "svg polyline")) == 5
    page.execute_script("document.querySelector('#table-subset thead th.number button').click()")
    row = page.execute_script("return arguments[0].previousElementSibling.innerText", detail)
    assert "FETA-Net" in row
    page.execute_script("arguments[0].click()", more)
    assert all_of(page, ".detail") == []


def test_the_winners_details_compare_with_every_other_learner(page):
    page.execute_script("document.querySelector(\"[data-key='medoid']\").click()")
    detail = page.find_element(By.CSS_SELECTOR, ".detail")
    assert len(all_of(page, ".detail table > tbody > tr")) == 3
    assert "more than noise" in detail.text


def test_light_and_dark_follow_the_system_until_someone_chooses(page):
    light, dark = INK_AND_PAPER["light"], INK_AND_PAPER["dark"]
    assert colours(page) == light
    media(page, "dark")
    assert colours(page) == dark
    theme = page.find_element(By.ID, "theme")
    theme.click()
    assert (theme.text, colours(page)) == ("Theme: light", light)
    theme.click()
    assert (theme.text, colours(page)) == ("Theme: dark", dark)
    theme.click()
    assert theme.text == "Theme: auto"


def test_figures_take_the_pages_ink_and_names_are_unique(page):
    figures = all_of(page, "figure svg[role=img][aria-label]")
    names = {figure.get_attribute("id") for figure in all_of(page, "figure")}
    shown = ("bars-singleton", "bars-subset", "ranks-all", "tasks", "generalization",
             "convergence", "tuning-subset")  # fmt: skip
    assert {f"figure-{name}" for name in shown} <= names
    assert len(figures) == len(names)
    assert names_are_sound(page)
    assert "#111213" not in page.page_source


def test_a_phone_never_scrolls_the_page_sideways(page):
    assert fits_a_phone(page)


def test_on_paper_headings_are_words_and_buttons_are_left_out(page):
    printed = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = [b for b in all_of(page, "nav, #theme, .more, thead button") if b.is_displayed()]
    content = page.execute_script(
        "return getComputedStyle(document.querySelector('thead th'), '::before').content"
    )
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert visible == []
    assert content == '"Condition"'


def test_words_of_results_stay_words(browser, pages):
    browser.get(f"file://{pages / 'mixed.html'}")
    assert browser.get_log("browser") == []
    assert all_of(browser, "files, img") == []
    browser.execute_script("document.querySelector(\"[data-key='sushi/feta']\").click()")
    detail = browser.find_element(By.CSS_SELECTOR, ".detail")
    assert f"skipped: {result_examples.NASTY}" in detail.text
    assert all_of(browser, "files, img") == []
    gap = browser.find_element(By.CSS_SELECTOR, "#table-singleton-2 td span[title]")
    assert result_examples.NASTY in gap.get_attribute("title")

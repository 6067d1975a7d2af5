"""The page about one model, in a real browser, and what it says of noise."""

import re
from pathlib import Path

import numpy as np
import pytest
from browsing import (
    INK_AND_PAPER,
    all_of,
    colours,
    fits_a_phone,
    media,
    names_are_sound,
    opened,
)
from closed_form import halo, one_hot_tasks, written
from selenium.webdriver.common.keys import Keys
from trips_example import trips

from cschoice.explanations.explanation import explain
from cschoice.learners import make_learner
from cschoice.report.contents.explanation.sections import sections
from cschoice.report.formats.explanation import html
from cschoice.tasks import ChoiceTasks

ROOT = Path(__file__).parents[3]
FIGURES = (
    "who", "orders", "attraction", "compromise", "similarity", "decision-17", "importance",
    "dependence-cost", "dependence-time", "structure",
)  # fmt: skip

MEANT = ("attraction", "compromise", "similarity")  # their numbers stand in a table of their own


@pytest.fixture(scope="module")
def explained():
    tasks = ChoiceTasks.from_frame(
        trips(120), task="trip", object="mode", chosen="chosen", features="cost,time",
        constants=True, group="person",
    )  # fmt: skip
    return explain(
        make_learner("lcl").fit(tasks), tasks, dataset="trips", decisions=[17], folds=3,
        better={"cost": "low", "time": "low"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def file(explained, tmp_path_factory):
    path = tmp_path_factory.mktemp("explained") / "explanation.html"
    path.write_bytes(html(explained)["explanation.html"])
    return path


@pytest.fixture
def page(browser, file):
    with opened(browser, file) as found:
        yield found


def text_of(explanation):
    return {section.name: " ".join(section.text) for section in sections(explanation)}


def test_every_figure_has_words_and_numbers_for_those_who_do_not_see_it(page):
    shown = [figure.get_attribute("id") for figure in all_of(page, "figure")]
    assert shown == [f"figure-{name}" for name in FIGURES]
    described = all_of(page, "figure svg[role=img]")
    captions = [one.text for one in all_of(page, "figure figcaption")]
    assert [one.get_attribute("aria-label") for one in described] == captions
    assert all(len(caption) > 60 for caption in captions)
    behind = {table.get_attribute("id") for table in all_of(page, "details table")}
    assert {f"table-{name}-numbers" for name in FIGURES if name not in MEANT} <= behind
    assert names_are_sound(page)


def test_the_keyboard_reaches_links_and_numbers(page):
    more = all_of(page, "#decision details summary")[0]
    more.send_keys(Keys.ENTER)
    assert page.execute_script("return arguments[0].parentElement.open", more)
    link = all_of(page, "nav a[href='#features']")[0]
    link.send_keys(Keys.ENTER)
    assert page.current_url.endswith("#features")
    targets = [one.get_attribute("href").partition("#")[2] for one in all_of(page, "nav a")]
    assert targets == [one.get_attribute("id") for one in all_of(page, "section")]


def test_a_phone_and_the_dark_are_served(page):
    assert fits_a_phone(page)
    assert colours(page) == INK_AND_PAPER["light"]
    media(page, "dark")
    assert colours(page) == INK_AND_PAPER["dark"]
    assert "#111213" not in page.page_source  # figures have the page's ink, not their own


def test_the_numbers_of_a_decision_add_up_to_its_sum(page):
    rows = page.execute_script(
        "return [...document.querySelectorAll('#table-decision-17-numbers tbody tr')]"
        ".map(row => [row.cells[0].textContent, Number(row.cells[1].dataset.value)])"
    )
    *parts, (last, total) = rows
    assert last == "Sum"
    assert sum(value for _, value in parts) == pytest.approx(total, abs=1e-4)
    words = re.search(r"they sum to (.+?), the log-odds of the model are (.+?)\.(?!\d)",
                      page.find_element("id", "decision").text)  # fmt: skip
    assert words[1] == words[2]
    assert float(words[1]) == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("name", ["mlba", "swissmetro"])
def test_the_pages_in_docs_open_alone_and_on_a_phone(browser, name):
    with opened(browser, ROOT / f"docs/explained/{name}.html") as found:
        assert f"FETA-Net on {name}, explained" in found.title
        assert names_are_sound(found)
        assert fits_a_phone(found)


def test_what_the_data_cannot_tell_is_said(explained):
    """There is no context in these trips."""
    said = text_of(explained)
    assert "These data do not show that context matters: LCL and MNL predict" in said["gain"]
    for effect in MEANT:
        assert f"{effect.capitalize()}: the data cannot tell (" in said["triples"]
    assert "Every set has the same alternatives" in said["limits"]
    assert re.search(r"Of 6 effects in the matrix, \d are more than noise", said["limits"])
    assert "the data have none: effects of objects that join" in said["limits"]


def test_what_the_data_tell_is_said_too():
    """Of three dishes a bad fish helps meat, and half of the time it is not on the menu."""
    rng = np.random.default_rng(0)
    menus = [[0, 1, 2] if rng.random() < 0.5 else [0, 1] for _ in range(600)]
    matrix = np.zeros((3, 3))
    matrix[0, 2] = 2.0
    tasks = one_hot_tasks(3, menus)
    worth = written(halo(matrix, own=[0.0, 0.5, -1.5]), tasks).utilities(tasks)
    noisy = worth + rng.gumbel(size=tasks.n_entries)
    tasks = tasks.with_arrays(chosen=noisy == tasks.spread(tasks.reduce(np.maximum, noisy)))
    said = text_of(explain(make_learner("cdm", l2=1e-3).fit(tasks), tasks, folds=5))
    assert said["gain"].startswith("Context matters: CDM, which sees the other objects")
    assert said["who"].startswith("x2 helps x0 (+")
    assert said["who"] in said["summary"]
    assert "2 different line-ups of items" in said["limits"]
    assert "only 2 different sets" in said["limits"]


def test_without_copies_noise_is_unknown_and_said_to_be():
    tasks = one_hot_tasks(3, [[0, 1, 2], [0, 1], [1, 2]] * 10)
    said = text_of(explain(make_learner("mnl", l2=1.0).fit(tasks), tasks, folds=0))
    assert "give --folds" in said["gain"]
    assert "nothing is known of the noise" in said["limits"]

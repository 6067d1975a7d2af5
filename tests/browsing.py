"""Pages in a real browser: Chromium without a window."""

import contextlib
import shutil

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
COLOURS = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
INK_AND_PAPER = {
    "light": ["rgb(23, 25, 28)", "rgb(255, 255, 255)"],
    "dark": ["rgb(231, 233, 236)", "rgb(21, 23, 26)"],
}


@contextlib.contextmanager
def chromium(folder):
    """Open a browser with its own settings, or skip the test where there is none."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("a browser is needed: install chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=Service(driver)) as found:
        yield found


@contextlib.contextmanager
def opened(browser, path):
    """Open a file, wide and light; at the end nothing was complained of, nothing else fetched."""
    show(browser, width=1200)
    media(browser, "light")
    browser.get(f"file://{path}")
    yield browser
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def show(browser, width):
    """Give the page a width, as on a phone where it is small."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def media(browser, scheme):
    """Let the system be light or dark."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def colours(page):
    """Return the colours of letters and paper."""
    return page.execute_script(COLOURS)


def all_of(page, selector):
    """Return all elements that a selector finds."""
    return page.find_elements(By.CSS_SELECTOR, selector)


def fits_a_phone(page):
    """Tell whether nothing scrolls sideways but what the keyboard reaches and has a name."""
    show(page, width=360)
    reachable = page.execute_script(
        "return [...document.querySelectorAll('.scroll')]"
        ".every(e => e.tabIndex === 0 && (e.ariaLabel || e.getAttribute('aria-labelledby')))"
    )
    return reachable and page.execute_script("return document.documentElement.scrollWidth") == 360


def names_are_sound(page):
    """Tell whether every id is there once, and every label that is referred to."""
    ids = page.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    broken = page.execute_script(
        "return [...document.querySelectorAll('[aria-labelledby]')]"
        ".filter(e => !document.getElementById(e.getAttribute('aria-labelledby'))).length"
    )
    return len(ids) == len(set(ids)) and broken == 0

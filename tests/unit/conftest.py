"""Reports of made-up results, for every test that reads one."""

import made_results
import pytest

from cschoice.report.summary import summarize


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return summarize(made_results.small(tmp_path_factory.mktemp("small")), "laptop")


@pytest.fixture(scope="module")
def mixed_folder(tmp_path_factory):
    return made_results.mixed(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def mixed(mixed_folder):
    return summarize(mixed_folder, "laptop")

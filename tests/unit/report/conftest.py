"""Reports of made-up results, for every test that reads one."""

import pytest
import result_examples

from cschoice.report.compute.summary import summarize


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return summarize(result_examples.small(tmp_path_factory.mktemp("small")), "laptop")


@pytest.fixture(scope="module")
def mixed_folder(tmp_path_factory):
    return result_examples.mixed(tmp_path_factory.mktemp("mixed"))


@pytest.fixture(scope="module")
def mixed(mixed_folder):
    return summarize(mixed_folder, "laptop")

"""The promises of every dataset that can be generated."""

import pytest
from cschoice_cli.main import app
from trips_example import trips
from typer.testing import CliRunner

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter, UnknownName
from cschoice.testing import dataset_checks, parametrize_with_checks
from cschoice.testing.datasets import limit_checks

GENERATED = [name for name, info in DATASETS.items() if info.raw is None]
READ = [name for name, info in DATASETS.items() if info.raw]


@parametrize_with_checks(check for name in GENERATED for check in dataset_checks(name))
def test_a_dataset_keeps_its_promises(check):
    check()


@parametrize_with_checks(check for name in READ for check in limit_checks(name))
def test_a_dataset_of_files_keeps_its_limits(check):
    check()


def test_an_imported_dataset_keeps_its_limits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trips(10).to_csv("trips.csv", index=False)
    line = "import trips.csv --name trips --task trip --chosen chosen --features cost,time"
    assert CliRunner().invoke(app, line.split()).exit_code == 0
    for check in limit_checks("trips"):
        check()


@pytest.mark.usefixtures("raw_folder")
@pytest.mark.parametrize("name", READ)
def test_missing_raw_data_say_what_was_sought_where(name, tmp_path):
    source = make_dataset(name)
    assert source.kind is DATASETS[name].kind
    with pytest.raises(DataUnavailable) as caught:
        source.fold(0, seed=0)
    assert f"not found in {tmp_path / 'raw'} or {tmp_path / 'cache'}" in str(caught.value)
    assert "set CSCHOICE_DATA to the folder that holds it" in str(caught.value)


@pytest.mark.parametrize("name", READ)
def test_raw_data_that_cannot_be_used_are_named(name, raw_folder):
    info = RAW_DATA[DATASETS[name].raw]
    for layout in info.layouts:
        for wanted in layout.values():
            path = raw_folder / (wanted.folders[0] or "any") / wanted.names[0]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\x00nonsense\n")
    with pytest.raises(DamagedData, match=str(raw_folder)):
        make_dataset(name).fold(0, seed=0)


def test_names_and_parameters_are_suggested():
    with pytest.raises(UnknownName, match="did you mean 'medoid'"):
        make_dataset("mediod")
    with pytest.raises(InvalidParameter, match="did you mean 'n_train'"):
        make_dataset("medoid", n_trian=3)

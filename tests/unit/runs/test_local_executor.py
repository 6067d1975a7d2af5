"""Which process sees which device, decided before it starts."""

import pytest

from cschoice.runs.executors.local import local_slots


def test_one_slot_per_core_or_as_many_as_asked(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "3")
    assert [slot.name for slot in local_slots("auto", None)] == ["cpu:0", "cpu:1", "cpu:2"]
    assert [slot.device for slot in local_slots("cpu", 2)] == ["cpu", "cpu"]


@pytest.mark.parametrize(
    ("device", "n_workers", "expected"),
    [
        ("auto", None, ["4", "7"]),
        ("cuda", None, ["4", "7"]),
        ("cuda", 3, ["4", "7", "4"]),  # several jobs per GPU
        ("cuda:1", None, ["7"]),
    ],
)
def test_gpus_are_those_that_are_visible(monkeypatch, device, n_workers, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    slots = local_slots(device, n_workers)
    assert [slot.environment["CUDA_VISIBLE_DEVICES"] for slot in slots] == expected
    assert {slot.device for slot in slots} == {"cuda"}


def test_cpu_means_cpu_where_there_are_gpus(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert {slot.device for slot in local_slots("cpu", None)} == {"cpu"}

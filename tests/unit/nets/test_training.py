from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import nn

from cschoice.datasets import make_dataset
from cschoice.errors import InvalidFile, InvalidParameter, TrainingDiverged
from cschoice.learners import make_learner
from cschoice.learners.feta import FetaNet
from cschoice.learners.torch_learner import Scaled
from cschoice.nets import devices, training
from cschoice.nets.batches import TaskTensors
from cschoice.nets.devices import device_named
from cschoice.nets.layers import Layers
from cschoice.nets.losses import loss_for
from cschoice.nets.training import Trainer, TrainingPlan, train
from cschoice.tasks import ChoiceTasks, Kind


def ragged_tasks(n_tasks: int = 40, seed: int = 0) -> ChoiceTasks:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, n_tasks))])
    x = rng.normal(size=(offsets[-1], 2)).astype(np.float32)
    chosen = x[:, 0] > 0
    chosen[offsets[:-1]] = True
    return ChoiceTasks(x, rng.permutation(len(x)), offsets, chosen, Kind.SUBSET)


def feta_network(layers: Layers = Layers(8, 2, "gelu")) -> Scaled:  # noqa: B008 - frozen
    torch.manual_seed(0)
    return Scaled(FetaNet(2, layers, layers), 2)


PLAN = TrainingPlan(epochs=4, batch_size=16, learning_rate=0.01, l2=0.0)
LOSS = loss_for("binary-cross-entropy", Kind.SUBSET)


def test_step_decay_is_the_papers() -> None:
    plan = TrainingPlan(
        epochs=1000, batch_size=1, learning_rate=0.5, l2=0, recipe="paper", drop=0.1, epochs_drop=50
    )
    factors = [plan.learning_rate_factor(epoch) for epoch in (0, 49, 50, 120)]
    assert_allclose(factors, [1, 1, 0.1, 0.01])


def test_one_cycle_rises_and_falls_to_zero() -> None:
    plan = TrainingPlan(epochs=10, batch_size=1, learning_rate=1, l2=0)
    factors = np.array([plan.learning_rate_factor(epoch) for epoch in np.linspace(0, 10, 101)])
    peak = factors.argmax()
    assert peak == 20
    assert factors[peak] == 1
    assert (np.diff(factors[: peak + 1]) > 0).all()
    assert (np.diff(factors[peak:]) < 0).all()
    assert factors[-1] == pytest.approx(0, abs=1e-12)


def test_pieces_hold_every_task_once_and_fit_the_budget() -> None:
    tasks, network = ragged_tasks(), feta_network()
    data = TaskTensors(tasks, network)
    pieces = list(data.pieces(np.arange(len(tasks)), network, budget=2000))
    assert sorted(np.concatenate(pieces)) == list(range(len(tasks)))
    assert len(pieces) > 1
    for piece in pieces:
        assert len(piece) * network.floats_per_task(tasks.sizes[piece].max()) <= 2000


def test_a_batch_holds_its_tasks_and_zeros_at_padding() -> None:
    tasks, network = ragged_tasks(), feta_network()
    network.adapt(tasks)
    numbers = np.array([5, 2, 17])
    batch = TaskTensors(tasks, network).batch(numbers)
    assert batch.mask is not None
    mask = batch.mask.numpy()
    assert mask.shape == (3, tasks.sizes[numbers].max())
    assert (batch.x.numpy()[~mask] == 0).all()
    assert not batch.chosen.numpy()[~mask].any()
    for row, number in enumerate(numbers):
        assert mask[row].tolist() == [k < tasks.sizes[number] for k in range(mask.shape[1])]
        assert batch.entries[row][batch.mask[row]].tolist() == tasks.entries(number).tolist()
        assert np.array_equal(batch.chosen.numpy()[row][mask[row]], tasks[number].chosen)
        scaled = network.scaled(torch.tensor(tasks[number].features)).numpy()
        assert_allclose(batch.x.numpy()[row][mask[row]], scaled)


def test_inputs_are_scaled_on_the_entries_not_on_the_table() -> None:
    table = [[0.0, 5.0, -1e30], [1.0, 5.0, 1e30], [1e6, 9.0, 0.0]]  # the last is in no task
    tasks = ChoiceTasks(table, [0, 1, 0, 1], [0, 2, 4], [True, False] * 2, Kind.SUBSET)
    network = Scaled(nn.Identity(), 3)
    network.adapt(tasks)
    assert_allclose(network.scaled(torch.tensor(tasks.features)), [[-1, 0, -1], [1, 0, 1]] * 2)


def test_pieces_change_nothing_but_time(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = ragged_tasks()
    results = []
    for floats in (2**20, 300, 40):  # whole batches, a few tasks, rows of one task
        monkeypatch.setitem(devices.FLOATS_AT_ONCE, "cpu", floats)
        network = feta_network()
        log = train(Trainer(network, LOSS, PLAN, seed=1), tasks)
        results.append((log[-1]["loss"], training.predict(network, tasks)))
    for loss, utilities in results[1:]:
        assert loss == pytest.approx(results[0][0], rel=1e-4)
        assert_allclose(utilities, results[0][1], rtol=1e-3, atol=1e-3)


def test_batch_norm_sees_the_whole_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(devices.FLOATS_AT_ONCE, "cpu", 300)
    seen: list[int] = []
    network = feta_network(Layers(8, 2, "relu", "batch"))
    network.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0])))
    train(Trainer(network, LOSS, PLAN, seed=0), ragged_tasks(40))
    assert seen == [16, 16, 8] * PLAN.epochs


def test_out_of_memory_halves_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(devices.FLOATS_AT_ONCE, "cpu", 2**20)
    expected = train(Trainer(feta_network(), LOSS, PLAN, seed=0), ragged_tasks(40))
    network = feta_network()
    largest = 5

    def small_device(_: Any, inputs: Any) -> None:
        if len(inputs[0]) > largest:
            raise torch.OutOfMemoryError("no room")

    network.register_forward_pre_hook(small_device)
    log = train(Trainer(network, LOSS, PLAN, seed=0), ragged_tasks(40))
    assert devices.FLOATS_AT_ONCE["cpu"] < 2**20
    assert [row["loss"] for row in log] == pytest.approx(
        [row["loss"] for row in expected], rel=1e-4
    )
    largest = 0
    with pytest.raises(MemoryError, match="too small for one task"):
        train(Trainer(network, LOSS, PLAN, seed=0), ragged_tasks(40))


@pytest.mark.parametrize("recipe", ["modern", "paper"])
def test_recipes_learn(recipe: Any) -> None:
    plan = TrainingPlan(epochs=30, batch_size=8, learning_rate=0.02, l2=1e-4, recipe=recipe)
    rows: list[dict[str, float]] = []
    log = train(Trainer(feta_network(), LOSS, plan, seed=0), ragged_tasks(), on_epoch=rows.append)
    assert log == rows
    assert [row["epoch"] for row in log] == list(range(1, 31))
    assert log[-1]["loss"] < 0.9 * log[0]["loss"]


def test_the_penalty_of_the_paper_is_part_of_the_gradient() -> None:
    plan = TrainingPlan(epochs=1, batch_size=64, learning_rate=0.1, l2=0.25, recipe="paper")
    layer = nn.Linear(2, 1)
    before = layer.weight.detach().clone()
    optimizer = training._optimizer(layer, plan)
    (layer.weight.sum() * 0 + layer.bias.sum() * 0).backward()
    bias = layer.bias.item()
    optimizer.step()
    # d/dw 0.25 w² = 0.5 w; Nesterov's first step is 1.9 times the gradient
    assert_allclose(layer.weight.detach(), before * (1 - 0.1 * 0.5 * 1.9), rtol=1e-5)
    assert layer.bias.item() == bias


def test_early_stopping_restores_the_best_weights() -> None:
    plan = TrainingPlan(
        epochs=60, batch_size=8, learning_rate=0.1, l2=0, validation_share=0.25, patience=3
    )
    rng = np.random.default_rng(0)  # choices without reason: learning them can only hurt
    x, chosen = rng.normal(size=(40, 4, 2)), rng.random((40, 4)) < 0.5
    chosen[:, 0] = True
    tasks, network = ChoiceTasks.from_dense(x, chosen, Kind.SUBSET), feta_network()
    log = train(Trainer(network, LOSS, plan, seed=0), tasks)
    losses = [row["validation_loss"] for row in log]
    assert len(log) < 60
    assert int(np.argmin(losses)) == len(losses) - 1 - 3
    _, held_out = training._hold_out(tasks, plan, 0)
    data = TaskTensors(tasks, network)
    assert training.mean_loss(network, data, held_out, LOSS) == pytest.approx(min(losses))


def test_divergence_is_an_error() -> None:
    learner = make_learner("feta", recipe="paper", learning_rate=1e30, epochs=3, activation="gelu")
    with pytest.raises(TrainingDiverged, match="smaller learning rate"):
        learner.fit(ragged_tasks())


def test_global_random_state_is_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    make_learner("feta", epochs=1).fit(ragged_tasks())
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("recipe", ["modern", "paper"])
@pytest.mark.parametrize("name", ["feta", "fate", "sda"])
def test_an_interrupted_training_continues_bit_for_bit(name: str, recipe: str) -> None:
    """Other tasks in each epoch, as in a stream; with batch normalization in recipe paper."""
    activation = {} if name == "sda" else {"activation": "relu"}

    def start() -> tuple[Any, Trainer]:
        learner = make_learner(name, epochs=5, recipe=recipe, **activation)
        return learner, learner.trainer(ragged_tasks(), seed=3)

    def epoch(learner: Any, trainer: Trainer) -> dict[str, float]:
        row = trainer.epoch(TaskTensors(ragged_tasks(seed=trainer.n_epochs), learner.network_))
        learner.utilities(ragged_tasks(seed=100))  # looking at it in between changes nothing
        return row

    whole, trainer = start()
    rows = [epoch(whole, trainer) for _ in range(3)]
    kept = {path: array.copy() for path, array in trainer.state().items()}
    rows += [epoch(whole, trainer) for _ in range(2)]
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4, 5]
    resumed, trainer = start()
    trainer.restore(kept, n_epochs=3)
    assert [epoch(resumed, trainer) for _ in range(2)] == rows[3:]
    tasks = ragged_tasks(seed=99)
    assert np.array_equal(resumed.utilities(tasks), whole.utilities(tasks))


def test_a_stream_of_the_same_tasks_is_a_fit() -> None:
    tasks, learner = ragged_tasks(), make_learner("fate", epochs=3)
    trainer = learner.trainer(tasks)
    log = [trainer.epoch(TaskTensors(tasks, learner.network_)) for _ in range(3)]
    assert log == make_learner("fate", epochs=3).fit(tasks).log_


def test_a_state_of_another_network_is_refused() -> None:
    state = make_learner("fate", n_units=8).trainer(ragged_tasks()).state()
    with pytest.raises(InvalidFile, match="not the state of such a network"):
        make_learner("fate", n_units=9).trainer(ragged_tasks()).restore(state, 1)


def test_seeds_differ() -> None:
    tasks = ragged_tasks()
    first, second = (make_learner("fate", epochs=1).fit(tasks, seed=s) for s in (0, 1))
    assert not np.array_equal(first.utilities(tasks), second.utilities(tasks))


def test_unknown_devices_are_reported() -> None:
    with pytest.raises(InvalidParameter, match="allowed: cpu, cuda"):
        device_named("cuda:99")
    assert device_named("cpu").type == "cpu"
    assert device_named("auto").type in ("cpu", "cuda", "mps")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("name", ["feta", "fate", "sda", "ranknet", "feta-linear"])
def test_cuda_agrees_with_cpu(name: str) -> None:
    tasks = ragged_tasks()
    on_cpu, on_gpu = (
        make_learner(name, epochs=3).fit(tasks, device=device).utilities(tasks)
        for device in ("cpu", "cuda")
    )
    assert_allclose(on_cpu, on_gpu, rtol=0.05, atol=0.05)


MEMORY = """
import numpy as np, torch
from pathlib import Path
from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind
torch.set_num_threads(1)
def tasks(n_tasks, n_objects):
    x = np.random.default_rng(0).normal(size=(n_tasks, n_objects, 2)).astype(np.float32)
    return ChoiceTasks.from_dense(x, np.zeros(n_tasks, dtype=int), Kind.SINGLETON)
learner = make_learner("feta", epochs=1, batch_size=4096, n_layers=2, n_units=64)
{action}
print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20)
"""
ACTIONS = {
    "training batch of 4,096 tasks": "learner.fit(tasks(4096, 30))",
    "prediction of 1,831 objects": "learner.fit(tasks(4, 3)).utilities(tasks(1, 1831))",
    "training on 600 objects": "learner.fit(tasks(1, 600))",
}


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize("action", ACTIONS)
def test_memory_is_bounded(action: str) -> None:
    code = MEMORY.replace("{action}", ACTIONS[action])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 2, "GB at the peak"


def test_a_network_that_lost_every_difference_is_no_result(monkeypatch):
    learner = make_learner("sda", epochs=1)
    monkeypatch.setattr(
        type(learner), "_utilities", lambda _, tasks: np.ones(tasks.n_entries, np.float32)
    )
    train, _ = make_dataset("medoid", n_train=50, n_test=1).fold(0, 0)
    with pytest.raises(TrainingDiverged, match="same utility: a smaller learning rate"):
        learner.fit(train)

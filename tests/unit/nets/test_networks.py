from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor, nn

from cschoice.errors import InvalidFile, InvalidParameter, UnknownName
from cschoice.learners import make_learner
from cschoice.learners.fate import FateNet
from cschoice.learners.feta import FetaLinearNet, FetaNet, FetaSigmoidNet
from cschoice.learners.sda import kinked
from cschoice.nets.activations import ACTIVATIONS
from cschoice.nets.layers import (
    MLP,
    ContextMLP,
    Layers,
    MaskedBatchNorm,
    SetEncoder,
    masked_mean,
)
from cschoice.nets.losses import LOSSES, loss_for
from cschoice.nets.pairs.encoder import PairEncoder, mean_over_others, sums_over_others, swapped
from cschoice.nets.pairs.groups import _groups
from cschoice.nets.pairs.sums import PairSettings, PairSums, Workspace
from cschoice.tasks import ChoiceTasks, Kind


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def some_mask() -> Tensor:
    return torch.tensor([[True] * 5, [True, True, True, False, False], [True] + [False] * 4])


# The paper's worked examples


def test_feta_example_of_the_paper() -> None:
    inherent = torch.tensor([-0.8, -0.7, -0.7, -0.8])
    nan = float("nan")  # U1(x, x) is never used
    pairs = torch.tensor(
        [[nan, 1.2, 0.8, 0.0], [0.0, nan, 1.2, 1.4], [0.6, 0.0, nan, 0.2], [1.0, 0.0, 0.8, nan]]
    )

    def utilities(objects: list[int]) -> Tensor:
        values = pairs[objects][:, objects].nan_to_num()[None, :, :, None]
        means = mean_over_others(sums_over_others(values, None), None)
        return inherent[objects] + means[0, :, 0]

    assert_allclose(utilities([0, 1, 2]), [0.2, -0.1, -0.4], atol=1e-6)
    assert_allclose(utilities([0, 1, 3]), [-0.2, 0.0, -0.3], atol=1e-6)


def test_fate_example_of_the_paper() -> None:
    embedding = torch.tensor([1.0, 2.0, 3.0, 6.0])
    table = {2.0: [0.5, -0.1, -0.2, -0.3], 3.0: [-0.1, 0.5, -0.2, -0.3]}

    class Embed(nn.Module):
        def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
            return masked_mean(embedding[x.long()], mask)

    class Utility(nn.Module):
        def forward(self, x: Tensor, context: Tensor, _: Tensor | None) -> Tensor:
            rows = [
                [table[c.item()][int(i)] for i in row]
                for row, c in zip(x[..., 0], context, strict=True)
            ]
            return torch.tensor(rows)

    network = FateNet(Embed(), Utility(), 1)  # type: ignore[arg-type]
    x = torch.tensor([[[0.0], [1.0], [2.0]], [[0.0], [1.0], [3.0]]])
    assert_allclose(network(x, None), [[0.5, -0.1, -0.2], [-0.1, 0.5, -0.3]])


def test_feta_with_distances_solves_medoid() -> None:
    x = torch.rand(200, 10, 5, generator=generator())
    distances = -torch.cdist(x, x)
    utilities = mean_over_others(sums_over_others(distances.unsqueeze(-1), None), None)
    medoid = torch.cdist(x.double(), x.double()).sum(2).argmin(1)
    assert torch.equal(utilities.squeeze(-1).argmax(1), medoid)


def n_parameters(name: str, **parameters: Any) -> int:
    learner = make_learner(name, **parameters)
    return sum(parameter.numel() for parameter in learner._build(10).parameters())


def test_the_papers_parameter_counts_can_be_built() -> None:
    wide = {"n_set_units": 32, "n_embedding": 32, "n_units": 32}
    small = {"n_set_units": 17, "n_embedding": 17, "n_units": 36}
    assert n_parameters("feta", n_layers=2, n_units=56, n_inherent_units=19) == 2849
    assert n_parameters("fate", n_set_layers=2, n_layers=2, **small) == 2870
    assert n_parameters("fate", n_set_layers=3, n_layers=3, **wide) == 5985
    assert n_parameters("sda", n_reference_units=20, n_weight_units=28) == 2850


# The pair block


def plain_pairs(encoder: PairEncoder, x: Tensor, mask: Tensor | None) -> Tensor:
    """Evaluate one ordered pair, one subset of others after the other, as the equations say."""
    out = torch.zeros(*x.shape[:2], encoder.largest_power, encoder.n_units, dtype=x.dtype)
    for task in range(len(x)):
        real = [i for i in range(x.shape[1]) if mask is None or mask[task, i]]
        first, second = encoder.of_first(x[task]), encoder.of_second(x[task])
        h = {}
        for i, j in itertools.permutations(real, 2):
            h[i, j] = encoder.hidden(torch.cat([first[i] + second[j], second[i] + first[j]]))
            out[task, i, 0] += h[i, j] / (len(real) - 1)
        for i, size in itertools.product(real, range(2, encoder.largest_power + 1)):
            subsets = list(itertools.combinations([j for j in real if j != i], size))
            for subset in subsets:
                factors = torch.stack([encoder.factors(h[i, j]) for j in subset])
                out[task, i, size - 1] += factors.prod(0) / len(subsets)
    return out.flatten(2)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("n_objects", "order"), [(5, 2), (4, 2), (2, 2), (5, 3), (4, 4), (2, 3)])
def test_pair_block_is_the_equation(
    activation: str, masked: bool, n_objects: int, order: int
) -> None:
    torch.manual_seed(0)
    encoder = PairEncoder(3, Layers(4, 3, activation), order).double()
    x = torch.randn(3, n_objects, 3, dtype=torch.float64, requires_grad=True)
    mask = some_mask()[:, :n_objects] if masked else None
    weight = torch.randn(3, n_objects, encoder.n_outputs, dtype=torch.float64)
    if mask is not None:
        weight *= mask.unsqueeze(-1)
    results = []
    for compute in (encoder, lambda x, mask: plain_pairs(encoder, x, mask)):
        total = (compute(x, mask) * weight).sum()
        inputs = [x, *encoder.parameters()]
        results.append([total, *torch.autograd.grad(total, inputs, materialize_grads=True)])
    for got, expected in zip(*results, strict=True):
        assert_allclose(got.detach(), expected.detach(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("masked", [False, True])
def test_objects_of_large_tasks_are_seen_beside_some_of_the_others(masked: bool) -> None:
    torch.manual_seed(0)
    encoder = PairEncoder(3, Layers(4, 2, "gelu"), n_partners=2).double()
    x = torch.randn(3, 5, 3, dtype=torch.float64)
    mask = some_mask() if masked else None
    got = encoder(x, mask)
    for task in range(len(x)):
        whole = x[task] if mask is None else x[task][mask[task]]
        groups = list(_groups(whole[None], None, 2))
        assert sorted(torch.cat(groups).tolist()) == list(range(len(whole)))
        assert max(map(len, groups)) <= 3
        assert min(map(len, groups)) >= min(2, len(whole))
        expected = torch.zeros(len(whole), 4, dtype=torch.float64)
        for group in groups:
            expected[group] = plain_pairs(encoder, whole[None, group], None)[0]
        own = got[task] if mask is None else got[task][mask[task]]
        assert_allclose(own.detach(), expected.detach(), rtol=1e-9, atol=1e-12)


def test_swapping_the_objects_of_a_pair_swaps_its_units() -> None:
    torch.manual_seed(0)
    encoder = PairEncoder(3, Layers(6, 3, "gelu")).double()
    x = torch.randn(1, 2, 3, dtype=torch.float64)
    there, back = encoder(x)[0]  # the units of (x, y) and of (y, x)
    assert_allclose(swapped(there).detach(), back.detach(), rtol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("floats", [10_000, 60, 12])
@pytest.mark.parametrize("largest_power", [1, 3])
def test_pair_block_gradients(activation: str, floats: int, largest_power: int) -> None:
    shapes = [(2, 4, 3), (2, 4, 3), (2, 3), (3, 3), (3,), (3, 3), (3,)]
    inputs = [
        torch.randn(shape, generator=generator(i), dtype=torch.float64, requires_grad=True)
        for i, shape in enumerate(shapes)
    ]
    mask = torch.tensor([[True] * 4, [True, True, True, False]])
    settings = PairSettings(ACTIVATIONS[activation], floats, Workspace(), largest_power)

    def block(left: Tensor, right: Tensor, factors: Tensor, *parameters: Tensor) -> Any:
        used = factors if largest_power > 1 else None
        return PairSums.apply(left, right, mask, settings, used, *parameters)

    assert torch.autograd.gradcheck(block, inputs)


def test_buffers_may_be_overwritten_before_the_backward_pass() -> None:
    torch.manual_seed(0)
    encoder = PairEncoder(2, Layers(4, 2, "gelu"))
    x = torch.randn(2, 3, 2)
    expected = torch.autograd.grad(encoder(x).square().sum(), list(encoder.parameters()))
    value = encoder(x).square().sum()
    with torch.inference_mode():
        encoder(torch.randn(7, 5, 2))
    got = torch.autograd.grad(value, list(encoder.parameters()))
    for a, b in zip(got, expected, strict=True):
        assert torch.equal(a, b)


def test_a_set_of_one_object_has_only_its_inherent_utility() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 1, 2)
    network = FetaNet(2, Layers(4, 2), Layers(4, 2))
    assert torch.equal(network(x, None), network.inherent(x).squeeze(-1))
    linear = FetaLinearNet(2)
    nn.init.ones_(linear.of_first.weight)
    assert torch.equal(linear(x, None), linear.inherent(x).squeeze(-1))


def test_feta_linear_is_feta() -> None:
    torch.manual_seed(0)
    network = FetaLinearNet(3)
    for parameter in network.parameters():
        nn.init.normal_(parameter)
    x, mask = torch.randn(3, 5, 3), some_mask()
    pairs = network.of_first(x).unsqueeze(2) + network.of_second(x).unsqueeze(1)
    means = mean_over_others(sums_over_others(pairs, mask), mask)
    expected = (network.inherent(x) + means).squeeze(-1)
    assert_allclose(network(x, mask)[mask].detach(), expected[mask].detach(), rtol=1e-5, atol=1e-6)


def test_sigmoid_outputs_are_of_each_pair() -> None:
    torch.manual_seed(0)
    layers = Layers(6, 2, "selu")
    network = FetaSigmoidNet(3, layers, layers)
    x, mask = 3 * torch.randn(3, 5, 3), some_mask()
    utilities = network(x, mask)
    encoder = PairEncoder(3, layers)
    parts = network.pairs.state_dict()
    encoder.load_state_dict({k: v for k, v in parts.items() if not k.startswith("of_pair")})
    for task, present in enumerate(mask):
        objects = x[task, present]
        for first, one in enumerate(objects):
            # Of two objects, the mean over the others is the one pair.
            pairs = [
                encoder(torch.stack([one, other])[None])[0, 0]
                for second, other in enumerate(objects)
                if second != first
            ]
            of_pairs = [network.pairs.of_pair(units) for units in pairs] or [torch.zeros(1)]
            expected = network.inherent(one).sigmoid() + torch.stack(of_pairs).mean(0)
            assert_allclose(utilities[task, present][first].item(), expected.item(), rtol=1e-5)
    with pytest.raises(InvalidParameter, match="output 'sigmoid' needs order 2, got 3"):
        make_learner("feta3", output="sigmoid")


# Padding


def networks(normalization: Any) -> dict[str, nn.Module]:
    torch.manual_seed(0)
    layers = Layers(6, 2, "relu", normalization)
    encoder, utility = SetEncoder(3, 5, layers), ContextMLP(3, 5, layers)
    return {
        "feta": FetaNet(3, layers, layers),
        "feta-4": FetaNet(3, layers, layers, order=4),
        "feta-sigmoid": FetaSigmoidNet(3, layers, layers),
        "feta-groups": FetaNet(3, layers, layers, n_partners=2),
        "deep-sets": make_learner("deep-sets", n_set_units=6, n_embedding=5, n_units=6)._build(3),
        "fate": FateNet(encoder, utility, 6),
        "sda": make_learner("sda")._build(3),
        "mlp": MLP(3, 1, layers),
    }


@pytest.mark.parametrize("normalization", ["none", "batch"])
@pytest.mark.parametrize(
    "name",
    ["feta", "feta-4", "feta-sigmoid", "feta-groups", "deep-sets", "fate", "sda", "mlp"],
)
def test_padding_changes_no_number(name: str, normalization: str) -> None:
    network = networks(normalization)[name]
    x, mask = torch.randn(3, 5, 3, generator=generator()), some_mask()
    other = torch.where(mask.unsqueeze(-1), x, 100 * torch.randn(3, 5, 3, generator=generator(1)))
    longer = torch.cat([other, torch.ones(3, 2, 3)], dim=1)
    longer_mask = torch.cat([mask, torch.zeros(3, 2, dtype=torch.bool)], dim=1)
    outputs, states = [], []
    for values, present in ((x, mask), (other, mask), (longer, longer_mask)):
        copied = copy.deepcopy(network).train()
        outputs.append(copied(values, present)[present].flatten())
        outputs[-1].square().sum().backward()
        state = [v.float() for v in copied.state_dict().values()]
        states.append([*state, *(p.grad for p in copied.parameters())])
    for output, state in zip(outputs[1:], states[1:], strict=True):
        assert_allclose(output.detach(), outputs[0].detach(), rtol=1e-4, atol=1e-5)
        for got, expected in zip(state, states[0], strict=True):
            assert_allclose(got, expected, rtol=1e-3, atol=1e-4)


def test_masked_batch_norm_is_batch_norm_of_what_is_there() -> None:
    mask, x = some_mask(), torch.randn(3, 5, 4, generator=generator())
    masked, reference = MaskedBatchNorm(4), nn.BatchNorm1d(4)
    assert_allclose(masked(x, mask)[mask].detach(), reference(x[mask]).detach(), rtol=1e-5)
    assert_allclose(masked.running_var, reference.running_var)
    assert_allclose(masked.eval()(x)[mask].detach(), reference.eval()(x[mask]).detach(), rtol=1e-5)


# Losses


@pytest.mark.parametrize("name", LOSSES)
def test_loss_gradients_and_padding(name: str) -> None:
    mask = some_mask()
    u = torch.randn(3, 5, generator=generator(), dtype=torch.float64, requires_grad=True)
    chosen = torch.zeros(3, 5, dtype=torch.bool)
    chosen[:, 0] = True
    loss = LOSSES[name].compute
    assert torch.autograd.gradcheck(lambda u: loss(u, chosen, mask), [u])
    far = torch.where(mask, u, 1e4)
    assert_allclose(loss(far, chosen, mask).detach(), loss(u, chosen, mask).detach())
    for row in range(3):
        real = mask[row]
        alone = loss(u[row : row + 1, real], chosen[row : row + 1, real], None)
        assert_allclose(alone.detach(), loss(u, chosen, mask)[row : row + 1].detach())


def test_losses_by_hand() -> None:
    u = torch.tensor([[2.0, 0.0, 1.0]])
    first = torch.tensor([[True, False, False]])
    last = torch.tensor([[False, False, True]])
    e = np.exp
    assert_allclose(LOSSES["hinge"].compute(u, first, None), [0.0])
    assert_allclose(LOSSES["hinge"].compute(u, last, None), [2.0])
    cross_entropy = LOSSES["cross-entropy"].compute(u, last, None)
    assert_allclose(cross_entropy, [np.log(e(2) + e(0) + e(1)) - 1], rtol=1e-6)
    both = torch.tensor([[True, False, True]])
    pairs = LOSSES["pairwise-logistic"].compute(u, both, None)
    assert_allclose(pairs, [(np.log1p(e(-2)) + np.log1p(e(-1))) / 2], rtol=1e-6)
    binary = LOSSES["binary-cross-entropy"].compute(u, both, None)
    assert_allclose(binary, [(np.log1p(e(-2)) + np.log(2) + np.log1p(e(-1))) / 3], rtol=1e-6)


def test_losses_are_chosen_by_name_and_kind() -> None:
    with pytest.raises(InvalidParameter, match="binary-cross-entropy"):
        loss_for("hinge", Kind.SUBSET)
    with pytest.raises(UnknownName, match="did you mean 'hinge'"):
        loss_for("hinje", Kind.SINGLETON)


# Parameters


def tiny_tasks() -> ChoiceTasks:
    x = np.random.default_rng(0).normal(size=(12, 3, 2))
    return ChoiceTasks.from_dense(x, x[..., 0].argmax(1), Kind.SINGLETON)


@pytest.mark.parametrize(
    ("parameters", "activation", "normalization", "loss"),
    [
        ({}, "gelu", "none", "cross-entropy"),
        ({"recipe": "paper"}, "selu", "none", "hinge"),
        ({"recipe": "paper", "activation": "relu"}, "relu", "batch", "hinge"),
        ({"loss": "hinge", "activation": "relu"}, "relu", "none", "hinge"),
    ],
)
def test_recipes_complete_the_parameters(
    parameters: dict[str, Any], activation: str, normalization: str, loss: str
) -> None:
    learner = make_learner("fate", **parameters)
    assert learner._layers(8, 2) == Layers(8, 2, activation, normalization)
    assert learner.loss_name(Kind.SINGLETON) == loss
    assert learner.loss_name(Kind.SUBSET) in ("hinge", "binary-cross-entropy")


@pytest.mark.parametrize(
    "parameters", [{"recipe": "old"}, {"activation": "step"}, {"normalization": "layer"}]
)
def test_bad_parameters_are_reported(parameters: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(parameters))):
        make_learner("feta", epochs=1, **parameters).fit(tiny_tasks())


@pytest.mark.parametrize("name", ["feta", "fate", "ranknet", "sda"])
def test_the_papers_recipe_runs_with_batch_norm(name: str) -> None:
    learner = make_learner(name, recipe="paper", activation="relu", epochs=3, learning_rate=1e-2)
    tasks = tiny_tasks()
    assert np.isfinite(learner.fit(tasks).utilities(tasks)).all()


def test_state_of_another_architecture_is_refused() -> None:
    tasks = tiny_tasks()
    small, large = (make_learner("feta", epochs=1, n_units=u).fit(tasks) for u in (4, 8))
    with pytest.raises(InvalidFile, match="do not fit"):
        large._set_state(small._state())


def test_kinked_is_steeper_below_zero() -> None:
    values = kinked(torch.tensor([-1.0, 0.0, 1.0]))
    assert_allclose(values, [-1.5 * np.tanh(1), 0, np.tanh(1)], rtol=1e-6)

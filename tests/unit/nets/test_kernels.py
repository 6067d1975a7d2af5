"""Compiled code against torch: the same values and gradients, to rounding."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from cschoice.datasets import make_dataset
from cschoice.errors import InvalidParameter
from cschoice.learners import make_learner
from cschoice.nets.kernels import library
from cschoice.nets.layers import MLP, ContextMLP, Layers, SetEncoder
from cschoice.nets.pairs.encoder import PairEncoder

needs_compiler = pytest.mark.skipif(
    not library.available() and shutil.which("cc") is None,
    reason="there was no compiler to build the kernels with",
)


@pytest.fixture(params=["portable", "avx2", "avx512"])
def instructions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(library.VARIABLE, request.param)
    try:
        PairEncoder(1, Layers(2, 1))(torch.ones(1, 2, 1))
    except InvalidParameter as error:
        pytest.skip(str(error))
    return str(request.param)


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


NETWORKS = ["pairs", "pairs of order 4", "scores", "scores of many inputs", "means", "context"]


class Context(nn.Module):
    """A context network whose context is a function of the objects, as FATE's is."""

    def __init__(self, n_units: int, layers: Layers) -> None:
        super().__init__()
        self.encoder = SetEncoder(3, n_units, layers)
        self.utility = ContextMLP(3, n_units, layers)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        return self.utility(x, self.encoder(x, mask), mask)


def network_of(name: str, layers: Layers) -> nn.Module:
    torch.manual_seed(0)
    networks: dict[str, Callable[[], nn.Module]] = {
        "pairs": lambda: PairEncoder(3, layers),
        "pairs of order 4": lambda: PairEncoder(3, layers, order=4),
        "scores": lambda: MLP(3, 1, layers),
        "scores of many inputs": lambda: MLP(37, 1, layers),
        "means": lambda: SetEncoder(3, 20, layers),
        "context": lambda: Context(12, layers),
    }
    network = networks[name]()
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.4)
    return network


def values_and_gradients(network: nn.Module, x: Tensor, mask: Tensor | None) -> list[Tensor]:
    values = network(x, mask)
    if mask is not None and values.shape[:2] == mask.shape:  # one value per object, not per task
        values = values * mask.view(*mask.shape, *[1] * (values.ndim - 2))
    weights = torch.linspace(-1, 2, values.numel()).view_as(values)
    gradients = torch.autograd.grad((weights * values).sum(), list(network.parameters()))
    return [values.detach(), *gradients]


def assert_close(got: list[Tensor], expected: list[Tensor]) -> None:
    for ours, theirs in zip(got, expected, strict=True):
        scale = float(theirs.abs().max().clamp(min=1))
        torch.testing.assert_close(ours / scale, theirs / scale, rtol=0, atol=1e-5)


@needs_compiler
@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(
    ("n_objects", "n_units", "n_layers"), [(1, 4, 2), (2, 32, 1), (7, 64, 2), (10, 18, 3)]
)
@pytest.mark.parametrize("name", NETWORKS)
def test_equal_to_torch(
    name: str,
    n_objects: int,
    n_units: int,
    n_layers: int,
    activation: str,
    masked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = network_of(name, Layers(n_units, n_layers, activation))
    n_inputs = 37 if "many" in name else 3
    x = torch.randn(5, n_objects, n_inputs, generator=torch.Generator().manual_seed(1))
    sizes = torch.tensor([n_objects, 1, max(1, n_objects - 2), n_objects, 1])
    mask = torch.arange(n_objects) < sizes.unsqueeze(1) if masked else None
    with monkeypatch.context() as patch:
        calls = []
        call = library.call
        patch.setattr(library, "call", lambda *args: calls.append(args) or call(*args))
        ours = values_and_gradients(network, x, mask)
        assert calls
    monkeypatch.setattr(library, "fits", lambda *_: False)
    assert_close(ours, values_and_gradients(network, x, mask))


@needs_compiler
@pytest.mark.usefixtures("two_threads")
def test_a_fit_is_the_same_bit_by_bit_when_repeated() -> None:
    train, _ = make_dataset("medoid", n_train=300, n_test=1).fold(0, seed=1)
    utilities = [make_learner("feta", epochs=2).fit(train).utilities(train) for _ in range(2)]
    assert (utilities[0] == utilities[1]).all()


@needs_compiler
@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("name", NETWORKS)
def test_threads_share_the_tasks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network, x = network_of(name, Layers(16, 2)), torch.randn(5, 6, 37 if "many" in name else 3)
    alone = values_and_gradients(network, x, None)
    monkeypatch.setattr(library, "_WORTH_A_THREAD", 1)
    assert len(library.in_parts(5, 10**6, lambda part: part)) == 2
    assert_close(values_and_gradients(network, x, None), alone)


@needs_compiler
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("name", NETWORKS)
def test_what_is_not_a_number_stays_so(name: str, activation: str) -> None:
    network = network_of(name, Layers(16, 2, activation))
    with torch.no_grad():
        next(iter(network.parameters()))[0, 0] = float("nan")
    assert network(torch.ones(1, 3, 37 if "many" in name else 3), None).isnan().any()


@needs_compiler
def test_gradients_of_inputs_are_left_to_torch() -> None:
    network = network_of("context", Layers(16, 2, "gelu")).double()
    x = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values: network(values, None), x)
    single = network.float()
    (to_x,) = torch.autograd.grad(single(x.float(), None).sum(), x)
    assert to_x.abs().sum() > 0


def test_without_the_library_torch_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, x = PairEncoder(2, Layers(16, 2)), torch.randn(2, 3, 2)
    expected = encoder(x)
    monkeypatch.setenv(library.VARIABLE, "none")
    assert not library.available()
    assert not encoder.fused
    torch.testing.assert_close(encoder(x), expected)


def test_a_wrong_name_of_instructions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(library.VARIABLE, "sse9")
    with pytest.raises(InvalidParameter, match="CSCHOICE_KERNELS is 'sse9', allowed: best"):
        library.available()

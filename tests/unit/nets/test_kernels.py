"""The compiled pair block against the one in torch: the same sums and gradients, to rounding."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from cschoice.datasets import make_dataset
from cschoice.errors import InvalidParameter
from cschoice.learners import make_learner
from cschoice.nets.kernels import library
from cschoice.nets.layers import Layers
from cschoice.nets.pairs import encoder as encoders
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


def sums_and_gradients(
    encoder: PairEncoder,
    x: Tensor,
    mask: Tensor | None,
    monkeypatch: pytest.MonkeyPatch,
    fused: bool,
) -> list[Tensor]:
    with monkeypatch.context() as patch:
        if not fused:
            patch.setattr(encoders.fused, "fits", lambda *_: False)
        assert encoder.fused is fused
        units = encoder(x, mask)
        if mask is not None:
            units = units * mask.unsqueeze(-1)
        weights = torch.linspace(-1, 1, units.numel()).view_as(units)
        parameters = list(encoder.parameters())
        gradients = torch.autograd.grad((weights * units).sum(), [x, *parameters])
        return [units.detach(), *gradients]


@needs_compiler
@pytest.mark.usefixtures("instructions")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize(
    ("n_objects", "n_units", "n_layers"), [(1, 4, 2), (2, 32, 1), (7, 64, 2), (10, 18, 3)]
)
def test_equal_to_torch(
    n_objects: int,
    n_units: int,
    n_layers: int,
    activation: str,
    order: int,
    masked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch.manual_seed(0)
    encoder = PairEncoder(3, Layers(n_units, n_layers, activation), order)
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    x = torch.randn(4, n_objects, 3, requires_grad=True)
    sizes = torch.tensor([n_objects, 1, max(1, n_objects - 2), n_objects])
    mask = torch.arange(n_objects) < sizes.unsqueeze(1) if masked else None
    ours = sums_and_gradients(encoder, x, mask, monkeypatch, fused=True)
    theirs = sums_and_gradients(encoder, x, mask, monkeypatch, fused=False)
    for got, expected in zip(ours, theirs, strict=True):
        scale = float(expected.abs().max().clamp(min=1e-3))
        torch.testing.assert_close(got / scale, expected / scale, rtol=0, atol=1e-5)


@needs_compiler
@pytest.mark.usefixtures("two_threads")
def test_a_fit_is_the_same_bit_by_bit_when_repeated() -> None:
    train, _ = make_dataset("medoid", n_train=300, n_test=1).fold(0, seed=1)
    utilities = [make_learner("feta", epochs=2).fit(train).utilities(train) for _ in range(2)]
    assert (utilities[0] == utilities[1]).all()


@needs_compiler
@pytest.mark.usefixtures("two_threads")
def test_threads_share_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    encoder, x = PairEncoder(3, Layers(16, 2)), torch.randn(5, 6, 3, requires_grad=True)
    alone = sums_and_gradients(encoder, x, None, monkeypatch, fused=True)
    monkeypatch.setattr(library, "_WORTH_A_THREAD", 1)
    assert len(library.in_parts(5, 10**6, lambda part: part)) == 2
    together = sums_and_gradients(encoder, x, None, monkeypatch, fused=True)
    for got, expected in zip(together, alone, strict=True):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@needs_compiler
def test_numbers_that_are_none_stay_visible() -> None:
    encoder = PairEncoder(2, Layers(16, 2))
    with torch.no_grad():
        encoder.of_first.weight[0, 0] = float("nan")
    assert encoder(torch.ones(1, 3, 2)).isnan().any()


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

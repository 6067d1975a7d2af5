"""The models in torch-choice, by L-BFGS in double precision and without its reports."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def _minimize(model: Any, data: Any, labels: Any) -> float:
    import torch

    model = model.double()
    optimizer = torch.optim.LBFGS(
        model.parameters(), max_iter=500, line_search_fn="strong_wolfe", tolerance_change=1e-9
    )

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model.negative_log_likelihood(data, labels) / len(labels)
        loss.backward()
        return loss

    optimizer.step(closure)
    with torch.no_grad():
        return -float(model.negative_log_likelihood(data, labels))


def multinomial(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return the log-likelihood of the fitted multinomial logit."""
    import torch
    from torch_choice.data import ChoiceDataset
    from torch_choice.model import ConditionalLogitModel

    labels = torch.as_tensor(y)
    data = ChoiceDataset(
        item_index=labels,
        num_items=x.shape[1],
        session_index=torch.arange(len(x)),
        itemsession_x=torch.as_tensor(x).transpose(0, 1).transpose(0, 1),
    )
    model = ConditionalLogitModel(
        coef_variation_dict={"itemsession_x": "constant"},
        num_param_dict={"itemsession_x": x.shape[2]},
        num_items=x.shape[1],
    )
    return _minimize(model, data, labels)


def nested(x: NDArray[Any], y: NDArray[Any], nests: NDArray[Any]) -> float:
    """Return the log-likelihood of the fitted nested logit."""
    import torch
    from torch_choice.data import ChoiceDataset, JointDataset
    from torch_choice.model import NestedLogitModel

    labels, sessions = torch.as_tensor(y), torch.arange(len(x))
    shared = {"item_index": labels, "session_index": sessions}
    data = JointDataset(
        nest=ChoiceDataset(**shared, num_items=int(nests.max()) + 1),
        item=ChoiceDataset(**shared, num_items=x.shape[1], itemsession_x=torch.as_tensor(x)),
    )
    members = {int(k): [int(j) for j in (nests == k).nonzero()[0]] for k in set(nests.tolist())}
    model = NestedLogitModel(
        nest_to_item=members,
        nest_coef_variation_dict={},
        nest_num_param_dict={},
        item_coef_variation_dict={"itemsession_x": "constant"},
        item_num_param_dict={"itemsession_x": x.shape[2]},
        shared_lambda=False,
    )
    return _minimize(model, data.datasets, labels)

"""What an agent has learned, as tensors: taken out, put in, and held to be trained."""

import copy
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import nn

from helpers.agents.faster import plain_shapes
from helpers.agents.modes import TARGET


def part_of(agent: Any, name: str) -> Any:
    """A network or optimiser of the agent; where `torch.compile` has wrapped it, what is within.

    There the weights have the names that those of a fresh agent have.
    """
    part = getattr(agent, name)
    return getattr(part, "_orig_mod", part)


def weight_names(agent: Any) -> dict[str, set[str]]:
    """What the weights of its networks are called in its file, by the name of the network."""
    parts = {name: part_of(agent, name) for name in agent.saved if hasattr(agent, name)}
    return {
        name: set(part.state_dict()) for name, part in parts.items() if isinstance(part, nn.Module)
    }


def get_parameters(agent: Any) -> dict[str, dict[str, Any]]:
    """A copy of the state of every network and optimiser of the agent, by its name."""
    return {name: copy.deepcopy(part_of(agent, name).state_dict()) for name in agent.saved}


def set_parameters(agent: Any, parameters: Mapping[str, Mapping], exact: bool) -> None:
    """Copy `parameters`, as `get_parameters` gives them, into the agent's networks and optimisers.

    In place: what else looks at a weight sees the new number. An optimiser keeps its own settings,
    such as the learning rate. Raises `ValueError`, before anything changes, for what does not fit.
    """
    names = ", ".join(agent.saved)
    if not isinstance(parameters, Mapping):
        raise ValueError(
            f"Parameters are a dictionary of states by name ({names}), as get_parameters gives it; "
            f"got {type(parameters).__name__}."
        )
    if unknown := [name for name in parameters if name not in agent.saved]:
        raise ValueError(
            f"{type(agent).__name__} has no part {unknown[0]!r} to set; there are: {names}."
        )
    if exact and (missing := [name for name in agent.saved if name not in parameters]):
        raise ValueError(
            f"These parameters lack {', '.join(missing)}: add what is missing, or say exact=False "
            "to leave that as it is."
        )
    for name, state in parameters.items():
        _check_state(name, part_of(agent, name), state)
    for name, state in parameters.items():
        part = part_of(agent, name)
        new = copy.deepcopy(dict(state))
        if isinstance(part, torch.optim.Optimizer):
            new["param_groups"] = part.state_dict()["param_groups"]
        part.load_state_dict(new)


def apart(agent: Any) -> tuple[list[str], list[str]]:
    """Optimisers of weights that no network of the agent has, and networks that none trains."""
    parts = vars(agent).items()
    weights = {
        name: set(map(id, part.parameters())) for name, part in parts if isinstance(part, nn.Module)
    }
    trained = {
        name: {id(weight) for group in part.param_groups for weight in group["params"]}
        for name, part in parts
        if isinstance(part, torch.optim.Optimizer)
    }
    held, learning = set().union(*weights.values()), set().union(*trained.values())
    left = [name for name, own in trained.items() if own and not own & held]
    idle = [
        name
        for name, own in weights.items()
        if own and not own & learning and not name.startswith(TARGET)
    ]
    return left, idle


def check_trained(agent: Any) -> None:
    """Raise `ValueError` if a network was put in another's place, whose optimiser trains on.

    What a constructor has made so, such as networks in a list and one that is fixed, is meant.
    """
    now, made = apart(agent), vars(agent).get("apart", ([], []))
    pairs = zip(now, made, strict=True)
    left, idle = ([name for name in names if name not in meant] for names, meant in pairs)
    if left and idle:
        raise ValueError(
            f"{left[0]} trains weights that no network of the agent has, and nothing trains "
            f"agent.{idle[0]}, which was put in another's place: copy weights instead, "
            f"agent.{idle[0]}.load_state_dict(net.state_dict()), or name a class of your own when "
            "the agent is made."
        )


def _check_state(name: str, part: Any, state: Any) -> None:
    """Raise `ValueError` unless `state` can become that of the network or optimiser `part`."""
    if not isinstance(state, Mapping):
        raise ValueError(
            f"'{name}' must be the state_dict of that part, as get_parameters gives it; got "
            f"{type(state).__name__}."
        )
    if not isinstance(part, torch.optim.Optimizer):
        here = part.state_dict()
        whole = {key for key, each in here.items() if not each.is_floating_point()}  # they count
        _check_tensors(name, {key: each.shape for key, each in here.items()}, state, whole)
        return
    moments = state.get("state")
    if not isinstance(moments, Mapping):
        raise ValueError(f"'{name}' must be an optimiser's state_dict, but it has no 'state'.")
    if moments:  # empty before the first update
        parameters = [each for group in part.param_groups for each in group["params"]]
        expected = {
            f"{i}.{key}": torch.Size([]) if key == "step" else shape
            for i, shape in enumerate(plain_shapes(parameters))
            for key in ("step", "exp_avg", "exp_avg_sq")
        }
        given = {
            f"{i}.{key}": value
            for i, each in moments.items()
            for key, value in (each.items() if isinstance(each, Mapping) else {"": each}.items())
        }
        _check_tensors(name, expected, given)


def _check_tensors(
    name: str, shapes: dict[str, torch.Size], given: Mapping[str, Any], whole: Collection[str] = ()
) -> None:
    """Raise `ValueError` unless `given` holds finite tensors of just these names and shapes.

    Of floats, or also of whole numbers where `whole` has the name.
    """
    if missing := [key for key in shapes if key not in given]:
        raise ValueError(f"'{name}' lacks {missing[0]!r}: it belongs to another kind of network.")
    for key, tensor in given.items():
        where = f"{key!r} of '{name}'"
        if key not in shapes:
            raise ValueError(f"'{name}' knows no {key!r}: it belongs to another kind of network.")
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"{where} must be a tensor, got {type(tensor).__name__}.")
        if tensor.shape != shapes[key]:
            raise ValueError(
                f"{where} has the shape {tuple(tensor.shape)}, this agent's has "
                f"{tuple(shapes[key])}: give the agent the same hidden and the same spaces."
            )
        fits = tensor.is_floating_point() or key in whole
        if not (fits and tensor.isfinite().all()):
            raise ValueError(
                f"{where} must hold finite floats, not NaN, infinity or whole numbers."
            )

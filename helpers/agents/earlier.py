"""What earlier versions of an agent's file did without, or said in other words."""

from typing import Any

import torch

from helpers.agents.faster import CRITICS, StackedBias, StackedWeight
from helpers.agents.schedules import LinearSchedule

# What was called otherwise before version 4.
RENAMED = {"random_exploration": "warm_up_noise"}


def completed(content: dict[str, Any]) -> dict[str, Any]:
    """With the entries that its version did without: empty ones."""
    version = content.get("version")
    if type(version) is int and version < 5:
        content = {"described_spaces": {}} | content
    return {"counts": {}, "predict_rng": {}} | content if version == 1 else content


def brought_up(content: dict[str, Any]) -> dict[str, Any]:
    """The content as the present version says it. Raises for what no version wrote."""
    content, version = dict(content), content["version"]
    if version < 3:
        content["hyperparameters"] = with_schedule(content["hyperparameters"])
    if version < 4:
        content["hyperparameters"] = renamed(content["hyperparameters"])
        if "under_way" in content:
            memories = renamed(content["under_way"]["memories"])
            content["under_way"] = {**content["under_way"], "memories": memories}
    if version < 5:
        content["state"] = with_two_critics(content["state"])
    return content


def with_schedule(hyperparameters: dict[str, Any]) -> dict[str, Any]:
    """Before version 3 the learning rate of A2C was a number.

    With `decay_steps` the actor's fell with `max(0.1, 1 - steps / decay_steps)`: to a tenth, where
    it arrived after 0.9 `decay_steps`.
    """
    hyperparameters = dict(hyperparameters)
    if (steps := hyperparameters.pop("decay_steps", None)) is not None:
        rate = hyperparameters["learning_rate"]
        hyperparameters["learning_rate"] = LinearSchedule(rate, 0.1 * rate, max(1, 0.9 * steps))
    return hyperparameters


def renamed(values: dict[str, Any]) -> dict[str, Any]:
    """Settings or memories by the names that they have now."""
    return {RENAMED.get(name, name): value for name, value in values.items()}


def with_two_critics(state: dict[str, Any]) -> dict[str, Any]:
    """Before version 5 narrow twin critics had one name for both: they were written stacked."""
    state = dict(state)
    names = list(state.get("critic", {}))
    ours = [name for name in names if _is_stacked(name, state["critic"][name])]
    if not ours:
        return state
    pieces: list[tuple[str, int | None]] = [(name, None) for name in names if name not in ours]
    pieces += [(name, half) for half in (0, 1) for name in ours]
    for network in ("critic", "target_critic"):
        state[network] = {
            _name(name, half): _piece(name, state[network][name], half) for name, half in pieces
        }
    optimizer = state["critic_optimizer"]
    moments = {
        new: {
            key: each.clone() if key == "step" else _piece(name, each, half).contiguous()
            for key, each in optimizer["state"][names.index(name)].items()
        }
        for new, (name, half) in enumerate(pieces)
        if names.index(name) in optimizer["state"]
    }
    groups = [{**optimizer["param_groups"][0], "params": list(range(len(pieces)))}]
    state["critic_optimizer"] = {"state": moments, "param_groups": groups}
    return state


def _is_stacked(name: str, tensor: torch.Tensor) -> bool:
    layer = name.removeprefix("critic.").rpartition(".")[0]  # of one that sees, the prefix
    return layer in ("hidden1", "hidden2", "output") and tensor.dim() == 3


def _name(name: str, half: int | None) -> str:
    prefix = "critic." if name.startswith("critic.") else ""
    return name if half is None else f"{prefix}{CRITICS[half]}.{name.removeprefix(prefix)}"


def _piece(name: str, tensor: torch.Tensor, half: int | None) -> torch.Tensor:
    kind: Any = StackedWeight if name.endswith("weight") else StackedBias
    return tensor if half is None else kind.apart(tensor)[half]

"""How likely a stochastic policy is to choose which action."""

import math
from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from helpers.agents.policies import GaussianPolicy
from helpers.algorithms.policies import gaussian_log_prob
from helpers.algorithms.reinforce import log_prob
from helpers.envs.units import to_scaled

ALMOST_ONE = 1 - 2**-25  # between 1 and the largest float32 below it
ROUNDING = 1e-6  # of an action on the way to the environment's units and back


def action_probability(
    agent: Any, obs: np.ndarray, actions: np.ndarray | int | None = None, log: bool = False
) -> np.ndarray | float | tuple[np.ndarray, ...]:
    """How likely exploring is to take which action, for one observation or a batch of B.

    Of the given `actions`, a number or (B,): discrete ones' probabilities, continuous ones'
    densities; with `log` the logarithm of either, which is finite where a density rounds to 0.
    Without `actions` the whole distribution: of discrete ones the (log-)probabilities of all n,
    (n,) or (B, n); of continuous ones mean and std of the Gaussian that they are drawn from, both
    in the shape of an action or (B, *action shape).

    All in the units of the environment, and before an action is clipped to the bounds: within them
    it is the density of what the environment gets, at a bound the environment also gets all that
    lies beyond. SAC's actions have gone through a tanh: mean and std are those of the Gaussian
    before it, in no units, beyond the bounds the density is 0, and a `noise` is not counted.

    Raises `ValueError` for other shapes, for actions that there are not, for the logarithm of no
    action, and for an agent that always takes the same action in a state.
    """
    check_stochastic(agent)
    if log and actions is None and not isinstance(agent.action_space, spaces.Discrete):
        raise ValueError(
            "Mean and standard deviation have no log-density: give the actions as well, "
            "action_probability(obs, actions, log=True)."
        )
    batch, one = agent.as_batch("action_probability", obs)
    if actions is not None:
        lengths = () if one else (len(batch),)
        actions = check_actions(agent.action_space, actions, *lengths)
        actions = actions[None] if one else actions
    with torch.no_grad():
        found = of_batch(agent, agent.flat(batch), actions)
    if isinstance(found, tuple):
        return tuple(each[0] for each in found) if one else found
    found = found if log else np.exp(found)
    if not one:
        return found
    return found[0] if actions is None else float(found[0])


def of_batch(
    agent: Any, obs: torch.Tensor, actions: np.ndarray | None
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """For flat observations (B, obs_size) and `actions` (B, *action shape): logarithms, (B,) or
    (B, n), or mean and std.
    """
    # By the book the agent itself has the actor, otherwise its policy has it.
    policy = getattr(agent, "policy", agent)
    if agent.squashes:
        return _squashed(agent, obs, actions)
    if isinstance(agent.action_space, spaces.Discrete):
        return _categorical(policy.actor(obs).cpu(), agent.action_space, actions)
    return _gaussian(policy, obs, actions)


def check_stochastic(agent: Any) -> None:
    """Raise `ValueError` if the agent's policy has no probabilities."""
    if isinstance(agent.action_space, (spaces.MultiDiscrete, spaces.MultiBinary)):
        raise ValueError(
            "action_probability knows Discrete and Box actions, not several choices at once: ask "
            "agent.policy.logits for those of each choice."
        )
    discrete = isinstance(agent.action_space, spaces.Discrete)
    gaussian = isinstance(getattr(agent, "policy", None), GaussianPolicy)
    if not (discrete or gaussian or agent.squashes):
        raise ValueError(
            f"{type(agent).__name__} always takes the same action in a state, which has no "
            "probability: ask predict for it, or use A2C, PPO or SAC."
        )


def check_actions(space: Any, actions: Any, *batch: int) -> np.ndarray:
    """`actions` as an array (*batch, *action shape); a `ValueError` says what they should be."""
    actions = np.asarray(actions)
    shape = (*batch, *space.shape)
    if actions.shape != shape:
        raise ValueError(
            f"These observations go with actions of shape {shape}, one for each; got "
            f"{actions.shape}."
        )
    if isinstance(space, spaces.Discrete):
        first, last = int(space.start), int(space.start + space.n) - 1
        if not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(
                f"Actions are whole numbers from {first} to {last} here, got {actions.dtype}."
            )
        if (wrong := actions[(actions < first) | (actions > last)]).size:
            raise ValueError(f"Actions go from {first} to {last} here, there is no {wrong[0]}.")
    elif not (np.issubdtype(actions.dtype, np.number) and np.isfinite(actions).all()):
        raise ValueError("Actions must be finite numbers here: look for NaN or infinity in them.")
    return actions


def _categorical(
    logits: torch.Tensor, space: spaces.Discrete, actions: np.ndarray | None
) -> np.ndarray:
    if actions is None:
        return torch.log_softmax(logits, dim=-1).numpy()
    indices = torch.as_tensor(actions.astype(np.int64) - int(space.start))
    return log_prob(logits, indices).numpy()


def _gaussian(
    policy: GaussianPolicy, obs: torch.Tensor, actions: np.ndarray | None
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    mean, log_std = policy.actor(obs).cpu(), policy.log_std.cpu()
    if actions is None:
        shape = (len(obs), *policy.shape)
        means = mean.numpy() * policy.scale + policy.center
        # The same in every state.
        stds = np.tile(log_std.exp().numpy() * policy.scale, (len(obs), 1))
        return means.reshape(shape), stds.reshape(shape)
    scaled = (actions.reshape(len(obs), -1) - policy.center) / policy.scale
    densities = gaussian_log_prob(mean, log_std, torch.as_tensor(scaled, dtype=torch.float32))
    # An interval has as many times its length in the environment's units, and the same probability.
    return densities.numpy() - float(sum(map(math.log, policy.scale)))


def _squashed(
    agent: Any, obs: torch.Tensor, actions: np.ndarray | None
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    mean, log_std = (each.cpu() for each in agent.actor(obs))
    if actions is None:
        shape = (len(obs), *agent.action_space.shape)
        return mean.numpy().reshape(shape), log_std.exp().numpy().reshape(shape)
    low, high = agent.units.low.ravel(), agent.units.high.ravel()
    scaled = torch.as_tensor(to_scaled(actions.reshape(len(obs), -1), low, high))
    # At the bounds themselves, which float32's tanh reaches, u would be infinite.
    inside = scaled.double().clamp(-ALMOST_ONE, ALMOST_ONE)
    slope = 1 - inside**2  # of the tanh, in terms of what it gives
    densities = gaussian_log_prob(mean, log_std, inside.atanh()) - slope.log().sum(dim=-1)
    densities[(scaled.abs() > 1 + ROUNDING).any(dim=-1)] = -math.inf
    return densities.numpy() - float(np.log((high - low) / 2.0).sum())

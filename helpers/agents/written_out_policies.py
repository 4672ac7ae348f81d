"""Updates of A2C and PPO written out, on a CPU: see `written_out.py`.

For agents with one choice of an action, or with Box actions; those with several choices at once
update by their own `learn_from`.
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import torch

from helpers.agents import a2c, base, networks, policies, ppo
from helpers.agents.adam import LeanAdam
from helpers.agents.base import gradient_step
from helpers.agents.by_hand import POLICIES, STATE_CRITICS, Network
from helpers.agents.faster import UPDATES
from helpers.agents.threads import one_thread
from helpers.agents.written_out import (
    NOT_SET,
    ORIGINALS,
    Standing,
    WrittenOut,
    functions_of,
    still_says,
)

# As in `written_out.py`.
SOURCES: tuple[Any, ...] = (a2c, ppo, policies, networks, gradient_step, base.Agent.value)
READ = 2082648333
ORIGINALS |= functions_of(a2c, ppo, policies, a2c.A2C, ppo.PPO)

ROWS = 8192  # of all batches for which arrays are kept: they differ by the filler rows among them
VALUE = base.Agent.value  # what PPO takes for it
Back = Callable[[np.ndarray, float], None]


class RolloutUpdate(WrittenOut):
    """Of an agent that learns from rollouts. Gradients have the same memory at every update."""

    kinds: ClassVar = {
        "policy": POLICIES, "critic": STATE_CRITICS,
        "learn_from": NOT_SET, "loss": NOT_SET, "value": NOT_SET,
    }  # fmt: skip

    @classmethod
    def of(cls, agent: Any, batch: tuple[torch.Tensor, ...]) -> Self | None:
        return super().of(agent, batch) if type(agent).value is VALUE else None

    def __init__(self, agent: Any, standing: Standing, rows: int) -> None:
        super().__init__(agent, standing, rows)
        self.sizes: dict[int, tuple[Network, Network]] = {}

    def __call__(self, agent: Any, columns: tuple[torch.Tensor, ...]) -> dict[str, float]:
        """What `agent.learn_from(*columns)` does and gives."""
        with one_thread(), torch.no_grad(), np.errstate(all="ignore"):
            return self.learn(agent, *columns)

    def learn(self, agent: Any, *columns: torch.Tensor) -> dict[str, float]:
        raise NotImplementedError

    def networks(self, agent: Any, rows: int) -> tuple[Network, Network]:
        """Policy and critic, for batches of that many rows."""
        if rows not in self.sizes:
            if sum(self.sizes) + rows > ROWS:
                self.sizes.clear()
            self.sizes[rows] = Network.of(agent.policy, rows), Network.of(agent.critic, rows)
        return self.sizes[rows]


class A2CUpdate(RolloutUpdate):
    kinds: ClassVar = RolloutUpdate.kinds | {
        "policy_optimizer": (LeanAdam,), "critic_optimizer": (LeanAdam,),
    }  # fmt: skip

    def learn(self, agent: Any, *columns: torch.Tensor) -> dict[str, float]:
        obs, actions, advantages, returns = (each.numpy() for each in columns)
        policy, critic = self.networks(agent, len(obs))
        log_probs, entropies, back = evaluate(agent.policy, policy, obs, actions)
        weights = normalized(advantages)
        back(-weights / len(obs), agent.entropy_coef / len(obs))
        policy.backward(obs)
        clip(agent.max_grad_norm, policy)
        agent.policy_optimizer.step()
        for _ in range(agent.critic_steps):
            error = critic.forward(obs)[0, :, 0] - returns
            np.multiply(error, 2 / len(obs), out=critic.slope[0, :, 0])
            critic.step(obs, agent.critic_optimizer)
        return {
            "actor_loss": -float((log_probs * weights).mean()),
            "critic_loss": float((error * error).mean()),
            "entropy": float(entropies.mean()),
        }


class PPOUpdate(RolloutUpdate):
    kinds: ClassVar = RolloutUpdate.kinds | {"optimizer": (LeanAdam,)}

    def learn(self, agent: Any, *columns: torch.Tensor) -> dict[str, float]:
        old_log_probs, _ = agent.policy.evaluate(*columns[:2])
        columns = *columns, old_log_probs, agent.value(columns[0])
        arrays = [each.numpy() for each in columns]
        logged: list[dict[str, float]] = []
        for epoch in reversed(range(agent.n_epochs)):
            logged.clear()
            for rows in ppo.minibatches(len(arrays[0]), agent.batch_size, agent.rng):
                batch: Any = ppo.Minibatch(*(each[rows.numpy()] for each in arrays))
                # Numbers of the last epoch are logged; or of each, since it may be the last.
                numbers = self.prepare(agent, batch, epoch == 0 or agent.target_kl is not None)
                logged.append(numbers)
                if agent.target_kl is not None and numbers["approx_kl"] > 1.5 * agent.target_kl:
                    return ppo.means(logged)
                both = self.networks(agent, len(batch.obs))
                for network in both:
                    network.backward(batch.obs)
                clip(agent.max_grad_norm, *both)
                agent.optimizer.step()
        return ppo.means(logged)

    def prepare(self, agent: Any, batch: Any, wanted: bool) -> dict[str, float]:
        """The slopes of PPO's loss on a minibatch, and its numbers if they are `wanted`."""
        policy, critic = self.networks(agent, len(batch.obs))
        log_probs, entropies, back = evaluate(agent.policy, policy, batch.obs, batch.actions)
        log_ratio = log_probs - batch.old_log_probs
        ratios, weights = np.exp(log_ratio), normalized(batch.advantages)
        surrogate = ratios * weights
        clipped, within = limited(ratios, np.float32(1), agent.clip_range)
        clipped *= weights
        share = lower_share(surrogate, clipped)
        slope = weights * (share + (1 - share) * within) * ratios
        back(slope / -len(ratios), agent.entropy_coef / len(ratios))
        values = critic.forward(batch.obs)[0, :, 0]
        errors = values - batch.returns
        squares, slope = errors**2, errors
        if agent.value_clip_range is not None:
            limits, within = limited(values, batch.old_values, agent.value_clip_range)
            other = limits - batch.returns
            share = lower_share(-squares, -(other**2))
            slope = errors * share + other * within * (1 - share)
            squares = np.maximum(squares, other**2)
        np.multiply(slope, 2 * agent.value_coef / len(slope), out=critic.slope[0, :, 0])
        if not wanted:
            return {}
        numbers = {
            "actor_loss": -np.minimum(surrogate, clipped),
            "critic_loss": squares,
            "entropy": entropies,
            "approx_kl": np.expm1(log_ratio) - log_ratio,
            "clip_fraction": abs(ratios - 1) > agent.clip_range,
        }
        return {name: float(each.mean()) for name, each in numbers.items()}


def evaluate(
    policy: Any, network: Network, obs: np.ndarray, actions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Back]:
    """Log-probabilities (B,), entropies, and the way back.

    That way takes the slopes (B,) of the loss over the log-probabilities, and minus its slope over
    each entropy, and puts what follows where `network` expects it.
    """
    output = network.forward(obs)[0]
    one_choice = type(policy) is policies.CategoricalPolicy
    return (categorical if one_choice else gaussian)(policy, network, output, actions)


def categorical(policy: Any, network: Network, logits: np.ndarray, actions: np.ndarray) -> Any:
    logs = torch.log_softmax(torch.from_numpy(logits), dim=-1).numpy()
    shares, rows = np.exp(logs), np.arange(len(logs))
    entropies = -(shares * logs).sum(axis=1)

    def back(slopes: np.ndarray, certainty: float) -> None:
        total, out = slopes[:, None], network.slope[0]
        np.multiply(shares, certainty * (logs + entropies[:, None]) - total, out=out)
        out[rows, actions] += slopes

    return logs[rows, actions], entropies, back


def gaussian(policy: Any, network: Network, mean: np.ndarray, actions: np.ndarray) -> Any:
    log_std = policy.log_std.numpy()
    std = np.exp(log_std)
    z = (actions - mean) / std
    log_probs = (-0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)).sum(axis=1)
    entropy = (log_std + 0.5 * math.log(2 * math.pi * math.e)).sum()

    def back(slopes: np.ndarray, certainty: float) -> None:
        np.multiply(slopes[:, None], z / std, out=network.slope[0])
        gradient = network.gradients[policy.log_std].numpy()
        np.subtract(slopes @ (z * z - 1), certainty * len(z), out=gradient)

    return log_probs, entropy, back


def normalized(advantages: np.ndarray) -> np.ndarray:
    return (advantages - advantages.mean()) / (advantages.std(ddof=1) + np.float32(1e-8))


def limited(x: np.ndarray, center: Any, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """`x` brought to within `reach` of `center`, and where it was there already."""
    low, high = center - np.float32(reach), center + np.float32(reach)
    return np.minimum(np.maximum(x, low), high), (low <= x) & (x <= high)


def lower_share(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What `one` has of the slope of the lower of both: all, nothing, or half where both are."""
    return np.where(one == other, np.float32(0.5), (one < other).astype(np.float32))


def clip(largest: float | None, *networks: Network) -> None:
    """Bring the common norm of all gradients to `largest` at most."""
    if largest is None:
        return
    gradients = [each.numpy() for network in networks for each in network.gradients.values()]
    share = largest / (math.sqrt(sum(float(np.vdot(each, each)) for each in gradients)) + 1e-6)
    if not share >= 1:  # NaN goes on, as in torch
        for gradient in gradients:
            gradient *= np.float32(share)


if still_says(READ, SOURCES):
    UPDATES |= {("cpu", a2c.A2C): A2CUpdate, ("cpu", ppo.PPO): PPOUpdate}

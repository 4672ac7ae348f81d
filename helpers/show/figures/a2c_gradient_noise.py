"""Lesson 01: how much the gradient of one episode scatters, with a baseline and without."""

from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from helpers.algorithms import reinforce, shared
from helpers.show.plotting import label, new_figure


def plot_gradient_noise(
    agent: reinforce.Agent, s: reinforce.Settings, episodes: int = 150
) -> Figure:
    """The actor's gradients of single episodes, weighted with returns, and with advantages.

    Seen along the mean direction; the title says the variance of all components together.
    """
    env, rng = shared.make_env(s.env_id), np.random.default_rng(1)
    pairs = [_two_gradients(agent, env, rng, s) for _ in range(episodes)]
    by_return, by_advantage = (torch.stack(each) for each in zip(*pairs, strict=True))
    noise = [float(each.var(dim=0).sum()) for each in (by_return, by_advantage)]
    direction = by_advantage.mean(dim=0) / by_advantage.mean(dim=0).norm()
    seen = [(each @ direction).numpy() for each in (by_return, by_advantage)]
    fig, ax = new_figure(width=7, height=2.8)
    bins = np.linspace(seen[0].min(), seen[0].max(), 40)
    for name, values, variance in zip(("returns", "advantages"), seen, noise, strict=True):
        ax.hist(values, bins, alpha=0.55, label=f"weighted with {name}: variance {variance:.1f}")
    title = f"Without a baseline the variance is {noise[0] / noise[1]:.1f} times as large"
    label(ax, title, "component along the mean gradient", "episodes", legend=True)
    return fig


def _two_gradients(
    agent: reinforce.Agent, env: Any, rng: np.random.Generator, s: reinforce.Settings
) -> list[torch.Tensor]:
    """Of one episode, each summed over its steps."""
    (obs, _), episode, terminated, truncated = env.reset(), [], False, False
    while not (terminated or truncated):
        action = agent.act(obs, rng)
        next_obs, reward, terminated, truncated, _ = env.step(action)
        episode.append((obs, action, s.reward_scale * reward))
        obs = next_obs
    observations, actions, rewards = map(np.array, zip(*episode, strict=True))
    seen, taken = torch.from_numpy(observations), torch.from_numpy(actions)
    with torch.no_grad():
        values = agent.critic(seen).squeeze(-1)
        final_value = 0.0 if terminated else agent.critic(torch.from_numpy(obs)).item()
    returns = torch.from_numpy(reinforce.bootstrapped_returns(rewards, final_value, s.gamma))
    found = []
    for weights in (returns, returns - values):
        log_probs = reinforce.log_prob(agent.actor(seen), taken)
        loss = len(episode) * reinforce.actor_loss(log_probs, weights)
        gradients = torch.autograd.grad(loss, list(agent.actor.parameters()))
        found.append(torch.cat([part.flatten() for part in gradients]))
    return found

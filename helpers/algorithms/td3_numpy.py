"""TD3 learns Pendulum, in numpy alone. The site's page "Try it" runs this file: change it there.

Source: Fujimoto, van Hoof & Meger 2018, arXiv:1802.09477, Algorithm 1.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Settings:
    critics: int = 2  # the target is the lower one's value (section 4.2); 1: its own, as in DDPG
    policy_delay: int = 2  # the actor and the targets move at every second update (section 5.2)
    target_noise: float = 0.2  # standard deviation, on the target's action (section 5.3)
    noise_clip: float = 0.5
    tau: float = 0.02  # how far the target networks go towards the others
    learning_rate: float = 1e-3
    exploration: float = 0.1  # standard deviation of the noise on the actor's action
    gamma: float = 0.98
    reward_scale: float = 0.1
    batch_size: int = 64
    hidden: int = 32  # units in each of a network's two hidden layers
    random_steps: int = 500  # before the first update
    steps: int = 10_000


class Pendulum:
    """Gymnasium's Pendulum-v1. It never terminates: after 200 steps an episode is cut off."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.angle, self.speed = rng.uniform((-math.pi, -1), (math.pi, 1))  # upright is 0

    def obs(self) -> np.ndarray:
        return np.array([math.cos(self.angle), math.sin(self.angle), self.speed], np.float32)

    def step(self, action: float) -> float:
        """Turn the motor for 0.05 s, action in [-1, 1]; gives the reward."""
        torque, angle = 2 * action, (self.angle + math.pi) % (2 * math.pi) - math.pi
        cost = angle**2 + 0.1 * self.speed**2 + 0.001 * torque**2
        self.speed += 0.05 * (15 * math.sin(angle) + 3 * torque)
        self.speed = max(-8.0, min(8.0, self.speed))
        self.angle += 0.05 * self.speed
        return -cost


class Network:
    """From (B, inputs) to (B, 1), with two hidden layers of ReLUs. Its weights are one vector."""

    def __init__(self, rng: np.random.Generator, inputs: int, hidden: int) -> None:
        shapes = (inputs + 1, hidden), (hidden + 1, hidden), (hidden + 1, 1)  # last rows: biases
        ends = np.cumsum([n * m for n, m in shapes])
        self.weights, self.gradient, self.mean, self.square = np.zeros((4, ends[-1]), np.float32)
        self.layers, self.slopes = (  # views of the first two: a matrix for each layer
            [p.reshape(s) for p, s in zip(np.split(v, ends[:-1]), shapes, strict=True)]
            for v in (self.weights, self.gradient)
        )
        for layer in self.layers:
            layer[:] = rng.uniform(-1, 1, layer.shape) / math.sqrt(len(layer) - 1)
        self.updates = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.inputs = []
        for layer in self.layers:
            self.inputs.append(x)
            out = x @ layer[:-1] + layer[-1]
            x = np.maximum(out, 0)
        return out

    def backward(self, slope: np.ndarray) -> np.ndarray:
        """From a loss's slopes by the last outputs, (B, 1), those by the weights and the inputs."""
        for k in (2, 1, 0):
            self.slopes[k][:-1] = self.inputs[k].T @ slope
            self.slopes[k][-1] = slope.sum(0)
            slope = slope @ self.layers[k][:-1].T
            slope *= self.inputs[k] > 0 if k else 1  # back through the ReLU below
        return slope

    def adam(self, learning_rate: float) -> None:  # Kingma & Ba 2015
        self.updates += 1
        self.mean += 0.1 * (self.gradient - self.mean)
        self.square += 0.001 * (self.gradient**2 - self.square)
        size = np.sqrt(self.square / (1 - 0.999**self.updates)) + 1e-8
        self.weights -= learning_rate / (1 - 0.9**self.updates) * self.mean / size


class TD3:
    def __init__(self, settings: Settings, rng: np.random.Generator) -> None:
        self.settings, self.rng, self.updates = settings, rng, 0
        inputs = [3] + [3 + 1] * settings.critics
        self.online = [Network(rng, n, settings.hidden) for n in inputs]
        self.targets = [Network(rng, n, settings.hidden) for n in inputs]
        self.follow(1.0)  # the targets begin as copies

    def act(self, obs: np.ndarray) -> np.ndarray:  # greedily, (B, 1)
        return np.tanh(self.online[0](obs))

    def value(self, obs: np.ndarray) -> np.ndarray:
        """What the first critic expects from here on, in the environment's rewards, (B, 1)."""
        return self.online[1](np.hstack([obs, self.act(obs)])) / self.settings.reward_scale

    def follow(self, tau: float) -> None:
        for target, online in zip(self.targets, self.online, strict=True):
            target.weights += tau * (online.weights - target.weights)

    def update(self, batch: np.ndarray) -> None:
        """Learn from rows of obs, action, reward and next_obs, (B, 3 + 1 + 1 + 3)."""
        obs, action, reward, next_obs = np.split(batch, [3, 4, 5], axis=1)
        s, n = self.settings, len(batch)
        (actor, *critics), (target_actor, *target_critics) = self.online, self.targets
        self.updates += 1
        # 1. What the target actor would do next, with a little clipped noise.
        noise = s.target_noise * self.rng.standard_normal((n, 1), dtype=np.float32)
        noise = noise.clip(-s.noise_clip, s.noise_clip)
        next_action = (np.tanh(target_actor(next_obs)) + noise).clip(-1, 1)
        # 2. The target: the reward and the discounted future, by the more pessimistic critic.
        lower = np.min([critic(np.hstack([next_obs, next_action])) for critic in target_critics], 0)
        target = reward + s.gamma * lower  # Pendulum never terminates: there is always a future
        # 3. Each critic goes towards it, down the slope of its mean squared error.
        for critic in critics:
            critic.backward(2 / n * (critic(np.hstack([obs, action])) - target))
            critic.adam(s.learning_rate)
        if self.updates % s.policy_delay == 0:
            # 4. The actor goes uphill on the first critic, whose slope passes through the action.
            action = self.act(obs)
            critics[0](np.hstack([obs, action]))
            slope = critics[0].backward(np.full((n, 1), -1 / n, np.float32))[:, 3:]
            actor.backward(slope * (1 - action**2))
            actor.adam(s.learning_rate)
            self.follow(s.tau)  # 5. All target networks follow a little.


def train(settings: Settings, seed: int = 0):
    """Yields after each step the agent and the reward. Every 200th step ends an episode."""
    rng = np.random.default_rng(seed)
    agent = TD3(settings, rng)
    memory = np.zeros((settings.steps, 8), np.float32)  # obs, action, reward, next_obs
    for step in range(settings.steps):
        if step % 200 == 0:
            env = Pendulum(rng)
        obs, action = env.obs(), rng.uniform(-1, 1)
        if step >= settings.random_steps:
            noise = settings.exploration * rng.standard_normal()
            action = float(np.clip(agent.act(obs[None])[0, 0] + noise, -1, 1))
        reward = env.step(action)
        memory[step] = *obs, action, settings.reward_scale * reward, *env.obs()
        if step >= settings.random_steps:
            agent.update(memory[rng.integers(0, step + 1, settings.batch_size)])
        yield agent, reward

"""Probe environments: five tiny ones with known answers, each with a suspect of its own.

A wrong agent often learns a little, and a curve does not say what is wrong. These environments are
so small that a right agent solves each in a second, to a number known beforehand. They build on one
another: the first that fails names the part to look at. The idea is Andy Jones's ("Debugging RL,
Without the Agonizing Pain", 2021); these ones are made for continuous actions.

    probe(quick(TD3))      # a table: expected, got, and the suspect
"""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces

from helpers.agents import A2C, DDPG, PPO, SAC, TD3, TD3BC, DDPGfD
from helpers.agents.base import Agent
from helpers.agents.noise import GaussianNoise
from helpers.agents.schedules import LinearSchedule
from helpers.demos.files import record_demos
from helpers.envs.make import make_env

MakeAgent = Callable[[str, int], Agent]
STEPS = 1000  # to learn one probe
MAX_GAMMA = 0.95  # nearer to 1, what is discounted once and what is not differ too little

# ---- the environments ----------------------------------------------------------------------------


class ProbeEnv(gym.Env):
    """What the probes share: one number is observed, one is done, an episode has a step or two.

    Actions lie between 0 and 4: an agent that forgets to bring its own from [-1, 1] to these units
    cannot reach the best ones. An episode ends in an observation that is no other's.
    """

    metadata: ClassVar = {"render_modes": []}  # type: ignore[misc]  # as gymnasium's own do

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (1,))
        self.action_space = spaces.Box(0.0, 4.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return observation(0), {}


def observation(number: float) -> np.ndarray:
    """A number as an environment of ours shows it: (1,) float32."""
    return np.array([number], np.float32)


class ConstantProbe(ProbeEnv):
    """One step, and whatever is done the reward is 1. The start is worth 1."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        return observation(1), 1.0, True, False, {}


class TwoStepProbe(ProbeEnv):
    """Two steps, observed as -1 and 1; only the second has a reward, 1.

    The second observation is worth 1 and the first gamma, whatever is done.
    """

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # 1. A new episode: no step is done, and -1 is observed.
        self.done = 0
        return observation(-1), {}

    def step(self, action):
        # 2. The first step leads to the observation 1, without a reward and without an end.
        self.done += 1
        if self.done == 1:
            return observation(1), 0.0, False, False, {}
        # 3. The second is rewarded with 1 and terminates the episode, in the observation 0.
        return observation(0), 1.0, True, False, {}


class ActionProbe(ProbeEnv):
    """One step; the reward is the higher the nearer the action is to 2.5."""

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        return observation(1), 1 - float(action[0] - 2.5) ** 2, True, False, {}


class StateActionProbe(ProbeEnv):
    """One step; a coin shows -1, and 1.5 is the best action, or it shows 1, and 2.5 is."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.shown = float(self.np_random.choice([-1, 1]))
        return observation(self.shown), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        return observation(0), 1 - float(action[0] - 2 - self.shown / 2) ** 2, True, False, {}


class TruncationProbe(ProbeEnv):
    """Every step has the reward 1 and leads back to the start; after one step the episode is cut.

    It is only watched no longer, life goes on: the start is worth 1 + gamma + gamma^2 + ...
    """

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        return observation(0), 1.0, False, True, {}


# ---- what is asked -------------------------------------------------------------------------------


def values(agent: Agent, *observed: float) -> np.ndarray:
    """What the agent's critic says of each of these observations, in the units of the rewards."""
    with torch.no_grad():
        value = agent.value(agent.flat(np.array(observed)[:, None]))
    return value.cpu().numpy() / agent.reward_factor


def actions(agent: Agent, *observed: float) -> np.ndarray:
    """What the agent would do after each of these observations, in the environment's units."""
    return np.array([np.ravel(agent.predict(observation(number)))[0] for number in observed])


@dataclass(frozen=True)
class Probe:
    """An environment, a question to the agent that was trained there, and the right answer.

    `ask(agent)` gives one number or several, `expected(gamma)` what a right agent says, up to
    `tolerance`. `question` says the same in words. `suspect`: where to look if the answer is
    another, provided that the probes before this one have passed.
    """

    name: str
    env: type[ProbeEnv]
    question: str
    ask: Callable[[Agent], np.ndarray]
    expected: Callable[[float], Sequence[float]]
    tolerance: float
    suspect: str

    @property
    def env_id(self) -> str:
        return f"{self.env.__name__}-v0"


PROBES = (
    Probe(
        "constant", ConstantProbe, "value of the start",
        lambda agent: values(agent, 0), lambda gamma: [1], 0.1,
        "the critic: its loss, its optimiser, its learning rate. If it says far more than 1, a "
        "future is counted after a termination",
    ),
    Probe(
        "two steps", TwoStepProbe, "value of the first step, of the second",
        lambda agent: values(agent, -1, 1), lambda gamma: [gamma, 1], 0.1,
        "the critic's target: a discount forgotten or counted twice, no bootstrapping. If it says "
        "much the same twice, the observation does not reach the critic, or the rows of the batch "
        "are mixed up",
    ),
    Probe(
        "action", ActionProbe, "action at the start",
        lambda agent: actions(agent, 0), lambda gamma: [2.5], 0.3,
        "the actor's gradient: its sign, a detached action, an optimiser with other weights; or "
        "the scaling of actions; or a reward that is not its own action's",
    ),
    Probe(
        "state and action", StateActionProbe, "action after -1, after 1",
        lambda agent: actions(agent, -1, 1), lambda gamma: [1.5, 2.5], 0.3,
        "what the actor is given: no observation, or an action judged in a state that is not its "
        "own (rows mixed up, observation and action of different steps)",
    ),
    Probe(
        "truncation", TruncationProbe, "value of the start",
        lambda agent: values(agent, 0), lambda gamma: [1 / (1 - gamma)], 0.5,
        "an episode's end: a truncation stored as a termination (the value is then 1), or the "
        "filler row after it learned from",
    ),
)  # fmt: skip

for _probe in PROBES:
    if _probe.env_id not in gym.registry:  # the module may be imported again
        gym.register(_probe.env_id, f"helpers.training.probes:{_probe.env.__name__}")

# ---- agents that learn a probe in a second -------------------------------------------------------


@dataclass(frozen=True)
class Quick:
    """Makes agents of a class; `steps` is what one of them needs for a probe."""

    kind: type[Agent]
    settings: dict[str, Any]
    steps: int

    def __call__(self, env_id: str, seed: int) -> Agent:
        agent = self.kind(env_id, **{"seed": seed} | self.settings)
        if hasattr(agent, "remember"):
            rng = np.random.default_rng(seed)  # of somebody who acts at random
            demos = record_demos(lambda obs: rng.uniform(0, 4, 1), env_id, 50, maker="chance")
            agent.remember(demos)
        return agent


OFF_POLICY: dict[str, Any] = {
    "gamma": 0.8, "learning_starts": 64, "batch_size": 64, "hidden": 32, "tau": 0.1,
    "actor_learning_rate": 0.005, "critic_learning_rate": 0.005, "noise": GaussianNoise(0.5),
}  # fmt: skip
ON_POLICY: dict[str, Any] = {
    "gamma": 0.8, "n_envs": 4, "hidden": 32, "learning_rate": LinearSchedule(0.01, 0.001, 1800),
}  # fmt: skip
# A low temperature: what entropy is worth is no part of the answers.
COLD = {"noise": None, "temperature": 0.02, "learn_temperature": False}
QUICK = (
    Quick(DDPGfD, OFF_POLICY | {"pretraining": 100}, STEPS),
    # From data of chance: Q has to count for much more than what was done there.
    Quick(TD3BC, OFF_POLICY | {"bc_alpha": 100.0}, STEPS),
    Quick(TD3, OFF_POLICY, STEPS),
    Quick(SAC, OFF_POLICY | COLD, STEPS),
    Quick(DDPG, OFF_POLICY, STEPS),
    Quick(A2C, ON_POLICY | {"n_steps": 6, "critic_steps": 10}, 2000),
    Quick(PPO, ON_POLICY | {"n_steps": 4, "batch_size": 16, "n_epochs": 8}, 2000),
)


def quick(kind: type[Agent], **settings: Any) -> Quick:
    """What makes such agents, with settings fit for the probes; `settings` change some of them.

    An agent that learns from demonstrations as well is given some, of random actions. Raises
    `ValueError` for a class that is none of A2C, PPO, DDPG, TD3, SAC and DDPGfD, nor derived from
    one.
    """
    for known in QUICK:
        if issubclass(kind, known.kind):
            return replace(known, kind=kind, settings=known.settings | settings)
    raise ValueError(
        f"There are no settings for {kind.__name__}: give probe a function of your own that makes "
        "an agent, from an environment id and a seed."
    )


# ---- the verdict ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProbeResult:
    """What an agent answered to one probe, and what a right one answers."""

    probe: Probe
    expected: tuple[float, ...]
    got: tuple[float, ...]

    @property
    def passed(self) -> bool:
        """Whether every number is within the tolerance of the one expected; NaN never is."""
        misses = np.abs(np.subtract(self.got, self.expected))
        return bool((misses <= self.probe.tolerance).all())

    def cells(self) -> tuple[str, ...]:
        """What stands in the table's row."""
        numbers = [", ".join(f"{each:.2f}" for each in them) for them in (self.expected, self.got)]
        return self.probe.name, self.probe.question, *numbers, "passed" if self.passed else "FAILED"


class ProbeResults(list[ProbeResult]):
    """The answers to all probes, in their order; shown as a table."""

    COLUMNS: ClassVar = ("probe", "asked for", "expected", "got", "")

    @property
    def suspect(self) -> str | None:
        """The part to look at first, or None if all probes passed.

        Probes stand in an order in which each needs what the ones before it have tested.
        """
        return next((result.probe.suspect for result in self if not result.passed), None)

    def table(self) -> str:
        """The answers in columns, without a verdict."""
        rows = [self.COLUMNS, *(result.cells() for result in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        verdict = f"Look first at {self.suspect}." if self.suspect else "All probes passed."
        return "\n".join([self.table(), *textwrap.wrap(verdict, 80)])


def probe(make_agent: MakeAgent, seed: int = 0, steps: int | None = None) -> ProbeResults:
    """Train a fresh agent on each of the five probes and ask it what it has learned.

    `make_agent(env_id, seed)` makes the agent: what `quick` gives, or a function of your own.
    `steps` is how long each one learns, by default what `quick` knows, or 1,000 steps.
    Raises `ValueError` if the agent's gamma is above 0.95: the probes could not tell right from
    wrong then.
    """
    return ProbeResults(probe_once(one, make_agent, seed, steps) for one in PROBES)


def probe_once(
    one: Probe, make_agent: MakeAgent, seed: int = 0, steps: int | None = STEPS
) -> ProbeResult:
    """Train a fresh agent on one of the probes and ask it what it has learned; see `probe`."""
    agent = make_agent(one.env_id, seed)
    if not agent.gamma <= MAX_GAMMA:
        raise ValueError(
            f"With gamma = {agent.gamma} the probes cannot tell discounted from not discounted: "
            f"make an agent with a gamma of at most {MAX_GAMMA}, such as 0.8."
        )
    got = one.ask(agent.learn(steps or int(getattr(make_agent, "steps", STEPS))))
    return ProbeResult(one, tuple(map(float, one.expected(agent.gamma))), tuple(got.tolist()))


def symptoms(agent: Agent, episodes: int = 5) -> dict[str, float]:
    """What a trained agent shows of itself in greedy episodes, in the units of the environment.

    The mean return; the critic's last losses; what the critic says of the starts, and the
    discounted return that follows them; the share of actions within 1 % of a bound.
    """
    env, says, obtained, returns, at_bound = make_env(agent.env_source), [], [], [], []
    space: Any = env.action_space
    for seed in range(episodes):
        (obs, _), rewards, over = env.reset(seed=seed), [], False
        with torch.no_grad():
            says.append(float(agent.value(agent.flat(obs[None]))) / agent.reward_factor)
        while not over:
            action = agent.predict(obs)
            place = (action - space.low) / (space.high - space.low)
            at_bound.append(np.mean((place < 0.01) | (place > 0.99)))
            obs, reward, terminated, truncated, _ = env.step(action)
            rewards.append(float(reward))
            over = terminated or truncated
        returns.append(sum(rewards))
        obtained.append(sum(r * agent.gamma**t for t, r in enumerate(rewards)))
    losses = [loss for _, loss in agent.history["critic_loss"][-5:]]
    measured = returns, losses, says, obtained, at_bound
    names = "return", "critic loss", "value says", "obtained", "at a bound"
    return {name: float(np.mean(each)) for name, each in zip(names, measured, strict=True)}

"""The "break it" labs: a lesson's training with one idea switched off, over several seeds.

`python course.py break-it 01 --seeds 0-9 --jobs 2` trains every variant of lesson 01 and writes
data/results/01_break_it.json, which the lesson shows.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from joblib import Parallel, delayed
from torch import nn

from helpers.agents.a2c import gae
from helpers.agents.base import Agent, Callback
from helpers.agents.ddpg import td_target
from helpers.agents.noise import GaussianNoise, OUNoise, UniformNoise
from helpers.agents.schedules import LinearSchedule
from helpers.demos.files import ARRAYS, Demos, load_demos
from helpers.envs.make import make_env
from helpers.evaluation import evaluate
from helpers.memory.buffers import Batch, ReplayBuffer, n_step_return
from helpers.training.overestimation import values_and_returns
from helpers.training.results import RESULTS
from helpers.training.settings import DEMOS, Setting, get_setting
from helpers.training.study import circumstances, parse_seeds

POINTS = 25


@dataclass(frozen=True)
class Variant:
    """One idea switched off: parameters changed, or functions replaced where they are used."""

    name: str
    setting: Setting
    explanation: str
    changes: dict[str, Any] = field(default_factory=dict)
    replaced: dict[str, Callable] = field(
        default_factory=dict
    )  # "module:function" -> other version
    watched: bool = False  # what the critic says and what is obtained, through training

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within this, the replaced functions are the other versions."""
        with ExitStack() as patches:
            for where, other in self.replaced.items():
                patches.enter_context(patch(where.replace(":", "."), other))
            yield

    def train(self, seed: int, callback: Callback | None = None) -> Agent:
        """The agent of this variant after the lesson's number of steps."""
        with self.applied():
            return self.setting.make(seed, **self.changes).learn(self.setting.steps, callback)


# ---- lesson 01 -----------------------------------------------------------------------------------


def gae_without_bootstrapping(rewards, values, terminated, truncated, gamma, lam):
    """A truncation taken for a termination."""
    return gae(rewards, values, terminated | truncated, truncated, gamma, lam)


def gae_over_the_end(rewards, values, terminated, truncated, gamma, lam):
    """The advantages of one episode run on into the one before it."""
    advantages, advantage = np.zeros_like(rewards), np.zeros_like(rewards[0])
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * values[t + 1] * (1 - terminated[t]) - values[t]
        advantage = delta + gamma * lam * advantage
        advantages[t] = advantage
    return advantages


def every_row(done, done_before):
    """Filler rows learned from as if they were experience."""
    return np.ones_like(done)


class NoCritic(nn.Module):
    """A critic that says 0 whatever it sees: REINFORCE without a baseline."""

    def __init__(self, obs_size: int, hidden: int = 64) -> None:
        super().__init__()
        self.nothing = nn.Parameter(torch.zeros(()))  # an optimiser wants at least one parameter

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        return 0 * self.nothing * obs[..., :1]


def lesson_01() -> list[Variant]:
    """A2C on CartPole with one thing changed."""
    fast = get_setting("a2c", "CartPole-v1")
    book = get_setting("a2c-by-the-book", "CartPole-v1")
    return [
        Variant("A2C as taught", fast, "The lesson's own settings."),
        Variant(
            "one critic step",
            fast,
            "One gradient step of the critic for each of the actor, where the lesson takes four: "
            "the agent learns later, and one seed in ten not well enough.",
            changes={"critic_steps": 1},
        ),
        Variant(
            "rewards not scaled",
            fast,
            "Values near 100, where the lesson scales them to about 1: the critic's weights have a "
            "long way to go. All seeds go it in the end; four of them fall back for a while.",
            changes={"reward_scale": 1.0},
        ),
        Variant(
            "one critic step, not scaled",
            fast,
            "Both at once: a long way to go, and few steps to go it. The actor follows a critic "
            "that is out of date, and most seeds end far below the bar.",
            changes={"critic_steps": 1, "reward_scale": 1.0},
        ),
        Variant(
            "truncation as termination",
            fast,
            "The cut after 500 steps is taken for the end of the world. The policy survives it, "
            "but look at the table: the critic no longer knows what standing upright is worth.",
            replaced={"helpers.agents.a2c:gae": gae_without_bootstrapping},
        ),
        Variant(
            "filler rows learned",
            fast,
            "The row in which the environment resets itself counts as a step: an action that "
            "nobody took, a reward of 0, and a jump from one episode into the next. One row in a "
            "few hundred: here it does not show.",
            replaced={"helpers.agents.a2c:learnable_rows": every_row},
        ),
        Variant(
            "advantages run over the end",
            fast,
            "The sum of TD errors is not cut where an episode ends: what happens in the next "
            "episode is credited to the actions of the last one. All seeds learn; three fall back "
            "for a while, which ten seeds cannot tell from chance.",
            replaced={"helpers.agents.a2c:gae": gae_over_the_end},
        ),
        Variant(
            "lambda 0",
            fast,
            "Advantages from one TD error only: little noise, but all trust in the critic. It "
            "takes twice as many steps, and two seeds in ten miss the bar.",
            changes={"lam": 0.0},
        ),
        Variant(
            "lambda 1",
            fast,
            "Advantages from all rewards of the rollout: the critic's errors matter less, the "
            "noise of the rewards more. CartPole has little noise.",
            changes={"lam": 1.0},
        ),
        Variant(
            "no entropy bonus",
            fast,
            "Nothing keeps the policy undecided. CartPole explores enough without.",
            changes={"entropy_coef": 0.0},
        ),
        Variant(
            "no decay",
            fast,
            "The actor's steps stay as large as they were at the start. It learns a little sooner, "
            "but four of ten seeds lose a good policy again for a while.",
            changes={"learning_rate": fast.params["learning_rate"].start},
        ),
        Variant("by the book", book, "One environment, whole episodes, one update an episode."),
        Variant(
            "by the book, no baseline",
            book,
            "REINFORCE: returns in place of advantages. All returns are positive, so every action "
            "is pushed up, and only the differences teach. It learns, but slowly.",
            replaced={"helpers.agents.a2c_by_the_book:make_critic": NoCritic},
        ),
    ]


# ---- lesson 02 -----------------------------------------------------------------------------------


class LastSteps(ReplayBuffer):
    """No replay: a batch is the latest steps, newest first."""

    def sample(self, batch_size: int) -> Batch:
        latest = (self.position - 1 - torch.arange(batch_size)) % len(self)
        return Batch(*(tensor[latest] for tensor in self.tensors))


def td_target_without_bootstrapping(batch, target_actor, target_critic, gamma):
    """A truncation taken for a termination."""
    over = torch.maximum(batch.terminated, batch.truncated)
    return td_target(batch._replace(terminated=over), target_actor, target_critic, gamma)


def as_they_are(action, low, high):
    """The actor's output handed to the environment in [-1, 1], as if those were its units."""
    return np.clip(action, low, high)


def nothing_is_bounded(space):
    """Observations stay in the environment's units."""
    return -np.ones(space.shape).ravel(), np.ones(space.shape).ravel()


def lesson_02() -> list[Variant]:
    """DDPG on both of its environments with one thing changed."""
    pendulum = get_setting("ddpg", "Pendulum-v1")
    car = get_setting("ddpg", "MountainCarContinuous-v0")
    uniform, gaussian = UniformNoise(1.0), GaussianNoise(0.1)
    return [
        Variant("DDPG as taught", pendulum, "The lesson's own settings."),
        Variant(
            "no target networks",
            pendulum,
            "The target networks are copied at every update (tau = 1): the critic chases itself, "
            "and no seed learns.",
            changes={"tau": 1.0},
        ),
        Variant(
            "no replay",
            pendulum,
            "A batch is the latest 128 steps in place of 128 from the whole memory: most of it is "
            "one stretch of one episode. Three seeds of ten get there.",
            replaced={"helpers.agents.off_policy:ReplayBuffer": LastSteps},
        ),
        Variant(
            "no noise",
            pendulum,
            "After the warm-up the actor's own action is taken as it is. Warm-up and random "
            "starts have shown enough of Pendulum.",
            changes={"noise": None},
        ),
        Variant(
            "OU noise",
            pendulum,
            "Correlated noise where the lesson takes independent Gaussian draws: on Pendulum it "
            "makes no difference.",
            changes={"noise": OUNoise(sigma=0.2, theta=0.15)},
        ),
        Variant(
            "truncation as termination",
            pendulum,
            "The cut after 200 steps is taken for the end of the world. It does not show: a "
            "pendulum that stands earns next to nothing for ever, so the lie is nearly true.",
            replaced={"helpers.agents.ddpg:td_target": td_target_without_bootstrapping},
        ),
        Variant(
            "unscaled actions",
            pendulum,
            "The tanh's output goes to the environment as it is, so the agent has half of the "
            "torque. It swings up all the same, later.",
            replaced={"helpers.agents.off_policy:to_env_units": as_they_are},
        ),
        Variant(
            "warm-up in the wrong units",
            pendulum,
            "Random numbers from -2 to 2, cut to actions in [-1, 1]: half of them are -1 or 1. On "
            "Pendulum no harm is done.",
            changes={"random_exploration": UniformNoise(2.0)},
        ),
        Variant(
            "rewards not scaled",
            pendulum,
            "Values may reach -1600, where the lesson multiplies rewards by 0.1: one seed in ten "
            "misses the bar.",
            changes={"reward_scale": 1.0},
        ),
        Variant(
            "last layers not small",
            pendulum,
            "torch's own initial weights everywhere: with networks this small it does not matter.",
            replaced={"helpers.agents.networks:start_small": lambda layer: None},
        ),
        Variant("on the mountain", car, "MountainCarContinuous with the lesson's own settings."),
        Variant(
            "mountain, uniform warm-up",
            car,
            "The first 3,000 steps are uniform random actions, which never reach the flag; OU "
            "noise afterwards does.",
            changes={"random_exploration": uniform},
        ),
        Variant(
            "mountain, Gaussian noise",
            car,
            "OU warm-up, then independent Gaussian noise: the flag is in the memory already.",
            changes={"noise": gaussian},
        ),
        Variant(
            "mountain, no correlation at all",
            car,
            "Uniform warm-up, then independent Gaussian noise: nobody ever sees the flag, and all "
            "ten seeds learn to stand still.",
            changes={"random_exploration": uniform, "noise": gaussian},
        ),
        Variant(
            "mountain, no noise",
            car,
            "OU warm-up, then no noise at all: the flag is in the memory already.",
            changes={"noise": None},
        ),
        Variant(
            "mountain, observations not scaled",
            car,
            "The car's speed, at most 0.07, goes into the networks as it is. Two seeds of ten "
            "miss the bar, one of them at full throttle against the slope.",
            replaced={"helpers.agents.off_policy:observation_bounds": nothing_is_bounded},
        ),
        Variant(
            "mountain, no target networks",
            car,
            "The target networks are copied at every update (tau = 1): eight seeds of ten learn, "
            "where on Pendulum none does.",
            changes={"tau": 1.0},
        ),
        Variant(
            "mountain, truncation as termination",
            car,
            "The cut after 999 steps is taken for the end of the world. Few episodes are cut here.",
            replaced={"helpers.agents.ddpg:td_target": td_target_without_bootstrapping},
        ),
    ]


# ---- lesson 03 -----------------------------------------------------------------------------------


def target_from(combine: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A TD3 target that makes one value of what the two critics say in another way."""

    @torch.no_grad()
    def target(batch, next_action, target_critic, gamma):
        next_q = combine(*target_critic(batch.next_obs, next_action))
        return batch.reward + gamma * (1 - batch.terminated) * next_q

    return target


def double_q_target(batch, next_action, target_critic, gamma):
    """Each critic judged by the other: the second one's target first, then the first one's."""
    return torch.stack([
        target_from(lambda q1, q2: q2)(batch, next_action, target_critic, gamma),
        target_from(lambda q1, q2: q1)(batch, next_action, target_critic, gamma),
    ])  # fmt: skip


def loss_of_each(critic, batch, target):
    """The sum of both critics' losses, each against its own row of `target` (2, B)."""
    return sum(
        nn.functional.mse_loss(q, y)
        for q, y in zip(critic(batch.obs, batch.action), target, strict=True)
    )


def one_noise_for_all(target_actor, next_obs, target_noise, noise_clip, rng):
    """Smoothing noise drawn once for the whole batch."""
    noise = float(np.clip(target_noise * rng.standard_normal(), -noise_clip, noise_clip))
    with torch.no_grad():
        return (target_actor(next_obs) + noise).clamp(-1, 1)


def lesson_03() -> list[Variant]:
    """TD3 on both of its environments with one thing changed, and DDPG beside it."""
    pendulum = get_setting("td3", "Pendulum-v1")
    car = get_setting("td3", "MountainCarContinuous-v0")
    ddpg = get_setting("ddpg", "Pendulum-v1"), get_setting("ddpg", "MountainCarContinuous-v0")
    target = "helpers.agents.td3:clipped_double_q_target"
    loss = "helpers.agents.td3:twin_critic_loss"
    smoothed = "helpers.agents.td3:smoothed_target_action"
    one_critic = {target: target_from(lambda q1, q2: q1)}
    mean = {target: target_from(lambda q1, q2: (q1 + q2) / 2)}
    crossed = {target: double_q_target, loss: loss_of_each}
    plain = {"policy_delay": 1, "target_noise": 0.0}

    def shown(name: str, explanation: str, **what: Any) -> Variant:
        return Variant(name, what.pop("setting", pendulum), explanation, watched=True, **what)

    def driven(name: str, explanation: str, **what: Any) -> Variant:
        return Variant(f"mountain, {name}", what.pop("setting", car), explanation, **what)

    return [
        shown("TD3 as taught", "The lesson's own settings."),
        shown(
            "DDPG",
            "Lesson 02's agent with lesson 02's settings: its critic ends up above 0, which no "
            "pendulum is worth.",
            setting=ddpg[0],
        ),
        shown(
            "one critic",
            "Targets from the first critic alone, all else as in TD3: the critic promises 8 too "
            "much. The policy does not suffer from it here.",
            replaced=one_critic,
        ),
        shown(
            "no minimum",
            "The mean of both critics in place of the lower one: about right on average. TD3 asks "
            "for less than that, a number that the actor cannot exploit.",
            replaced=mean,
        ),
        shown(
            "double Q-learning",
            "Each critic is taught by the other one (with a single actor): about right on average, "
            "like the mean of both.",
            replaced=crossed,
        ),
        shown(
            "no delay",
            "Actor and target networks move at every update. It learns sooner, and values end up "
            "far too low (-40).",
            changes={"policy_delay": 1},
        ),
        shown(
            "delay 8",
            "One step of the actor for eight of the critics, and of the targets as well: it learns "
            "much later, though all ten seeds get there.",
            changes={"policy_delay": 8},
        ),
        shown(
            "no smoothing",
            "The target actor's action as it is. Values are a little higher, since a random torque "
            "is a worse one; the policy is no different.",
            changes={"target_noise": 0.0},
        ),
        shown(
            "much smoothing",
            "Noise of 0.8, cut at 1: targets are averaged over most of the possible torques. "
            "Values end up far too low (-81), and the policy does not mind.",
            changes={"target_noise": 0.8, "noise_clip": 1.0},
        ),
        shown(
            "one noise for the batch",
            "All samples of a batch get the same draw, as in popular code. It does not show here.",
            replaced={smoothed: one_noise_for_all},
        ),
        shown(
            "none of the three",
            "One critic, no delay, no smoothing, with TD3's other settings: DDPG again, above 0 "
            "again, and the fastest of all. Pendulum does not need TD3.",
            changes=plain,
            replaced=one_critic,
        ),
        shown(
            "maximum for minimum",
            "One wrong word in the target. Every seed still learns Pendulum, with a critic that "
            "promises 21 too much: the return alone would not have told you.",
            replaced={target: target_from(torch.maximum)},
        ),
        Variant("on the mountain", car, "MountainCarContinuous with the lesson's own settings."),
        driven("DDPG", "Lesson 02's agent with lesson 02's settings.", setting=ddpg[1]),
        driven("one critic", "Targets from the first critic alone: no harm.", replaced=one_critic),
        driven("no minimum", "The mean of both critics: no harm.", replaced=mean),
        driven(
            "no delay", "The actor moves at every update: no harm.", changes={"policy_delay": 1}
        ),
        driven(
            "no smoothing",
            "The target actor's action as it is: no harm.",
            changes={"target_noise": 0.0},
        ),
        driven(
            "none of the three",
            "One critic, no delay, no smoothing: one seed of ten pushes against the slope at full "
            "throttle for 999 steps.",
            changes=plain,
            replaced=one_critic,
        ),
        driven(
            "slow targets",
            "tau = 0.005, as in the paper. Targets that move at every second update then lag twice "
            "as far behind as DDPG's, and what the flag is worth does not get to the valley in "
            "20,000 steps: one seed of ten learns.",
            changes={"tau": 0.005},
        ),
    ]


# ---- lesson 04 -----------------------------------------------------------------------------------


def first_episodes(count: int) -> Callable[[Setting], Demos]:
    """A few of the demonstrations in place of all."""

    def load(setting: Setting) -> Demos:
        demos = load_demos(DEMOS / f"{setting.demos}.npz", setting.env_id)
        stop = demos.episodes[count - 1].stop
        return Demos(demos.env_id, demos.maker, *(getattr(demos, name)[:stop] for name in ARRAYS))

    return load


def return_over_the_end(rewards, ends, gamma):
    """Windows that run on into the next episode."""
    return n_step_return(rewards, np.zeros_like(ends), gamma)


def no_weights(probabilities, smallest, size, beta):
    """Importance weights of 1: what is drawn more often counts more."""
    return np.ones_like(probabilities)


def lesson_04() -> list[Variant]:
    """DDPGfD on the sparse pendulum with one thing changed."""
    taught = get_setting("ddpgfd", "SparsePendulum-v0")

    def variant(name: str, explanation: str, **changes: Any) -> Variant:
        return Variant(name, taught, explanation, changes=changes)

    return [
        variant("DDPGfD as taught", "The lesson's own settings, with the clumsy teacher."),
        Variant(
            "no demonstrations",
            replace(taught, demos=None),
            "The same agent with an empty memory: no seed of ten finds the reward.",
        ),
        Variant(
            "one demonstration",
            taught,
            "The first episode alone, 200 steps: all ten seeds learn, not much later. The paper "
            "found the same (its figure 4a).",
            replaced={"helpers.training.settings:Setting.load_demos": first_episodes(1)},
        ),
        Variant(
            "five demonstrations",
            taught,
            "Five of the twenty: nine seeds learn. The actor of the tenth says -1 everywhere: its"
            " outputs lie so far out in the flat part of the tanh that hardly any gradient comes "
            "back.",
            replaced={"helpers.training.settings:Setting.load_demos": first_episodes(5)},
        ),
        Variant(
            "five of the skilled teacher",
            replace(taught, demos="sparse_pendulum"),
            "Demonstrations that stand for 143 steps in place of 34: all ten seeds learn, but "
            "about a thousand steps later than from five clumsy ones. Whoever never falls does "
            "not show what falling is worth.",
        ),
        variant(
            "no pre-training",
            "The first update comes with the first step: no difference. 2,000 updates are soon "
            "made up for.",
            pretraining=0,
        ),
        variant(
            "uniform replay",
            "alpha = 0, every step equally likely: no difference. A third of the memory are "
            "demonstrations even at the end, and uniform draws find them.",
            alpha=0.0,
        ),
        Variant(
            "no weights",
            taught,
            "Importance weights of 1, so that the critic's mean is over what is drawn: no "
            "difference.",
            replaced={"helpers.memory.buffers:importance_weights": no_weights},
        ),
        variant(
            "no bonus", "Demonstrations have no extra priority: no difference.", demo_bonus=0.0
        ),
        variant(
            "no slope in the priority",
            "Priority by the TD error alone, without the slope of Q: no clear difference.",
            gradient_weight=0.0,
        ),
        variant(
            "one step only",
            "No n-step targets: it learns *sooner*. The clumsy teacher's next ten rewards are "
            "worse than what the pupil could get.",
            n_step_weight=0.0,
        ),
        Variant(
            "windows over the end",
            taught,
            "n-step windows run on into the next episode: no harm to see. A wrong number of one "
            "step in twenty, and all ten seeds reach the bar.",
            replaced={"helpers.memory.buffers:n_step_return": return_over_the_end},
        ),
        variant(
            "no L2",
            "Without the penalty on weights two seeds of ten end at 0.",
            weight_decay=0.0,
        ),
        variant(
            "one update a step",
            "Half as many updates: it learns, a little later, in half the time.",
            gradient_steps=1,
        ),
    ]


# ---- lesson 05 -----------------------------------------------------------------------------------


def lesson_05() -> list[Variant]:
    """TD3 on Pendulum with one knob turned: not broken, but is it better?"""
    taught = get_setting("td3", "Pendulum-v1")

    def turned(name: str, explanation: str, **changes: Any) -> Variant:
        return Variant(name, taught, explanation, changes=changes)

    large = {"actor_learning_rate": 1e-2, "critic_learning_rate": 1e-2}
    small = {"actor_learning_rate": 1e-4, "critic_learning_rate": 1e-4}
    return [
        turned("TD3 as taught", "The settings of lesson 03."),
        turned(
            "learning rate / 10",
            "Steps of 0.0001 for both networks: after 12,000 of them no seed is there.",
            **small,
        ),
        turned(
            "learning rate x 10",
            "Steps of 0.01 for both networks: two seeds of ten never get up.",
            **large,
        ),
        turned(
            "learning rate falling",
            "From the lesson's 0.001 down to 0 at the end: no difference here.",
            actor_learning_rate=LinearSchedule(1e-3, 0.0, taught.steps),
            critic_learning_rate=LinearSchedule(1e-3, 0.0, taught.steps),
        ),
        turned(
            "learning rate x 10, layer norm",
            "The same large steps, with normalised layers: no rescue.",
            **large,
            layer_norm=True,
        ),
        turned(
            "layer norm",
            "Normalised layers, the lesson's steps: no harm, and nothing to mend.",
            layer_norm=True,
        ),
        turned(
            "an update every 4 steps",
            "A quarter of the updates: it learns later, and one seed of ten not in time.",
            train_freq=4,
        ),
        turned(
            "rewards as they are",
            "reward_scale = 1: no harm, since Adam's steps do not depend on the size of a loss.",
            reward_scale=1.0,
        ),
        turned(
            "no noise",
            "Nothing is tried out after the warm-up: no harm, as Pendulum's starts all differ.",
            noise=None,
        ),
    ]


LABS: dict[str, Callable[[], list[Variant]]] = {
    "01": lesson_01, "02": lesson_02, "03": lesson_03, "04": lesson_04,
    "05": lesson_05,
}  # fmt: skip


# ---- running and reading -------------------------------------------------------------------------


def curve(agent: Agent, total_steps: int) -> list[float]:
    """Mean return of the training episodes that ended in each of POINTS equal stretches of steps.

    A stretch in which no episode ended repeats the one before it.
    """
    steps, returns = np.array(agent.history["return"]).T
    stretch = np.minimum(steps * POINTS // total_steps, POINTS - 1).astype(int)
    means: list[float] = []
    for point in range(POINTS):
        inside = returns[stretch == point]
        means.append(float(inside.mean()) if len(inside) else means[-1] if means else 0.0)
    return means


def value_at_start(agent: Agent, starts: int = 20) -> float:
    """The critic's mean value of fresh starts, in units of 1 / (1 - gamma), the value of
    earning 1 for ever.
    """
    env = make_env(agent.env_source)
    obs = np.array([env.reset(seed=10_000 + i)[0] for i in range(starts)])
    with torch.no_grad():
        value = agent.value(agent.flat(obs)).mean().item()
    return value / agent.reward_scale * (1 - agent.gamma)


class Watch:
    """A callback that compares the critic's values with what is obtained, POINTS times."""

    def __init__(self, total_steps: int) -> None:
        self.every = total_steps // POINTS
        self.estimated: list[float] = []
        self.obtained: list[float] = []

    def __call__(self, agent: Agent) -> None:
        if agent.steps % self.every == 0 and len(self.estimated) < POINTS:
            estimated, obtained = values_and_returns(agent)
            self.estimated.append(round(estimated, 2))
            self.obtained.append(round(obtained, 2))


def run(variant: Variant, seed: int) -> tuple[str, int, dict[str, Any]]:
    """Train one variant with one seed: its name, the seed, and what is worth keeping."""
    watch = Watch(variant.setting.steps) if variant.watched else None
    agent = variant.train(seed, watch)
    with variant.applied():
        score = evaluate(agent).mean
    kept = {
        "returns": [round(point, 1) for point in curve(agent, variant.setting.steps)],
        "evaluations": round(score, 1),
        "values": round(value_at_start(agent), 3),
    }
    if watch:
        kept |= {"estimated": watch.estimated, "obtained": watch.obtained}
    return variant.name, seed, kept


def study(lesson: str, seeds: Sequence[int], jobs: int) -> dict[str, Any]:
    """Every variant of a lesson's lab over `seeds`, in the form that `load_results` gives."""
    variants = LABS[lesson]()
    tasks = [(variant, seed) for variant in variants for seed in seeds]
    done: dict[tuple[str, int], dict[str, Any]] = {}
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for name, seed, kept in pool(delayed(run)(*task) for task in tasks):
        done[name, seed] = kept
        final = kept["evaluations"]
        print(f"{len(done):3d}/{len(tasks)}  {name}, seed {seed}: {final:.1f}", flush=True)
    results: dict[str, Any] = {
        "command": f"python course.py break-it {lesson} --seeds {seeds[0]}-{seeds[-1]}",
        **circumstances(),
    }
    for variant in variants:
        stretch = variant.setting.steps / POINTS
        results[variant.name] = {
            "explanation": variant.explanation,
            "bar": variant.setting.bar,
            "seeds": list(seeds),
            "steps": [round((point + 1) * stretch) for point in range(POINTS)],
            **{
                key: [done[variant.name, seed][key] for seed in seeds]
                for key in done[variant.name, seeds[0]]
            },
        }
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python course.py break-it",
        description='Train every variant of a lesson\'s "break it" lab and store the results.',
    )
    parser.add_argument("lesson", choices=sorted(LABS), help="such as 01")
    parser.add_argument("--seeds", default="0-9", help="0-9, 3 or 0-4,7 (default 0-9)")
    parser.add_argument("--jobs", type=int, default=2, help="seeds trained side by side")
    options = parser.parse_args(arguments)
    results = study(options.lesson, parse_seeds(options.seeds), options.jobs)
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{options.lesson}_break_it.json"
    path.write_text(json.dumps(results) + "\n", encoding="utf-8", newline="\n")
    print(f"Written to data/results/{path.name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One seed of `to_the_bar`, in a process that imports what its learner needs and no more.

After every so many steps it plays the lesson's twenty greedy episodes, and ends with the first mean
at the bar. It prints its CPU seconds since `python`, without those of the episodes.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

Task = Mapping[str, Any]


class Judge:
    """Evaluates every so many steps; `over` once the bar is reached."""

    def __init__(self, task: Task) -> None:
        self.env_id, self.bar, self.every = task["env_id"], task["bar"], task["every"]
        self.asked, self.seconds, self.over = 0, 0.0, False
        self.started = time.process_time()  # what was before are imports and building

    def goes_on(self, policy: Any, steps: int) -> bool:
        if not self.over and steps // self.every > self.asked:
            started = time.process_time()
            from helpers.evaluation import evaluate

            self.asked = steps // self.every
            self.over = evaluate(policy, self.env_id, episodes=20).mean >= self.bar
            self.seconds += time.process_time() - started
        return not self.over


def ours(task: Task) -> Callable[[Judge], object]:
    from helpers.training.settings import get_setting

    setting = get_setting(task["algorithm"], task["env_id"])
    agent = setting.make(task["seed"])
    return lambda judge: agent.learn(setting.steps, lambda agent: judge.goes_on(agent, agent.steps))


def plain_file(task: Task) -> Callable[[Judge], object]:
    from benchmarks.single_file_td3 import SingleFileTD3

    arguments = dict(task["arguments"])
    steps = arguments.pop("steps")
    agent = SingleFileTD3(task["env_id"], task["seed"], **arguments)

    def train(judge: Judge) -> None:
        while judge.goes_on(agent, agent.steps) and agent.steps < steps:
            agent.learn(judge.every)

    return train


def library(name: str, task: Task) -> Callable[[Judge], object]:
    """An agent of Stable-Baselines3 or SBX."""
    import importlib

    import gymnasium as gym
    import numpy as np
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.noise import NormalActionNoise

    arguments = dict(task["arguments"])
    steps, n_envs = arguments.pop("steps"), arguments.pop("n_envs", 1)
    factor, sigma = arguments.pop("reward_scale", 1.0), arguments.pop("sigma", None)
    if sigma is not None:
        arguments["action_noise"] = NormalActionNoise(np.zeros(1), sigma * np.ones(1))
    for rate, line in arguments.pop("linear", {}).items():
        arguments[rate] = partial(linear, steps, *line)
    if "train_freq" in arguments:
        arguments["train_freq"] = tuple(arguments["train_freq"])

    def make() -> gym.Env:
        env = gym.make(task["env_id"])
        return gym.wrappers.TransformReward(env, lambda reward: factor * reward)

    kind = getattr(importlib.import_module(name), task["algorithm"].upper())
    env = make_vec_env(make, n_envs)
    model = kind("MlpPolicy", env, seed=task["seed"], device="cpu", **arguments)
    return lambda judge: model.learn(steps, lambda *_: judge.goes_on(model, model.num_timesteps))


def linear(total: int, start: float, end: float, steps: int, left: float) -> float:
    """A rate after `1 - left` of `total` steps: from start to end in `steps`, then the end."""
    return start + (end - start) * min(1.0, (1 - left) * total / steps)


LEARNERS: dict[str, Callable[[Task], Callable[[Judge], object]]] = {
    "ours": ours,
    "file": plain_file,
    "stable_baselines3": partial(library, "stable_baselines3"),
    "sbx": partial(library, "sbx"),
}


def main(said: str) -> None:
    task = json.loads(said)
    train = LEARNERS[task["learner"]](task)
    judge = Judge(task)
    train(judge)
    seconds = time.process_time() - judge.seconds
    parts = {"reached": float(judge.over), "before training": judge.started / seconds}
    print(json.dumps([seconds, parts]))


if __name__ == "__main__":
    main(sys.argv[1])

"""Computing time until A2C and PPO first average CartPole's bar, measured once.

    python -m data.measure.lesson_07

writes data/results/07_time_to_bar.json. One core, half a minute.
"""

import time
from typing import Any

import numpy as np
import torch

from helpers.agents.base import Agent
from helpers.training.results import RESULTS, write_json
from helpers.training.settings import get_setting
from helpers.training.study import circumstances

EPISODES = 20  # that average the bar


def until_the_bar(algorithm: str, seed: int) -> dict[str, Any]:
    """Steps and CPU seconds until the last training episodes average the bar; None for never."""
    setting, found = get_setting(algorithm, "CartPole-v1"), {}

    def watch(agent: Agent) -> bool:
        last = [value for _, value in agent.history["return"][-EPISODES:]]
        if len(last) == EPISODES and np.mean(last) >= setting.bar:
            found["steps"] = agent.steps
        return not found

    agent, began = setting.make(seed), time.process_time()
    agent.learn(setting.steps, watch)
    seconds = round(time.process_time() - began, 3)
    return {"seed": seed, "steps": found.get("steps"), "cpu_seconds": seconds}


def main(seeds: range = range(10)) -> None:
    torch.set_num_threads(1)
    runs = [(name, seed) for seed in seeds for name in ("a2c", "ppo")]  # in turn: the same load
    results: dict[str, list] = {"a2c": [], "ppo": []}
    for name, seed in runs:
        results[name].append(until_the_bar(name, seed))
        print(name, results[name][-1], flush=True)
    record = {"command": "python -m data.measure.lesson_07", **circumstances()}
    write_json(RESULTS / "07_time_to_bar.json", record | {"results": results}, indent=1)


if __name__ == "__main__":
    main()

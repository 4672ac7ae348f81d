"""After how many steps A2C and DDPG first reach Pendulum's bar, measured once.

    python -m data.measure.lesson_02

writes data/results/02_first_at_bar.json. One core, about five minutes.
"""

import sys
from typing import Any

from helpers.agents.base import Agent
from helpers.evaluation import evaluate
from helpers.training.results import RESULTS, write_json
from helpers.training.settings import get_setting
from helpers.training.study import circumstances

EVERY = {"ddpg": 500, "a2c": 10_000}  # steps between two evaluations of 20 episodes each


class FirstAtBar:
    """A callback that ends the training at the first evaluation that reaches the bar."""

    def __init__(self, bar: float, every: int) -> None:
        self.bar, self.every, self.due = bar, every, every
        self.steps: int | None = None

    def __call__(self, agent: Agent) -> bool:
        if agent.steps >= self.due:
            self.due += self.every
            if evaluate(agent).mean >= self.bar:
                self.steps = agent.steps
        return self.steps is None


def first_at_bar(algorithm: str, seed: int) -> int | None:
    """The steps after which it was there; None if it never was."""
    setting = get_setting(algorithm, "Pendulum-v1")
    watch = FirstAtBar(setting.bar, EVERY[algorithm])
    setting.make(seed).learn(setting.steps, watch)
    return watch.steps


def main(seeds: range = range(10)) -> int:
    record: dict[str, Any] = {
        "command": "python -m data.measure.lesson_02",
        **circumstances(),
        "env_id": "Pendulum-v1",
        "every": EVERY,
        "seeds": list(seeds),
    }
    for algorithm in EVERY:
        setting = get_setting(algorithm, "Pendulum-v1")
        params = {name: str(value) for name, value in setting.params.items()}
        steps = [first_at_bar(algorithm, seed) for seed in seeds]
        record[algorithm] = {"params": params, "bar": setting.bar, "steps": steps}
        print(algorithm, steps, flush=True)
    write_json(RESULTS / "02_first_at_bar.json", record, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The demonstrations that lesson 04 learns from: `python -m tools.demos` (a quarter of a minute).

Lesson 02's DDPG learns Pendulum-v1, whose reward guides it, and then acts in both environments:
they share observations and actions, so that its policy works unchanged where the reward is sparse.
A second set in the sparse one is made by the same policy with a clumsy hand.
"""

from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from helpers.demos.files import ARRAYS, Demos, record_demos, save_demos
from helpers.training.settings import get_setting

FOLDER = Path(__file__).resolve().parent.parent / "data" / "demos"
SHAPED, SPARSE = "Pendulum-v1", "SparsePendulum-v0"
START, AGENT_SEED = 0, 0  # starts from 0 on: no evaluation uses them
SKILLED, CLUMSY = 5, 20  # episodes
OTHERS = range(10_000, 10_100)  # starts for the table
DELAY, LEVELS, SLIPS = 2, 5, 0.1  # steps, torques, share of the steps

SETTING = get_setting("ddpg", SHAPED)
README = f"""\
# Demonstrations

Made by `python -m tools.demos`: lesson 02's DDPG with lesson 02's setting, seed {AGENT_SEED},
trained on {SHAPED} for {SETTING.steps:,} steps, then acting greedily. Episode i starts from
`reset(seed=i)`, from seed {START} on. The clumsy hand sees everything {DELAY} steps late, has
{LEVELS} torques to choose from, and slips to a full one at {SLIPS:.0%} of the steps: about as a
person with arrow keys.

| file | environment | returns of its episodes | steps | the same policy on 100 other starts |
| --- | --- | --- | --- | --- |
{{rows}}

Lesson 08 has three data sets more, 20 episodes each, made by `python -m data.measure.lesson_08
data_sets`: `beginner_pendulum.npz`, `medium_pendulum.npz` and `random_sparse_pendulum.npz`. On
another processor both commands may give other data: rounding differs, and a whole training with it.

Read them with `helpers.demos.files.load_demos`. Each file is a compressed `.npz`; its array `about`
is a text in JSON that says what it is, by whom and with which returns.
"""


class Clumsy:
    """For one episode, the hand of somebody who knows what to do but is late and slips."""

    def __init__(self, agent: Any, seed: int) -> None:
        self.agent, self.rng = agent, np.random.default_rng(seed)
        self.seen: deque[np.ndarray] = deque(maxlen=DELAY + 1)

    def __call__(self, obs: np.ndarray) -> np.ndarray:
        self.seen.append(obs)
        low, high = self.agent.action_space.low, self.agent.action_space.high
        torques = np.linspace(low, high, LEVELS)
        if self.rng.random() < SLIPS:
            return self.rng.choice(torques[[0, -1]])
        meant = self.agent.predict(self.seen[0])
        return torques[np.abs(torques - meant).argmin()]


def one_by_one(agent: Any, starts: range, maker: str) -> Demos:
    """Clumsy episodes, each by a hand of its own: the last one's mistakes are forgotten."""
    each = [record_demos(Clumsy(agent, seed), SPARSE, 1, seed, maker) for seed in starts]
    return Demos.from_episodes(SPARSE, maker, [{n: getattr(d, n) for n in ARRAYS} for d in each])


def teacher() -> Any:
    """Lesson 02's DDPG, by PyTorch alone: with updates in numpy it becomes another teacher."""
    agent = SETTING.make(seed=AGENT_SEED)
    agent.fast = False
    return agent.learn(SETTING.steps)


def main() -> None:
    agent = teacher()
    maker = f"lesson 02's DDPG after {SETTING.steps:,} steps in {SHAPED}, seed {AGENT_SEED}, acting"

    def play(env_id: str, how: str, seeds: range) -> Demos:
        told = f"{maker} {how} from starts {seeds[0]} to {seeds[-1]} (python -m tools.demos)"
        if how == "greedily":
            return record_demos(agent, env_id, len(seeds), seeds[0], told)
        return one_by_one(agent, seeds, told)

    rows = []
    for name, env_id, how, episodes in [
        ("pendulum", SHAPED, "greedily", SKILLED),
        ("sparse_pendulum", SPARSE, "greedily", SKILLED),
        ("clumsy_pendulum", SPARSE, "with a clumsy hand", CLUMSY),
    ]:
        demos = play(env_id, how, range(START, START + episodes))
        others = play(env_id, how, OTHERS).returns
        save_demos(FOLDER / f"{name}.npz", demos)
        returns = ", ".join(f"{value:.0f}" for value in demos.returns)
        spread = f"{others.mean():.1f} ± {others.std():.1f}, worst {others.min():.1f}"
        rows.append(f"| `{name}.npz` | {env_id} | {returns} | {len(demos):,} | {spread} |")
        print(demos)
    (FOLDER / "README.md").write_text(README.format(rows="\n".join(rows)))


if __name__ == "__main__":
    main()

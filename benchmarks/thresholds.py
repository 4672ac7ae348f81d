"""Do the files of `helpers/algorithms` reach the lessons' bars? A greedy evaluation a seed.

`python -m benchmarks.thresholds td3 Pendulum-v1 --seeds 400-419` goes on where it was stopped.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from helpers.algorithms import a2c, ddpg, ddpgfd, ppo, reinforce, rlpd, sac, td3, td3_bc
from helpers.training.results import RESULTS
from helpers.training.settings import Setting, get_setting
from helpers.training.study import Parser, Refused, parse_seeds, study

# (algorithm, environment), as in helpers/training/settings.py -> the file and its settings.
FILES: dict[tuple[str, str], tuple[ModuleType, Any]] = {
    ("reinforce", "CartPole-v1"): (reinforce, reinforce.CARTPOLE),
    ("a2c", "CartPole-v1"): (a2c, a2c.CARTPOLE),
    ("a2c", "Pendulum-v1"): (a2c, a2c.PENDULUM),
    ("ppo", "CartPole-v1"): (ppo, ppo.CARTPOLE),
    ("ppo", "Acrobot-v1"): (ppo, ppo.ACROBOT),
    ("ppo", "Pendulum-v1"): (ppo, ppo.PENDULUM),
    ("ddpg", "Pendulum-v1"): (ddpg, ddpg.PENDULUM),
    ("ddpg", "MountainCarContinuous-v0"): (ddpg, ddpg.MOUNTAIN_CAR),
    ("td3", "Pendulum-v1"): (td3, td3.PENDULUM),
    ("td3", "MountainCarContinuous-v0"): (td3, td3.MOUNTAIN_CAR),
    ("sac", "Pendulum-v1"): (sac, sac.PENDULUM),
    ("sac", "MountainCarContinuous-v0"): (sac, sac.MOUNTAIN_CAR),
    ("ddpgfd", "SparsePendulum-v0"): (ddpgfd, ddpgfd.SPARSE_PENDULUM),
    ("ddpgfd", "Pendulum-v1"): (ddpgfd, ddpgfd.PENDULUM),
    ("td3bc", "SparsePendulum-v0"): (td3_bc, td3_bc.SPARSE_PENDULUM),
    ("rlpd", "SparsePendulum-v0"): (rlpd, rlpd.SPARSE_PENDULUM),
}


class Filed:
    """What `study` asks of an agent, by a file: it makes and trains its own in one go."""

    def __init__(self, file: ModuleType, settings: Any, seed: int) -> None:
        self.file, self.settings, self.seed = file, settings, seed
        self.env_source, self.steps = settings.env_id, settings.steps

    def learn(self, steps: int) -> None:
        self.predict = self.file.train(self.settings, self.seed).predict


class FiledSetting(Setting):
    """A lesson's setting, which the file has as well."""

    def make(self, seed: int) -> Filed:
        return Filed(*FILES[self.algorithm, self.env_id], seed)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="python -m benchmarks.thresholds", description=__doc__.splitlines()[0])
    parser.add_argument("algorithm", choices=sorted({algorithm for algorithm, _ in FILES}))
    parser.add_argument("env_id")
    parser.add_argument("--seeds", type=parse_seeds, default="0-4", help="0-9, 3 or 0-4,7")
    parser.add_argument("--out", type=Path, help="a .json file; without it in data/results")
    words = sys.argv[1:] if arguments is None else arguments
    asked = parser.parse_args(words)
    if (asked.algorithm, asked.env_id) not in FILES:
        parser.error(f"no file trains {asked.algorithm} on {asked.env_id}")
    path = RESULTS / "algorithms" / f"{asked.algorithm}_{asked.env_id}.json"
    _, settings = FILES[asked.algorithm, asked.env_id]
    lessons = vars(get_setting(asked.algorithm, asked.env_id))
    setting = FiledSetting(**lessons | {"steps": settings.steps})
    try:
        record = study(setting, asked.seeds, parser.command(words), out=asked.out or path)
    except Refused as error:
        parser.error(str(error))
    return 130 if record["stopped"] else 0


if __name__ == "__main__":
    sys.exit(main())

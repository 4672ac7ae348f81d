"""TD3 as `course.py train` trains it, but with last layers as PyTorch starts them, for lesson 05.

    python -m data.measure.walker_start td3 Walker2d-v5 --steps 1000000 --seed 1 \\
        --evaluate-every 5000 --out pytorch/seed_1
    python -m data.measure.robots 05_walker_start pytorch

The first takes one core for an hour and a half, and goes on from its last checkpoint; the second
writes data/results/05_walker_start.json. Half as long, for two more seeds of each start:

    python course.py train td3 Walker2d-v5 --steps 500000 --seeds 3-4 --evaluate-every 5000 \\
        --out near_0
    python -m data.measure.robots 05_walker_half near_0 pytorch

with seeds 0 and 3 in `pytorch` by the first command. (Of these two only whole numbers were kept.)
"""

import sys
from typing import Any

from helpers.agents import layers, networks
from helpers.training import train


def leave(layer: Any) -> None:
    """In place of `start_small`."""


if __name__ == "__main__":
    networks.start_small = layers.start_small = leave
    sys.exit(train.main())

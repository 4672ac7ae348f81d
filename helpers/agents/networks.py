"""The neural networks of the course: small, and written out layer by layer."""

from torch import nn

from helpers.algorithms.ddpg import DeterministicActor, QNetwork, start_small
from helpers.algorithms.sac import SquashedGaussianActor
from helpers.algorithms.td3 import TwinQNetwork

__all__ = [
    "DeterministicActor", "QNetwork", "SquashedGaussianActor", "TwinQNetwork", "make_actor",
    "make_critic", "start_small",
]  # fmt: skip


def make_actor(obs_size: int, n_outputs: int, hidden: int = 64) -> nn.Sequential:
    """The actor network: observations (B, obs_size) to outputs (B, n_outputs).

    Three linear layers with a ReLU after the first two. For discrete actions the outputs are
    *logits*, one per action: any real numbers, which a softmax later turns into probabilities.
    """
    # 1. Two hidden layers of `hidden` units, each followed by a ReLU.
    layers = [nn.Linear(obs_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
    # 2. A linear output layer with nothing after it: a logit may be any real number.
    layers.append(nn.Linear(hidden, n_outputs))
    # 3. One module that applies them in turn.
    return nn.Sequential(*layers)


def make_critic(obs_size: int, hidden: int = 64) -> nn.Sequential:
    """The critic network V: observations (..., obs_size) to values (..., 1).

    Three linear layers with a ReLU after the first two; one unbounded number per observation.
    """
    # 1. Two hidden layers of `hidden` units, each followed by a ReLU.
    layers = [nn.Linear(obs_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()]
    # 2. A linear output layer with one unit: a value may be any real number.
    layers.append(nn.Linear(hidden, 1))
    # 3. One module that applies them in turn.
    return nn.Sequential(*layers)

"""The networks of the algorithms, in one place for the agents."""

from helpers.algorithms.ddpg import DeterministicActor, QNetwork, start_small
from helpers.algorithms.reinforce import make_actor, make_critic
from helpers.algorithms.rlpd import NormedQNetwork, NormedTwinQNetwork
from helpers.algorithms.sac import SquashedGaussianActor
from helpers.algorithms.td3 import TwinQNetwork

__all__ = [
    "DeterministicActor", "NormedQNetwork", "NormedTwinQNetwork", "QNetwork",
    "SquashedGaussianActor", "TwinQNetwork", "make_actor", "make_critic", "start_small",
]  # fmt: skip

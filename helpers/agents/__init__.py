"""The course's agents: `from helpers.agents import TD3`."""

from helpers.agents.a2c import A2C
from helpers.agents.cloning import BehaviourCloning
from helpers.agents.ddpg import DDPG
from helpers.agents.ddpgfd import DDPGfD
from helpers.agents.ppo import PPO
from helpers.agents.reinforce_with_baseline import ReinforceWithBaseline
from helpers.agents.rlpd import RLPD
from helpers.agents.sac import SAC
from helpers.agents.td3 import TD3
from helpers.agents.td3_bc import TD3BC

__all__ = [
    "A2C", "DDPG", "PPO", "RLPD", "SAC", "TD3", "TD3BC", "BehaviourCloning", "DDPGfD",
    "ReinforceWithBaseline",
]  # fmt: skip

"""The course's agents. `from helpers.agents import A2C, DDPG, TD3, DDPGfD, PPO, SAC`."""

from helpers.agents.a2c import A2C
from helpers.agents.cloning import BehaviourCloning
from helpers.agents.ddpg import DDPG
from helpers.agents.ddpgfd import DDPGfD
from helpers.agents.ppo import PPO
from helpers.agents.reinforce_with_baseline import ReinforceWithBaseline
from helpers.agents.sac import SAC
from helpers.agents.td3 import TD3

__all__ = [
    "A2C",
    "DDPG",
    "PPO",
    "SAC",
    "TD3",
    "BehaviourCloning",
    "DDPGfD",
    "ReinforceWithBaseline",
]

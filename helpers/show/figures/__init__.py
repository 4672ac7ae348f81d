"""All figures of the lessons, by name: `figures.discount_explorer()`. Each stands in a module."""

from helpers.show.figures.a2c_gae import gae_explorer
from helpers.show.figures.a2c_gradient_noise import plot_gradient_noise
from helpers.show.figures.a2c_policy_gradient import softmax_explorer
from helpers.show.figures.a2c_rollout import plot_rollout
from helpers.show.figures.chain import chain_explorer
from helpers.show.figures.course_map import plot_course_map
from helpers.show.figures.ddpg_critic import q_explorer
from helpers.show.figures.ddpg_noise import ou_explorer
from helpers.show.figures.ddpg_target_network import tau_explorer
from helpers.show.figures.ddpg_uphill import uphill_explorer
from helpers.show.figures.ddpgfd_buffer import plot_buffer
from helpers.show.figures.ddpgfd_n_step import n_step_explorer
from helpers.show.figures.ddpgfd_priorities import priority_explorer
from helpers.show.figures.ddpgfd_sum_tree import tree_walk_explorer
from helpers.show.figures.ddpgfd_swings import plot_swings
from helpers.show.figures.diagrams import (
    plot_actor_critic,
    plot_agent_environment,
    plot_gradient_path,
)
from helpers.show.figures.discount import discount_explorer
from helpers.show.figures.explore import Slider, explore
from helpers.show.figures.ppo_clip import clip_explorer
from helpers.show.figures.ppo_line import mean_return, plot_line
from helpers.show.figures.ppo_ratios import ratio_explorer
from helpers.show.figures.practice_frames import plot_frames
from helpers.show.figures.practice_long_training import plot_robot
from helpers.show.figures.practice_seeds import seeds_explorer
from helpers.show.figures.practice_side_by_side import plot_side_by_side
from helpers.show.figures.results import effects_table, results_explorer
from helpers.show.figures.sac_gradients import gradients_explorer
from helpers.show.figures.sac_squash import squash_explorer
from helpers.show.figures.sac_temperature import temperature_explorer
from helpers.show.figures.td3_bias import bias_explorer
from helpers.show.figures.td3_climb import climb_explorer
from helpers.show.figures.td3_data_flow import data_flow_explorer
from helpers.show.figures.td3_overestimation import plot_overestimation
from helpers.show.figures.td3_smoothing import smoothing_explorer

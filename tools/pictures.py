"""The animated pictures at the top of README and lessons: `python -m tools.pictures`.

Agents are trained with the lessons' settings and seed 0 (about a minute), then recorded.
"""

from pathlib import Path

from helpers.show.video import record, side_by_side
from helpers.training.settings import get_setting

PICTURES = Path(__file__).resolve().parent.parent / "data" / "pictures"
LEARNED = [
    # picture, algorithm, environment, start, steps shown
    ("a2c_cartpole", "a2c", "CartPole-v1", 7, 200),
    ("a2c_pendulum", "a2c", "Pendulum-v1", 3, 120),
    ("ddpg_car", "ddpg", "MountainCarContinuous-v0", 3, 200),
    ("td3_pendulum", "td3", "Pendulum-v1", 3, 120),
    ("ddpgfd_pendulum", "ddpgfd", "SparsePendulum-v0", 3, 120),
    ("sac_pendulum", "sac", "Pendulum-v1", 3, 120),
    ("ppo_pendulum", "ppo", "Pendulum-v1", 3, 120),
    ("td3bc_pendulum", "td3bc", "SparsePendulum-v0", 3, 120),
]


def look_ahead(obs):
    """Lesson 00's rule for CartPole: push to where the pole is going to lean."""
    return int(obs[2] + 0.5 * obs[3] > 0)


def lean_only(obs):
    """Lesson 00's first try: push to where the pole leans."""
    return int(obs[2] > 0)


def main() -> None:
    rules = [record(rule, "CartPole-v1", seed=1, max_steps=200) for rule in (lean_only, look_ahead)]
    pictures = {"cartpole_controller": side_by_side(rules, ["lean only", "look ahead"])}
    for name, algorithm, env_id, start, steps in LEARNED:
        setting = get_setting(algorithm, env_id)
        agents = [setting.make(seed=0), setting.make(seed=0).learn(setting.steps)]
        recordings = [record(agent, env_id, start, steps) for agent in agents]
        pictures[name] = side_by_side(recordings, ["before training", "after training"])
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, video in pictures.items():
        print(video.save(PICTURES / f"{name}.png").relative_to(PICTURES.parent.parent))


if __name__ == "__main__":
    main()

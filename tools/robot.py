"""What lesson 05 shows of a robot: `python -m tools.robot runs/walker`.

    python course.py train td3 Walker2d-v5 --steps 1300000 --seed 0 --out runs/walker

makes that folder, in an hour or two. Its best.pt, and copies of it that were set aside on the way
and are named behind the folder, play 100 episodes each; the best of them is copied to data/weights
and plays 100 more, from starts by which it was not chosen. That and the curve go to
data/results/05_walker.json; the picture is drawn too. It needs `gymnasium[mujoco]`.
"""

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import gymnasium as gym

from helpers.agents import TD3
from helpers.evaluation import Evaluation, evaluate
from helpers.show.video import record, side_by_side
from helpers.training.results import write_json

DATA = Path(__file__).resolve().parent.parent / "data"
# Starts: the evaluations in training take those from 10,000 on.
EPISODES, CHOOSING, REPORTED = 100, 30_000, 20_000
STEPS_SHOWN, SEED_SHOWN = 160, 3


def main(folder: Path, others: Sequence[Path]) -> None:
    training = json.loads((folder / "evaluations.json").read_text(encoding="utf-8"))
    env_id = training["settings"]["environment"]
    finalists = {path: TD3.load(path) for path in (*others, folder / "best.pt")}
    scores = {path: evaluate(a, None, EPISODES, CHOOSING) for path, a in finalists.items()}
    chosen = max(scores, key=lambda path: scores[path].mean)
    agent = finalists[chosen]
    result = evaluate(agent, episodes=EPISODES, seed=REPORTED)
    print(f"chosen: the agent of step {agent.steps:,}; {result}")
    weights = DATA / "weights" / f"td3_{env_id}.pt"
    weights.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(chosen, weights)
    for row in training["curve"]:
        row["returns"] = tenths(row["returns"])
    training["finalists"] = [
        {"step": finalists[path].steps, "seed": CHOOSING, **summary(score)}
        for path, score in scores.items()
    ]
    training["final"] = {"step": agent.steps, "seed": REPORTED, **summary(result)}
    write_json(DATA / "results" / "05_walker.json", training, rows="curve")
    draw(agent, env_id)


def draw(agent: TD3, env_id: str) -> None:
    """The animated picture: a camera goes with the robot, and the black tiles are grey."""
    env = gym.make(env_id, render_mode="rgb_array", camera_id=0, width=300, height=300)
    textures = env.unwrapped.model.tex_data
    textures[:] = 150 + textures * (105 / 255)
    untrained = TD3(env_id, seed=0, hidden=agent.hyperparameters["hidden"])
    recordings = [record(each, env, SEED_SHOWN, STEPS_SHOWN) for each in (untrained, agent)]
    video = side_by_side(recordings, ["before training", "after training"])
    video.save(DATA / "pictures" / "td3_walker.png")


def summary(result: Evaluation) -> dict:
    """As it is stored."""
    return {
        "episodes": len(result.returns),
        "mean": result.mean,
        "std": result.std,
        "returns": tenths(result.returns),
    }


def tenths(returns: Iterable[float]) -> list[float]:
    """As they are stored: the file travels with lesson 05."""
    return [round(float(value), 1) for value in returns]


if __name__ == "__main__":
    folder, *others = map(Path, sys.argv[1:])
    main(folder, others)

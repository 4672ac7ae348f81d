"""The robot of lesson 05: its weights, its record and its picture belong together."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from helpers.agents import TD3, checkpoint
from helpers.evaluation import evaluate
from helpers.training.settings import LONG, WEIGHTS
from tools import robot

ROOT = Path(__file__).resolve().parent.parent
FILE = WEIGHTS / "td3_Walker2d-v5.pt"
RECORD = json.loads((ROOT / "data/results/05_walker.json").read_text(encoding="utf-8"))


def test_the_weights_are_those_of_the_best_finalist():
    content = checkpoint.read(FILE)
    assert (content["agent"], content["env_id"]) == ("TD3", "Walker2d-v5")
    best = max(RECORD["finalists"], key=lambda one: one["mean"])
    assert content["steps"] == RECORD["final"]["step"] == best["step"]
    known = content["hyperparameters"].keys() & RECORD["settings"].keys()  # others came later
    assert len(known) > 10
    for name in known:
        assert content["hyperparameters"][name] == RECORD["settings"][name], name


def test_what_is_reported_is_not_what_was_chosen_by():
    final, starts = RECORD["final"], []
    for one in (RECORD["evaluation"], RECORD["finalists"][0], final):
        starts += [one["seed"] + i for i in range(one["episodes"])]
    assert len(starts) == len(set(starts))
    for one in (*RECORD["finalists"], final):
        assert len(one["returns"]) == one["episodes"] == robot.EPISODES
        assert one["mean"] == pytest.approx(np.mean(one["returns"]), abs=0.1)


def test_it_was_trained_with_the_course_s_settings():
    setting = LONG["td3", "Walker2d-v5"]
    for name, value in setting.params.items():
        assert RECORD["settings"][name] == checkpoint.as_plain(value)
    assert RECORD["steps"] >= setting.steps


@pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="MuJoCo is not installed")
def test_the_robot_walks():
    result = evaluate(TD3.load(FILE), episodes=2, seed=robot.REPORTED)
    assert result.mean == pytest.approx(np.mean(RECORD["final"]["returns"][:2]), rel=0.3)

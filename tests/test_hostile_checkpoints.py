"""Hostile files in place of the checkpoint of a training."""

from pathlib import Path

import pytest
from hostile import PENDULUM, File, Payload, without
from sentences import assert_one_sentence
from test_hostile_files import HOSTILE

from helpers.training import train


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    """A training that stopped after 30 steps."""
    out = tmp_path_factory.mktemp("training") / "run"
    assert train.main(command(out)) == 0
    return (out / "checkpoint.pt").read_bytes()


def command(out: Path, steps: int = 30) -> list[str]:
    small = ["hidden=4", "learning_starts=5", "batch_size=4", "buffer_size=50", "noise=OUNoise()"]
    line = ["td3", PENDULUM, "--steps", str(steps), "--out", str(out), "--episodes", "1"]
    return [*line, "--evaluate-every", "30", "--set", *small]


def run_says(**changes):
    """Another word of the training itself."""
    return lambda f: f.say(run=f.content()["run"] | changes)


# It is read as any agent's file: a few of each sort, and what only a training has.
TRAININGS = {
    name: HOSTILE[name][0]
    for name in (
        "empty", "half", "text", "a picture", "a pipe", "a pickle", "an object planted",
        "a pickle for torch's", "TorchScript", "a bomb", "lists of lists of lists",
        "a layer too wide", "a memory too long", "a newer version", "negative steps",
        "a random state of another kind", "weights that are NaN", "weights of another shape",
        "too many steps", "another agent",
    )
} | {
    "no training": without("run"),
    "a training in words": lambda f: f.say(run="far"),
    "no settings": run_says(settings=None),
    "evaluations in words": run_says(evaluations="good"),
    "an evaluation too short": run_says(evaluations=[[1]]),
    "seconds in words": run_says(seconds="many"),
    "an object in it": lambda f: run_says(seconds=Payload(f.ran))(f),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("case", TRAININGS)
def test_a_hostile_checkpoint_ends_the_command_with_a_sentence(case, tmp_path, training, capsys):
    out = tmp_path / "run"
    out.mkdir()
    file = File(out, training)
    file.path = file.path.rename(out / "checkpoint.pt")
    TRAININGS[case](file)
    readable = file.path.is_file()
    broken = file.path.read_bytes() if readable else b""
    assert train.main(command(out, steps=60)) == 2
    assert_one_sentence(capsys.readouterr().err.strip(), str(out))
    assert not file.ran.exists()
    assert not readable or file.path.read_bytes() == broken

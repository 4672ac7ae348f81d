"""From which size on a GPU pays: TD3 with one core, and with a GPU beside it."""

import time
from contextlib import nullcontext
from functools import partial

import torch

from benchmarks.measure import STEPS_PER_SECOND, Bar, Benchmark, Contender
from benchmarks.training import prepare_ours
from benchmarks.workers import Missing, Run, Turn
from helpers.agents.faster import plain_updates
from helpers.training.settings import MUJOCO, Setting, get_setting

WARM_UP = 1000  # steps
BAR = Bar("<=", 0.25)  # where networks are wide: a quarter of the time


def gpu() -> Benchmark:
    """With its updates recorded, as it comes, and done one by one."""
    pendulum, walker = get_setting("td3", "Pendulum-v1"), get_setting("td3", "Walker2d-v5")
    wide = {name: MUJOCO[name] for name in ("hidden", "batch_size")}
    sizes = {
        "Pendulum, 64x64, batch 128": partial(prepare, pendulum, hidden=64, batch_size=128),
        "Pendulum, 256x256, batch 256": partial(prepare, pendulum, **wide),
        "Walker2d, 256x256, batch 256": partial(prepare, walker),
        "pictures of Pendulum": partial(prepare, get_setting("td3", "PixelPendulum-v0")),
    }
    contenders = []
    for name, make in sizes.items():
        against = partial(Contender, against=f"one core, {name}")
        contenders += [
            Contender(f"one core, {name}", partial(make, device="cpu")),
            against("a GPU", partial(make, device="cuda"), bar=BAR if "256" in name else None),
            against("a GPU, nothing recorded", partial(make, device="cuda", recorded=False)),
        ]
    title = "TD3's environment steps a second by the clock, with an update in each"
    return Benchmark(title, STEPS_PER_SECOND, contenders, steps=500)


def prepare(setting: Setting, device: str, recorded: bool = True, **changes: int) -> Run:
    """A training through its warm-up. Raises `Missing` without a GPU or without its environment."""
    if not torch.cuda.is_available():
        raise Missing("PyTorch finds no GPU on this machine")
    try:
        learn = prepare_ours(setting, device=device, learning_starts=WARM_UP, **changes)
    except ValueError as error:
        raise Missing(str(error)) from error

    def run(steps: int) -> Turn:
        started = time.perf_counter()
        with nullcontext() if recorded else plain_updates():
            learn(steps)
        torch.cuda.synchronize()  # what was started has to be finished, too
        return (time.perf_counter() - started) / steps, None

    return run

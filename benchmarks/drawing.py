"""What live curves cost: whole trainings in a notebook's kernel, without them and with them."""

from collections.abc import Sequence
from functools import partial

from jupyter_client.manager import start_new_kernel

from benchmarks.measure import Bar, Benchmark, Contender, Unit
from benchmarks.workers import Turn

TRAININGS = {  # (algorithm, environment) -> the curves that its lesson draws
    ("td3", "Pendulum-v1"): ("return", "critic_loss", "actor_loss"),
    ("ppo", "CartPole-v1"): ("return", "approx_kl", "clip_fraction"),
}
TRAINING = """
import time, torch
from helpers.show.plotting import LiveCurves
from helpers.training.settings import get_setting
torch.set_num_threads(1)
setting = get_setting({algorithm!r}, {env_id!r})
agent, began = setting.make(seed=0), time.process_time()
agent.learn(setting.steps * {thousandths} // 1000, {curves})
print(time.process_time() - began)
"""
RATIO = Unit("x", lambda ratio: ratio)


def drawing() -> Benchmark:
    """A lesson's training with its live curves, and the same one without: at most 5 % more."""
    contenders = [
        Contender(
            f"{algorithm} on {env_id}, {len(keys)} curves",
            partial(Notebook, algorithm, env_id, keys),
            bar=Bar("<=", 1.05),
        )
        for (algorithm, env_id), keys in TRAININGS.items()
    ]
    title = "a lesson's training with its curves, against the same without them; in thousandths"
    return Benchmark(title, RATIO, contenders, steps=1000, rounds=15)


class Notebook:
    """A kernel on this process's core; a turn is how many times as long it computes with curves.

    Both trainings run in the same kernel, in either order by turns: two kernels that do the same
    differ by more than 5 %.
    """

    def __init__(self, algorithm: str, env_id: str, keys: Sequence[str]) -> None:
        quiet = {"extra_arguments": ["--log-level=ERROR"]}
        self.manager, self.client = start_new_kernel(**quiet)  # ends by itself with this process
        self.training = partial(TRAINING.format, algorithm=algorithm, env_id=env_id)
        self.order = ["None", f"LiveCurves(keys={tuple(keys)})"]

    def __call__(self, thousandths: int) -> Turn:
        took = {curves: self.seconds(curves, thousandths) for curves in self.order}
        self.order.reverse()
        without = took.pop("None")
        return took.popitem()[1] / without, None

    def seconds(self, curves: str, thousandths: int) -> float:
        said: list[str] = []

        def hear(message: dict) -> None:
            said.append(message["content"].get("text", ""))

        code = self.training(curves=curves, thousandths=thousandths)
        reply = self.client.execute_interactive(code, output_hook=hear)["content"]
        if reply["status"] != "ok":
            raise RuntimeError(f"{reply['ename']}: {reply['evalue']}")
        return float("".join(said).split()[-1])

"""What watches a plain loop: it ends at a press of the stop button, and the picture stays."""

from __future__ import annotations

import signal
import threading

import pytest
from jupyter_client.manager import start_new_kernel

from helpers.show.watching import live

pytest_plugins = ("tests.fakes",)


def train(watch, steps=range(1, 101), fail_at=None):
    """A loop as algorithms have it; an episode takes ten steps. Returns the steps it took."""
    history, taken = {}, []
    for step in watch(steps, "agent", history):
        taken.append(step)
        if step == fail_at:
            raise ValueError("broken")
        if step % 10 == 0:
            history.setdefault("return", []).append((step, -float(step)))
    return taken


def last_words(page):
    return page.of("text/html")[0][-1]["text/plain"], page.of("image/png")[0][-1]["text/plain"]


def press_at(*steps):
    return lambda step, _: step in steps and signal.raise_signal(signal.SIGINT)


def test_it_shows_the_whole_training(page):
    assert train(live(bar=-50)) == [*range(1, 101)]
    bar, picture = last_words(page)
    assert bar.startswith("100 % · 100 / 100 steps")
    assert "after 100 steps: average return -55.0" in picture


def test_pressed_once_the_loop_ends_and_the_last_picture_stays(page, heard):
    assert train(live(then=press_at(42))) == [*range(1, 43)]
    bar, picture = last_words(page)
    assert bar.startswith("stopped at 42 %; the agent keeps what it has learned · 42 / 100 steps")
    assert "after 42 steps: average return -25.0" in picture
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_pressed_twice_within_a_step_it_interrupts(page, heard):
    with pytest.raises(KeyboardInterrupt):
        train(live(then=lambda *_: [press_at(1)(1, None) for _ in range(2)]))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_the_loop_leaves_the_picture(page, heard):
    with pytest.raises(ValueError, match="broken"):
        train(live(), fail_at=42)
    assert "after 41 steps" in last_words(page)[1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("steps", "at"), [(range(1, 101), [30, 60, 90]), (range(0, 100, 8), [32, 64, 96])]
)
def test_something_is_done_every_so_many_steps(steps, at):
    asked = []
    train(live(every=30 if steps.step == 1 else 32, then=lambda *told: asked.append(told)), steps)
    assert asked == [(step, "agent") for step in at]


def test_elsewhere_than_in_the_main_thread_it_only_watches():
    taken = []
    thread = threading.Thread(target=lambda: taken.extend(train(live())))
    thread.start()
    thread.join()
    assert len(taken) == 100


def test_an_interrupted_cell_gives_back_its_agent():
    """In a kernel: the stop button of the front end, in the middle of a training."""
    manager, client = start_new_kernel()
    try:
        sent = client.execute(
            "import dataclasses\n"
            "from helpers.algorithms import ddpg\n"
            "from helpers.show.watching import live\n"
            "long = dataclasses.replace(ddpg.PENDULUM, steps=10**9, learning_starts=100)\n"
            "watch = live(every=300, then=lambda *_: print('going'))\n"
            "agent = ddpg.train(long, watch=watch)\n"
        )
        while client.get_iopub_msg(timeout=120)["msg_type"] != "stream":
            pass
        manager.interrupt_kernel()
        while (reply := client.get_shell_msg(timeout=60))["parent_header"]["msg_id"] != sent:
            pass
        assert reply["content"]["status"] == "ok"
        asked = {"episodes": "len(agent.history['return'])"}
        reply = client.execute("pass", user_expressions=asked, reply=True, timeout=60)
        assert int(reply["content"]["user_expressions"]["episodes"]["data"]["text/plain"]) >= 1
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)

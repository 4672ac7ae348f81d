"""The checks: answers that are not there or never end, the course's own, and autograders."""

import signal
import sys
import time

import numpy as np
import pytest
from test_checks import EXERCISES
from torch import nn

from helpers.algorithms.reinforce import discounted_returns
from helpers.checks import CheckFailed, begin, check, checker, grade
from helpers.checks.display import LOOKS, as_html, as_text
from helpers.checks.running import Alarm

# --- Not started, stuck, interrupted --------------------------------------------------------------


def test_only_the_students_own_line_means_not_started():
    class NoForward(nn.Module):  # torch raises NotImplementedError for it
        def __init__(self, *sizes):
            super().__init__()

    result = grade("2.2", NoForward)
    assert result.status == "failed"
    assert result.diagnosis == "unusable output"


def test_stopping_an_endless_loop_gives_a_verdict():
    def endless(rewards, gamma):
        raise KeyboardInterrupt

    assert check("0.1", endless) is discounted_returns
    assert grade("0.1", endless).diagnosis == "interrupted"


@pytest.mark.parametrize("handler", [signal.default_int_handler, signal.SIG_IGN])
def test_an_endless_loop_is_stopped_and_named(monkeypatch, handler):
    """Also where interrupts are ignored, as in a process that was started in the background."""
    monkeypatch.setattr("helpers.checks.core.PATIENCE", 0.2)
    before = signal.signal(signal.SIGINT, handler)

    def redrawn(target_actor, next_obs, target_noise, noise_clip, rng):
        noise = np.ones(1)
        while (abs(noise) > noise_clip).any():  # for ever where noise_clip is 0
            noise = -noise
        return target_actor(next_obs)

    try:
        result = grade("3.2", redrawn)
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.status, result.diagnosis) == ("failed", "endless")
    assert "still running after 0.2 seconds" in result.message


def test_the_alarm_is_off_after_the_check():
    with Alarm() as alarm:
        with alarm.set(0.5):
            pass
        time.sleep(0.6)
    assert not alarm.rang


def test_check_shows_the_verdict_and_gives_what_later_cells_use(capsys):
    def stub(rewards, gamma):
        raise NotImplementedError("exercise 0.1")

    assert check("0.1", stub) is discounted_returns
    out = capsys.readouterr().out
    assert "not started yet" in out
    assert "Later cells use the course's version until yours passes." in out

    def mine(rewards, gamma):
        return discounted_returns(rewards, gamma)

    assert check("0.1", mine) is mine
    assert "Right on all" in capsys.readouterr().out


def test_the_course_s_version_is_never_called_passed(capsys):
    held = check("0.1", EXERCISES[0].mistakes[0].function)
    capsys.readouterr()
    assert check("0.1", held) is held
    result = grade("0.1", held)
    assert result.status == "not yours"
    for shown in (capsys.readouterr().out, as_text(result), as_html(result)):
        assert "no new answer" in shown
        assert "passed" not in shown
        assert LOOKS["passed"][2] not in shown


def test_an_answer_whose_cell_never_ran_gets_a_card(capsys):
    names = {"mine": mine}
    begin("00_start_here", names)
    with pytest.raises(NotImplementedError, match="run the cell of exercise"):
        names["discounted_returns"]([1.0], 0.9)
    assert check("0.1", names["discounted_returns"]) is discounted_returns
    out = capsys.readouterr().out
    assert "no answer yet" in out
    assert "stopped with an error" in out
    names = {"discounted_returns": mine, "bellman_targets": mine}
    begin("00_start_here", names)
    assert set(names.values()) == {mine}


def test_an_unknown_exercise_is_one_clear_sentence():
    with pytest.raises(ValueError, match=r"no exercise '9\.99'; the course has 0\.1"):
        check("9.99", discounted_returns)


def mine(rewards, gamma):
    """A right answer with a line on stderr, which nbgrader takes for a failure."""
    print("careful", file=sys.stderr)
    return discounted_returns(rewards, gamma)


def test_an_autograder_sees_no_stderr(capsys):
    assert checker("0.1", {})("0.1", mine) is mine
    assert capsys.readouterr() == ("", "")


def test_an_autograder_takes_no_version_of_the_course_and_gives_it_to_later_cells():
    names = {"discounted_returns": discounted_returns}
    with pytest.raises(CheckFailed, match="earns no points"):
        checker("0.1", names)("0.1", discounted_returns)
    names = {}
    with pytest.raises(CheckFailed) as failure:
        checker("0.1", names)("0.1", EXERCISES[0].mistakes[0].function)
    assert names == {"discounted_returns": discounted_returns}
    assert failure.value._render_traceback_() == str(failure.value).splitlines()


def test_so_they_do_where_the_answer_s_cell_failed():
    names = {}
    check_it = checker("0.1", names)
    for given in (names["discounted_returns"], None):  # as nbgrader has it, and as otter-grader
        with pytest.raises(CheckFailed, match="stopped with an error"):
            check_it("0.1", given)
    mine_stays = {"discounted_returns": mine}
    checker("0.1", mine_stays)
    assert mine_stays == {"discounted_returns": mine}


def test_an_autograder_gets_an_error(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    wrong = EXERCISES[0].mistakes[0]
    with pytest.raises(CheckFailed, match="without discounting") as failure:
        check("0.1", wrong.function)
    assert isinstance(failure.value, AssertionError)
    assert check("0.1", mine) is mine
    monkeypatch.setenv("NBGRADER_EXECUTION", "")
    capsys.readouterr()
    assert check("0.1", wrong.function) is discounted_returns
    assert wrong.name in capsys.readouterr().out

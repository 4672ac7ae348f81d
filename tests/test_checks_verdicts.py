"""The checks: what is shown, what later cells get, and that nothing else is disturbed."""

import re
from dataclasses import replace

import numpy as np
import pytest
from test_checks import (
    DOUBLE,
    EXERCISES,
    LOSS,
    actor_loss,
    double,
    double_cases,
    exercise_of,
    loss_cases,
    written,
    wrong_version,
)

from helpers.checks import check, core
from helpers.checks.compare import ANOTHER
from helpers.checks.core import judge
from helpers.checks.display import as_html, as_text
from helpers.checks.exercise import Property
from helpers.checks.running import run
from helpers.exercises.properties import no_mutation

# --- What does not, and what it is called ---------------------------------------------------------


def mutates(x):
    x *= 2
    return x


@pytest.mark.parametrize(
    ("wrong", "diagnosis", "says"),
    [
        ("2 * x", "no return", "did you forget `return`"),
        ("if len(x) == 3:\n    return 2 * x", "no return", "On some inputs"),
        ("...\nreturn x", "unfinished", "`...`"),
        (lambda x: ..., "unfinished", "`...`"),
        ("def double(x, y):\n    return 2 * x", "other arguments", "`(x)`"),
        ("return x[10]", "error", "at `return x[10]` (line "),
        (lambda x: 2 * x / 0 * 0, "nan", "NaN"),
        (lambda x: (2 * x)[:, None], "shape", "instead of `(3,)`"),
        (lambda x: (2 * x).squeeze(), "shape", "`squeeze()`"),
        (lambda x: 2 * x[..., None] + 0 * x, "shape", "broadcast"),
        (lambda x: -2 * x, "sign", "right except for its sign"),
        (lambda x: 6 * x, "factor", "3 times"),
        (lambda x: np.zeros_like(x), "all zeros", "zero everywhere"),
        (lambda x: (2 * x).astype(int), "whole numbers", "`int64`"),
        (lambda x: (i for i in x), "other type", "`generator`. Its values are not computed yet"),
        (lambda x: x.sum, "other type", "`builtin_function_or_method`. Brackets are missing"),
        (lambda x: {"x": x}, "other type", "a dict with `x`"),
        (lambda x: (x, 2 * x), "several outputs", "2 parts, each of shape `(3,)`"),
        (lambda x: x + 1, None, "2 of 3 cases"),
        (lambda x: exit(), "error", "SystemExit"),  # which does not end the notebook
        (7, "not callable", "`int`"),
        (None, "not callable", "`NoneType`"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_mistakes_of_any_function(wrong, diagnosis, says):
    exercise = DOUBLE
    if diagnosis == "whole numbers":
        exercise = exercise_of(double, lambda rng: [(np.array([0.8, 1.3]),), (np.array([2.4]),)])
    result = judge(exercise, written(double, wrong) if isinstance(wrong, str) else wrong)
    assert not result.passed
    assert result.diagnosis == diagnosis, str(result)
    assert says in result.message
    assert result.version is double


def test_a_factor_holds_on_each_case_and_where_a_part_is_right():
    """Beside a case of thousands, what differs in one of small numbers would look like rounding."""
    exercise = exercise_of(double, lambda rng: [(np.array([3.0, 4.0, 5.0]),), (1e6 * np.ones(3),)])
    assert judge(exercise, lambda x: 3 * x + 0.3 * np.arange(3)).diagnosis is None
    assert "1.5 times what it should be, on every case." in judge(exercise, lambda x: 3 * x).message

    def observe(function, x):
        shown = {"loss": function(x)} if len(x) > 1 else {}
        return shown | {"size": len(x)}

    exercise = exercise_of(double, double_cases, observe=observe)
    assert "times what it should be." in judge(exercise, lambda x: 3 * x).message
    assert judge(exercise, lambda x: 3 * x if len(x) > 3 else 2 * x).diagnosis is None


def test_numbers_next_to_zero_are_not_called_zero():
    exercise = exercise_of(double, lambda rng: [(np.array([1.0, 2.0]),), (np.array([3.0]),)])
    assert judge(exercise, lambda x: 2 * x / (1e8 + x)).diagnosis != "all zeros"


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ("actions", "The actions differ from the expected ones"),
        ("layers of the critic", "The layers of the critic differ from the expected ones"),
        ("loss", "The loss differs from the expected one"),
        ("list of things", "The list of things differs from"),
    ],
)
def test_sentences_agree_in_number(part, says):
    exercise = exercise_of(double, double_cases, observe=lambda function, x: {part: function(x)})
    assert says in judge(exercise, lambda x: x + 1).message


def test_what_two_calls_do_not_agree_on_is_named():
    exercise = exercise_of(
        double,
        double_cases,
        observe=lambda f, x: {"actions": ANOTHER if not np.array_equal(f(x), f(x)) else f(x)},
    )
    rng = np.random.default_rng(0)
    result = judge(exercise, lambda x: 2 * x + rng.normal())
    assert result.diagnosis == "another output at each call"
    assert "`double` returns something else" in result.message
    later = judge(exercise, lambda x: 3 * x if len(x) < 3 else 2 * x + rng.normal())
    assert later.diagnosis == "another output at each call"


def test_the_smallest_failing_case_is_shown_with_what_was_printed():
    def wrong(x):
        print("so far:", x)
        return 2 * x + (len(x) > 1)

    text = str(judge(DOUBLE, wrong))
    assert re.search(r"x +\[ 1., -2.,  3.\]   array of shape \(3,\), float64", text)
    assert re.search(r"expected +\[ 2., -4.,  6.\]", text)
    assert re.search(r"yours +\[ 3., -3.,  7.\]", text)
    assert re.search(r"printed +so far: \[ 1. -2.  3.\]", text)


def test_printing_is_not_shown_and_does_not_fill_the_memory(capsys):
    def chatty(x):
        for _ in range(1000):
            print("again and again")
        return 2 * x

    result = judge(DOUBLE, chatty)
    assert result.passed
    assert capsys.readouterr().out == ""
    assert max(map(len, run(DOUBLE, chatty).printed)) < 1000


def test_a_gradient_that_should_not_flow_is_named():
    assert judge(LOSS, lambda lp, adv: (lp * adv.detach()).mean().neg()).passed
    assert judge(LOSS, LOSS.mistakes[0].function).diagnosis == "kept"

    def half(lp, adv):
        return -(lp * (adv / 2 + adv.detach() / 2)).mean()

    result = judge(LOSS, half)
    assert result.diagnosis is None
    assert "gradient to the advantages should be none, but yours is" in result.message

    cut = judge(LOSS, lambda lp, adv: -(lp.detach() * adv.detach()).mean())
    assert cut.diagnosis == "no gradient"
    item = judge(LOSS, lambda lp, adv: -(lp * adv.detach()).mean().item())
    assert item.diagnosis == "no gradient"


def test_none_where_the_check_needs_a_tensor_is_a_forgotten_return():
    backward = exercise_of(
        actor_loss, loss_cases, observe=lambda f, lp, adv: f(lp, adv).backward() or lp.grad
    )
    assert judge(backward, lambda lp, adv: None).diagnosis == "no return"
    assert judge(LOSS, lambda lp, adv: None).diagnosis == "no return"
    assert judge(backward, lambda lp, adv: 3.0).diagnosis == "unusable output"


NO_NUMBERS = Property("empty input", lambda f, rng: len(f(np.zeros(0))) == 0, "Allow no numbers.")
CAREFUL = [Property(name, test, "Copy.") for name, test in no_mutation(double_cases).items()]


def test_properties_show_what_values_cannot():
    careful = exercise_of(double, double_cases, properties=CAREFUL)
    assert judge(careful, lambda x: 2 * x).passed
    result = judge(careful, mutates)
    assert result.diagnosis == "changes its inputs"
    assert result.report is None
    raises = exercise_of(double, double_cases, properties=[NO_NUMBERS])
    result = judge(raises, lambda x: x[0] * 0 + 2 * x)
    assert result.diagnosis == "empty input"
    assert "It stopped with `IndexError" in result.message

    in_place = wrong_version("in place", mutates, "Copy first.")
    known = exercise_of(double, double_cases, properties=CAREFUL, mistakes=[in_place])
    assert judge(known, mutates).diagnosis == "in place"


def test_a_misconception_is_known_by_its_value_even_where_a_property_broke_as_well():
    adds = wrong_version("adds", lambda x: x + 1, "Multiply.")
    exercise = exercise_of(double, double_cases, properties=CAREFUL, mistakes=[adds])
    result = judge(exercise, written(double, "x += 1\nreturn x"))
    assert result.diagnosis == "adds"
    assert "Copy." in result.message

    exercise = replace(exercise, properties=[NO_NUMBERS])
    stopped = judge(exercise, lambda x: x + 1 + 0 * x[0])  # by an error, which shows nothing
    assert stopped.diagnosis == "adds"
    assert "Allow" not in stopped.message


def test_a_misconception_that_raises_is_recognised_by_its_error():
    def breaks(x):
        return 2 * x if x.ndim == 1 else x[0, 5]

    exercise = exercise_of(
        double, double_cases, mistakes=[wrong_version("one axis only", breaks, "Any shape.")]
    )
    # The index in its text may be another one.
    alike = judge(exercise, lambda x: x + x if x.ndim < 2 else x[1, 7])
    assert alike.diagnosis == "one axis only"
    # An error of the same type that says something else is another mistake,
    assert judge(exercise, lambda x: 2 * x if x.ndim == 1 else [][0]).diagnosis == "error"

    def breaks_and_is_wrong(x):
        return 3 * x if x.ndim == 1 else x[0, 5]

    exercise = exercise_of(
        double, double_cases, mistakes=[wrong_version("thrice", breaks_and_is_wrong, "Two.")]
    )
    # unless a value is wrong in the same way.
    assert judge(exercise, lambda x: 3 * x if x.ndim == 1 else [][0]).diagnosis == "thrice"


# --- The verdict ----------------------------------------------------------------------------------


def test_html_is_escaped():
    def wrong(x):
        print("<script>alert(1)</script>")
        raise ValueError("<b>bold</b>")

    html = as_html(judge(DOUBLE, wrong))
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;b&gt;bold" in html


def test_the_card_has_html_and_text(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(core, "in_kernel", lambda: True)
    monkeypatch.setattr(IPython.display, "display", shown.append)
    check("0.1", EXERCISES[0].mistakes[0].function)
    bundle = shown[0]._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    html = bundle["text/html"]
    assert html.count("<div") == html.count("</div>")
    assert "<details" in html
    assert "<style" not in html
    assert not re.search(r"[; \"]color: (black|white|#)", html)
    assert bundle["text/plain"] == as_text(shown[0])


def test_squeeze_is_named_only_where_an_axis_of_length_1_is_gone():
    exercise = exercise_of(double, lambda rng: [(np.ones((2, 3)),), (np.ones((2, 3, 4)),)])
    result = judge(exercise, lambda x: (2 * x).reshape(-1, x.shape[-1]))
    assert "the shape is `(6, 4)` instead of `(2, 3, 4)`" in result.message
    assert "squeeze" not in result.message

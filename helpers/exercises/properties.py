"""What values cannot show: tests of properties that several exercises share.

Each function gives tests by their names, for an exercise's `properties`. `ask(function, *args)`
calls somebody's function with a case's arguments; the default hands them over as they are.
"""

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from helpers.checks.compare import differences, snapshot
from helpers.checks.exercise import Case, Test, call
from helpers.exercises.observing import gradient

Cases = Callable[[np.random.Generator], Iterable[Case]]
Tests = dict[str, Test]


def on_every_case(cases: Cases, holds: Callable[[Callable, Case], bool]) -> Test:
    """The test of a property that `holds(function, case)`, on copies of the cases."""
    return lambda function, rng: all(holds(function, deepcopy(case)) for case in cases(rng))


def no_mutation(cases: Cases, ask: Callable[..., Any] = call) -> Tests:
    """A function leaves its inputs as they were. Tensors are clones: a leaf would stop a change."""

    def leaves_inputs_alone(function: Callable, case: Case) -> bool:
        args = tuple(x.clone() if isinstance(x, torch.Tensor) else x for x in case.args)
        before = snapshot(args)
        ask(function, *args)
        return not differences(before, snapshot(args), rtol=0, atol=0)

    return {"changes its inputs": on_every_case(cases, leaves_inputs_alone)}


def keeps_decimals(cases: Cases) -> Tests:
    """Rewards, the first argument, that are whole numbers are treated as the same in floats.

    A property and not a case: `np.zeros_like(rewards)` may stand beside any other mistake.
    """

    def holds(function: Callable, case: Case) -> bool:
        def given(kind: type) -> Any:
            rewards, *rest = deepcopy(case.args)
            return snapshot(function(np.round(rewards).astype(kind), *rest))

        return not differences(given(float), given(int))

    return {"whole numbers": on_every_case(cases, holds)}


def draws_from(draw: Callable[[Callable, int], Any]) -> Test:
    """The same seed gives the same `draw(function, seed)`, a few times over."""
    return lambda function, rng: all(draw(function, n) == draw(function, n) for n in range(5))


def drawn_from(draw: Callable[[Callable, int], Any]) -> Tests:
    """What `draw(function, seed)` gives follows from the seed, and from nothing else."""
    return {
        "does not draw from rng": draws_from(draw),
        "the same from every seed": lambda function, rng: draw(function, 1) != draw(function, 2),
    }


# --- Targets --------------------------------------------------------------------------------------


def is_a_target(cases: Cases) -> Tests:
    """What it gives is a tensor of which a loss can be made, and carries no gradient."""

    def can_be_learned_from(function: Callable, case: Case) -> bool:
        """A tensor of `inference_mode` looks right, and stops the loss that it is used in."""
        target = function(*case.args)
        q = torch.zeros_like(target.clone(), requires_grad=True)
        return gradient(F.mse_loss(q, target.detach()), q) is not None

    def carries_no_gradient(function: Callable, case: Case) -> bool:
        return not function(*case.args).requires_grad

    def leaves_gradients_on(function: Callable, case: Case) -> bool:
        function(*case.args)
        return torch.is_grad_enabled()

    return gives_tensors(cases) | {
        "gradients left off": on_every_case(cases, leaves_gradients_on),
        "useless for a loss": on_every_case(cases, can_be_learned_from),
        "gradient in the target": on_every_case(cases, carries_no_gradient),
    }


# --- Losses ---------------------------------------------------------------------------------------


def spares(name: str, cases: Cases, ask: Callable[..., Any] = call, place: int = -1) -> Tests:
    """No gradient flows into that argument. `ask(function, *args)` gives the loss."""

    def holds(function: Callable, case: Case) -> bool:
        flowed = gradient(ask(function, *case.args), case.args[place])
        return flowed is None or not flowed.any()

    return {f"gradient into the {name}": on_every_case(cases, holds)}


def is_a_loss(cases: Cases) -> Tests:
    """It is a tensor, and networks and inputs are as they were before."""
    return freezes_nothing(cases) | gives_tensors(cases) | no_mutation(cases)


def gives_tensors(cases: Cases, ask: Callable[..., Any] = call) -> Tests:
    """It is a tensor, and not the number in it."""

    def is_a_tensor(function: Callable, case: Case) -> bool:
        return isinstance(ask(function, *case.args), torch.Tensor)

    return {"no tensor": on_every_case(cases, is_a_tensor)}


def weights(case: Case) -> list[nn.Parameter]:
    """Those of the networks among the case's arguments."""
    networks = [entry for entry in case.args if isinstance(entry, nn.Module)]
    return [parameter for network in networks for parameter in network.parameters()]


def freezes_nothing(cases: Cases) -> Tests:
    """What could be trained before, can be trained after."""

    def leaves_networks_alone(function: Callable, case: Case) -> bool:
        function(*case.args)
        return all(parameter.requires_grad for parameter in weights(case))

    return {"freezes a network": on_every_case(cases, leaves_networks_alone)}


def leaves_no_gradients(cases: Cases) -> Tests:
    """A loss is returned without calling `backward()` on it."""

    def holds(function: Callable, case: Case) -> bool:
        function(*case.args)
        return all(parameter.grad is None for parameter in weights(case))

    return {"gradients left in a network": on_every_case(cases, holds)}


def leaves_no_gradient_in_the_first(cases: Cases, ask: Callable[..., Any] = call) -> Test:
    """The same of a function whose first argument, a tensor, collects a gradient."""

    def holds(function: Callable, case: Case) -> bool:
        ask(function, *case.args)
        return case.args[0].grad is None

    return on_every_case(cases, holds)


def leaves_gradients_alone(cases: Cases) -> Tests:
    """Gradients which weights have already are still there afterwards."""

    def holds(function: Callable, case: Case) -> bool:
        for parameter in weights(case):
            parameter.grad = torch.ones_like(parameter)
        function(*case.args)
        return all(p.grad is not None and bool((p.grad == 1).all()) for p in weights(case))

    return {"changes stored gradients": on_every_case(cases, holds)}

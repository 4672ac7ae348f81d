"""torch's Adam without the bookkeeping around a step."""

from collections.abc import Iterable

import torch
from torch.optim.adam import adam


class LeanAdam(torch.optim.Adam):
    """`torch.optim.Adam` as Kingma & Ba 2015 set it, for small networks on a CPU.

    Same numbers, same state (`state_dict` fits torch's own class). At every step torch's class
    collects its lists of tensors anew and reports to the profiler; for a few thousand weights that
    takes longer than the arithmetic. Without it a whole DDPG update takes 10 % less time.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], learning_rate: float) -> None:
        super().__init__(parameters, learning_rate, fused=True)
        self._moments: list[list[torch.Tensor]] | None = None

    @torch.no_grad()
    def step(self) -> None:
        (group,) = self.param_groups
        parameters = group["params"]
        if self._moments is None:  # the first step is torch's own: it makes the state
            super().step()
            names = ("exp_avg", "exp_avg_sq", "step")
            self._moments = [[self.state[p][name] for p in parameters] for name in names]
            return
        means, squares, steps = self._moments
        gradients = [parameter.grad for parameter in parameters]
        beta1, beta2 = group["betas"]
        adam(
            parameters, gradients, means, squares, [], steps, fused=True, amsgrad=False,
            beta1=beta1, beta2=beta2, lr=group["lr"], eps=group["eps"], weight_decay=0.0,
            maximize=False,
        )  # fmt: skip

    step.hooked = True  # so that torch does not wrap it in its profiler's hook

    def load_state_dict(self, state_dict: dict) -> None:
        super().load_state_dict(state_dict)
        self._moments = None  # these were the old tensors

"""A device that is not there: tensors that compute on the CPU and say that they are somewhere else.

What would not run on a GPU does not run here either: operations on tensors of both devices, and
numpy looking at one that was not brought back. What does run gives the CPU's numbers, bit for bit.
"""

import sys
from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

ELSEWHERE = torch.device("meta")  # the one device that torch needs no machine for
aten = torch.ops.aten
MOVING = (aten._to_copy.default, aten.copy_.default)
INDEXING = (aten.index.Tensor,)  # places may be on the CPU
FUSED = (aten._fused_adam_.default, aten._fused_adam_.tensor_lr)  # one kernel: all is on its device


class There(torch.Tensor):
    """A tensor elsewhere, whose numbers are `here`."""

    @staticmethod
    def __new__(cls, here):
        layout = {"strides": here.stride(), "storage_offset": here.storage_offset()}
        there = torch.Tensor._make_wrapper_subclass(
            cls, here.shape, dtype=here.dtype, device=ELSEWHERE, **layout
        )
        there.here = here
        return there

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        with Elsewhere():
            return function(*args, **(kwargs or {}))


class Elsewhere(TorchDispatchMode):
    """Within this, `ELSEWHERE` is a device like any other."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        there = any(isinstance(each, There) for each in tensors)
        if there and function not in MOVING + INDEXING:
            # As on a GPU, a single number may come from the CPU.
            strays = [each for each in tensors if each.dim() or function in FUSED]
            strays = [each for each in strays if not isinstance(each, There)]
            assert not strays, f"{function} got tensors from two devices"
        if (asked := kwargs.get("device")) is not None:
            there, kwargs["device"] = asked == ELSEWHERE, torch.device("cpu")
        args_here, kwargs = tree_map(_here, (args, kwargs))
        result = function(*args_here, **kwargs)
        if function._schema.is_mutable:
            return args[0] if args_here and result is args_here[0] else result
        return tree_map(_there, result) if there else result


@contextmanager
def put_elsewhere(monkeypatch):
    """Within this the device is there."""
    fused = "_get_fused_kernels_supported_devices"  # torch has a list of devices by name
    monkeypatch.setattr(sys.modules["torch.optim.optimizer"], fused, lambda: ["cpu", "meta"])
    with Elsewhere():
        yield


def _here(value):
    return value.here if isinstance(value, There) else value


def _there(value):
    return There(value) if isinstance(value, torch.Tensor) else value

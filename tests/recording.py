"""CUDA graphs on the device that is not there: operations are noted, and carried out when replayed.

As on a GPU: while recording nothing is computed, what is noted works on the same places in memory
at each replay, numbers of the CPU are noted as they are then, and nothing may be moved between the
devices or looked at.
"""

from contextlib import contextmanager, nullcontext

import torch
from elsewhere import ELSEWHERE, Elsewhere, There
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten
FORBIDDEN = "operation not permitted when stream is capturing"


class Graph:
    """Stands in for `torch.cuda.CUDAGraph`."""

    def __init__(self):
        self.notes, self.replays = [], 0

    def replay(self):
        self.replays += 1
        with torch.no_grad(), Elsewhere():
            for function, args, kwargs, places in self.notes:
                result = function(*args, **kwargs)
                if places:  # elsewhere than in memory that was there before
                    new_ones = [each for each in tree_leaves(result) if isinstance(each, There)]
                    for place, new in zip(places, new_ones, strict=True):
                        place.here.copy_(new.here)


class Noting(TorchDispatchMode):
    """Within this, operations on the device are noted in `graph` and not carried out."""

    def __init__(self, graph):
        super().__init__()
        self.graph = graph

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        there = [isinstance(each, There) for each in tensors]
        asked = kwargs.get("device")
        if not any(there) and asked != ELSEWHERE:
            return function(*args, **kwargs)
        if function is aten._local_scalar_dense.default or asked == torch.device("cpu"):
            raise RuntimeError(FORBIDDEN)
        if asked == ELSEWHERE and not all(there):
            raise RuntimeError(FORBIDDEN)
        args, kwargs = tree_map(_as_it_is, (args, kwargs))
        if function._schema.is_mutable:
            self.graph.notes.append((function, args, kwargs, []))
            return args[0] if function._schema.returns else None
        with Elsewhere():
            result = function(*args, **kwargs)
        places = [each for each in tree_leaves(result) if isinstance(each, There)]
        if any(_shares(place, each) for place in places for each in tensors):
            return result  # a view: the same place in memory
        for place in places:
            place.here.fill_(torch.nan if place.is_floating_point() else 1)
        self.graph.notes.append((function, args, kwargs, places))
        return result


def _as_it_is(value):
    """A number of the CPU is noted as it is now."""
    here = isinstance(value, torch.Tensor) and not isinstance(value, There)
    return value.clone() if here else value


def _shares(place, tensor):
    if not isinstance(tensor, There):
        return False
    return place.here.untyped_storage().data_ptr() == tensor.here.untyped_storage().data_ptr()


@contextmanager
def recording(graph, stream=None):
    """Stands in for `torch.cuda.graph`."""
    with Noting(graph):
        yield


class Stream:
    """Stands in for `torch.cuda.Stream`: on this device everything is done in order."""

    def wait_stream(self, other):
        pass


def stand_in(monkeypatch):
    """Let the device that is not there record graphs as a GPU does. Returns all that are made."""
    graphs = []

    def new():
        graphs.append(Graph())
        return graphs[-1]

    monkeypatch.setattr(torch.cuda, "CUDAGraph", new)
    monkeypatch.setattr(torch.cuda, "graph", recording)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    monkeypatch.setattr(torch.cuda, "device", nullcontext)
    return graphs

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
        noted = tree_map(_as_it_is, (args, kwargs))
        if function._schema.is_mutable:
            self.graph.notes.append((function, *noted, []))
            return args[0] if function._schema.returns else None
        with Elsewhere():
            result = function(*args, **kwargs)
        places = [each for each in tree_leaves(result) if isinstance(each, There)]
        if any(_shares(place, each) for place in places for each in tensors):
            return result  # a view: the same place in memory
        for place in places:
            place.here.fill_(torch.nan if place.is_floating_point() else 1)
        self.graph.notes.append((function, *noted, tree_map(_as_it_is, places)))
        return result


def _as_it_is(value):
    """Places are noted, not what autograd knows of them; a number of the CPU as it is now."""
    if isinstance(value, There):
        return There(value.here)
    return value.clone() if isinstance(value, torch.Tensor) else value


def _shares(place, tensor):
    if not isinstance(tensor, There):
        return False
    return place.here.untyped_storage().data_ptr() == tensor.here.untyped_storage().data_ptr()


class Stream:
    """Stands in for `torch.cuda.Stream`: there are a few, which come again and again."""

    current, made, there_are = 0, 0, 32

    def __init__(self, device, number=None):
        assert device == ELSEWHERE
        if number is None:
            Stream.made, number = Stream.made + 1, 1 + Stream.made % Stream.there_are
        self.number, self.awaited = number, []

    def __eq__(self, other):
        return self.number == other.number

    def __hash__(self):
        return self.number

    def wait_stream(self, other):
        """On this device everything is done in order."""
        self.awaited.append(other.number)


@contextmanager
def stream(stream):
    """Stands in for `torch.cuda.stream`."""
    before, Stream.current = Stream.current, stream.number
    try:
        yield
    finally:
        Stream.current = before


@contextmanager
def recording(graph, stream, capture_error_mode):
    """Stands in for `torch.cuda.graph`, which leaves its stream in force after an error, too."""
    before, Stream.current = Stream.current, stream.number
    with Noting(graph):
        yield
    Stream.current = before


def stand_in(monkeypatch):
    """Let the device that is not there record graphs as a GPU does. Returns all that are made."""
    graphs, main = [], Stream(ELSEWHERE, 0)

    def new():
        graphs.append(Graph())
        return graphs[-1]

    monkeypatch.setattr(Stream, "current", 0)
    monkeypatch.setattr(Stream, "main", main, raising=False)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", new)
    monkeypatch.setattr(torch.cuda, "graph", recording)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: main)
    monkeypatch.setattr(torch.cuda, "stream", stream)
    monkeypatch.setattr(torch.cuda, "device", nullcontext)
    return graphs

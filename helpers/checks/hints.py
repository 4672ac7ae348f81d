"""What an error mostly means, where a student meets it."""

import ast
import re
from collections.abc import Callable, Iterator

import torch
from torch import nn

from helpers.checks.running import Raised
from helpers.checks.source import Source, source_of

_YES_OR_NO = (
    "Python's `min`, `max`, `if`, `while`, `and`, `or` and `not` ask for one yes or no; entry by "
    "entry go `minimum`, `maximum`, `where`, `&`, `|` and `~`."
)
_CALL = "Brackets are missing: `x.mean` is the function itself, `x.mean()` calls it."
_NONE = (
    "Something is `None`: a name that was never set to anything else, what a function without "
    "`return` gives, or what changes a thing in place (`append`, `sort`, `reverse`, `rng.shuffle`)."
)
_ONE_NUMBER = (
    "`float`, `int` and the functions of `math` take one number; for a whole tensor or array there "
    "are torch's and numpy's."
)
_NO_TENSOR = (
    "torch's functions take tensors: for a plain number there is `math`, and `x.clamp(min=0)` "
    "compares a tensor with one."
)
_HINTS = {  # what an error says -> what that mostly means here
    "modified by an inplace operation": "A loss goes through something that was changed after it "
    "was computed: weights by another update (compute each loss right before its own), or a tensor "
    "by `+=` and the like.",
    "Can't call numpy() on Tensor that requires grad": "Where a gradient has to flow back, compute "
    "with torch's functions; `.detach()` would cut it.",
    "Boolean value of Tensor with more than one value": _YES_OR_NO,
    "truth value of an array with more than one element": _YES_OR_NO,
    "'builtin_function_or_method'": _CALL,
    "'method'": _CALL,
    "'method-wrapper'": _CALL,
    "'NoneType'": _NONE,
    "got NoneType": _NONE,
    "bitwise_xor": "A power is `**` in Python; `^` is something else.",
    "ufunc 'bitwise_xor'": "A power is `**` in Python; `^` is something else.",
    "maximum recursion depth": "The function calls itself deeper than Python allows. Was another "
    "function meant? If not, let it stop, or write a loop.",
    "return_types": "With a `dim`, torch's `min`, `max` and `median` give values and their places: "
    "take `.values`.",
    "can't multiply sequence by non-int": "Where one tensor belongs there is a list or a tuple: "
    "of what gives several things, such as torch's `max` with a `dim`, take the one you need.",
    "can only concatenate tuple": "What stands before the `+` is a tuple: `np.where` and `nonzero` "
    "give one, with an array for each axis. Take the array out, `[0]`.",
    "no attribute 'read'": "`load` reads from a file; of a text in JSON `json.loads` makes a dict.",
    "has no setter": "What is computed when you ask for it cannot be replaced; an array that it "
    "gives can be written into, `x[...] = y`.",
    "used as indices must be": "An index is made of whole numbers, or of True and False; of the "
    "numbers 0.0 and 1.0 `> 0` makes a mask.",
    "cannot be interpreted as an integer": "`/` gives a float even where nothing is left over; "
    "`//` gives a whole number.",
    "is not a Module subclass": "`nn.Sequential` holds modules, such as `nn.ReLU()` with its "
    "brackets; `torch.relu` is a function.",
    "mat1 and mat2 shapes cannot be multiplied": "The first shape is what was given, the second "
    "what it was multiplied with: of a linear layer, how many numbers it takes and gives.",
    "same dtype, but got Long": "A layer calculates with floats, and whole numbers, such as "
    "actions, were given to it: were two things exchanged?",
    "unexpected keyword argument 'dim'": "What torch calls `dim` is `axis` in numpy.",
    "mean() got an unexpected keyword argument 'axis'": "numpy's functions are for arrays: of a "
    "tensor take its own, `x.mean()`.",
    "integers or slices, not str": "A name in the brackets is for a dict; the parts of a batch "
    "are attributes, as in `batch.reward`.",
    "integers or slices, not tuple": "A list or a tuple takes one whole number in its brackets; an "
    "array or a tensor takes several.",
    "can be converted to an index": "`range`, and a list in its brackets, take one whole number: "
    "for the length there is `len`, and an array or a tensor takes another one as its index.",
    "can be converted to Python scalars": _ONE_NUMBER,
    "converted to a Python scalar": _ONE_NUMBER,
    "must be Tensor, not int": _NO_TENSOR,
    "must be Tensor, not float": _NO_TENSOR,
    "must be Tensor, not list": "`torch.stack` makes a tensor of a list of tensors, `torch.tensor` "
    "of a list of numbers.",
    "must be Tensor, not numpy": "`torch.as_tensor` makes a tensor of an array.",
    "must be tuple of Tensors, not Tensor": "The tensors stand in one list: `torch.cat([a, b])`, "
    "`torch.stack([a, b])`.",
    "'list' object has no attribute": "A list has hardly any methods of a tensor's or an array's: "
    "go through its entries, or make one of them first (`torch.stack`, `np.array`).",
    "must have same number of dimensions": "What is joined needs as many axes as the rest: a "
    "number has none (`[x]` gives it one), and a row gets one more by `[None]`.",
    "zero-dimensional": "A single number has no axis along which it could be joined: `stack` makes "
    "one.",
    "Expected output to be a torch.Tensor": "A gradient is taken of a tensor, and something else "
    "stands there: what a function returns in several parts comes out in that order.",
    "no attribute 'param_groups'": "That belongs to an optimiser, and something else stands in its "
    "place: `gradient_step` takes the optimiser first, then the loss.",
}
_NAME = r"([A-Z]\w+)"
_NO_TENSOR_BUT = re.compile(rf"must be Tensor, not {_NAME}|'{_NAME}' and|and '{_NAME}'")
_HAS_NO = re.compile(rf"'{_NAME}' object has no attribute '(\w+)'")
_CALLED = re.compile(rf"\bnn\.{_NAME}\((?!\))")
_MAX_UNPACKED = re.compile(r"^[\w\s,]+=.*\b(max|min)\(")
_VALUES_ONLY = (
    "numpy's `max` and `min` give the values only; where they stand is what `argmax` and `argmin` "
    "say. (Of a tensor, with a `dim`, they give both.)"
)
_MADE_OF_A_TENSOR = ("Boolean value of Tensor", "__init__() takes", "<class 'torch.Tensor'>")


def hints(error: Raised) -> list[str]:
    """Sentences for what an error says, and for the line on which it came up."""
    if name := _module_not_called(error):
        return [
            f"`nn.{name}` is a module: it is made first and then called, as in `nn.Tanh()(x)`. "
            "`torch.nn.functional` has functions that are called at once."
        ]
    found = dict.fromkeys(hint for words, hint in _HINTS.items() if words in error.text)
    if "values to unpack" in error.text and error.source.startswith("for "):
        found["To go through two things side by side, `zip` them."] = None
    elif "values to unpack" in error.text and _MAX_UNPACKED.search(error.source):
        found[_VALUES_ONLY] = None
    return list(found)


def _module_not_called(error: Raised) -> str | None:
    """A layer, an activation or a loss of `torch.nn` that is used as if it were a function."""
    names = [name for found in _NO_TENSOR_BUT.findall(error.text) for name in found]
    names += [name for name, what in _HAS_NO.findall(error.text) if hasattr(torch.Tensor, what)]
    if any(words in error.text for words in _MADE_OF_A_TENSOR):
        names += _CALLED.findall(error.source)
    kinds = ((name, getattr(nn, name, None)) for name in names)
    return next(
        (n for n, kind in kinds if isinstance(kind, type) and issubclass(kind, nn.Module)), None
    )


# --- Where a gradient stops -----------------------------------------------------------------------

_CUTS = {
    "detach", "detach_", "item", "numpy", "tolist", "data", "no_grad", "inference_mode", "tensor",
}  # fmt: skip
_CUT = (
    "something cut its way, such as `.detach()`, `.item()`, `.numpy()`, `no_grad` or "
    "`torch.tensor(...)`, which copies numbers"
)


def what_cuts(function: Callable, reference: Callable) -> str:
    """Where no gradient gets through in somebody's code; what could be meant where none is seen.

    What the reference does, too, such as to detach a target, may be right where it stands.
    """
    source, right = source_of(function), source_of(reference)
    usual = {name for name, _ in _cuts(right.node)} if right else set()
    found = [each for each in _cuts(source.node) if each[0] not in usual] if source else []
    if source is None or not found:
        return _CUT
    if len(found) == 1:
        (name, line), *_ = found
        return f"`{name}` lets none through, in `{source.line(line)}`"
    names = list(dict.fromkeys(f"`{name}`" for name, _ in found))
    listed = ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]
    return f"{listed} let{'s' * (len(names) == 1)} none through"


def _cuts(node: ast.AST) -> Iterator[tuple[str, int]]:
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and each.attr in _CUTS:
            yield each.attr, each.end_lineno or each.lineno
        elif isinstance(each, ast.Call) and getattr(each.func, "id", "") == "float":
            yield "float", each.lineno


_COPIES = {"tensor": "torch.tensor", "item": ".item", "numpy": ".numpy", "tolist": ".tolist"}


def copies(source: Source, right: ast.AST, message: str) -> list[str]:
    """Where somebody's code goes on with a copy of the numbers, through which no gradient flows.

    For these there is no use in what is to be learned from; `.detach()` may be right for a target.
    Nothing is said where the `message` names it already.
    """
    usual = {name for name, _ in _cuts(right)} | set(_made_of_numbers(source.node))
    found = [each for each in _cuts(source.node) if each[0] in _COPIES.keys() - usual]
    if not found or any(_COPIES[name] in message for name, _ in found):
        return []
    name, line = min(found, key=lambda each: each[1])
    return [
        f"`{_COPIES[name]}` gives a copy of the numbers, which lets none through: "
        f"`{source.line(line)}`."
    ]


def _made_of_numbers(node: ast.AST) -> Iterator[str]:
    """`tensor`, where `torch.tensor` is only given numbers that stand in the code."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    for call in (each for each in calls if getattr(each.func, "attr", "") == "tensor"):
        if not any(isinstance(x, ast.Name) for arg in call.args for x in ast.walk(arg)):
            yield "tensor"

"""What an error mostly means, where a student meets it."""

import ast
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np
import torch
from torch import nn

from helpers.checks.edits import source_of_reference
from helpers.checks.running import Raised
from helpers.checks.source import Source, attributes, listed, source_of

_CALL = "Brackets are missing: `x.mean` is the function itself, `x.mean()` calls it."
_LATER = "Its values are not computed yet: `list(...)` computes them all."
_TYPES = {  # of what is returned -> what that mostly means here
    **dict.fromkeys(("method", "builtin_function_or_method"), _CALL),
    **dict.fromkeys(("generator", "map", "zip", "filter"), _LATER),
}
_WHOLE = "`/` gives a float even where there is no remainder; `//` gives a whole number."
_UNSET = r"'(\w+)'.*\n\1 *[^\w\s=]{0,2}=(?!=)"  # changed on the line on which it is missed
_HINTS = {  # a pattern in what an error says, and its line -> what that mostly means here
    "modified by an inplace operation": "A loss depends on something that was changed in place "
    "after the loss was computed: weights by another update (compute each loss right before its "
    "own), or a tensor by `+=` and the like.",
    "Can't call numpy": "Where a gradient has to flow back, compute with torch's functions; for "
    "what needs none, such as a target or a number to keep, call `.detach()` first.",
    "Boolean value of Tensor with more|truth value of an array with more": "Python's `min`, "
    "`max`, `if`, `while`, `and`, `or` and `not` need a single true or false; `minimum`, "
    "`maximum`, `where`, `&`, `|` and `~` work entry by entry.",
    "'(builtin_function_or_method|method|method-wrapper)'": _CALL,
    "NoneType": "Something is `None`: a name that was never set to anything else, or the result "
    "of a function that has no `return` or works in place (`append`, `sort`, `reverse`, "
    "`rng.shuffle`).",
    "bitwise_xor": "A power is `**` in Python; `^` is XOR.",
    "argument: 'self'": "A class stands where an object of it is needed: brackets after its name "
    "make one.",
    "logical_not.*instead|the `~` or": "`~` turns booleans round; `-` is for numbers.",
    r"operator\.invert|ufunc 'invert'": "`~` turns booleans round, and these are numbers: subtract "
    "0.0 and 1.0 from 1.",
    "bitwise_(and|or)": "`&` and `|` are for booleans, and come before comparisons: put each "
    "comparison in brackets.",
    "'int' object is not (iterable|reversible)": "`range(n)` counts from 0 to n - 1, and "
    "`reversed(range(n))` counts down to 0.",
    "than argument 1": "What `zip` goes through has different lengths: is a part missing, or one "
    "too many?",
    'required "forward"': "This object has no `forward`, so it cannot be called as a network: "
    "call one of its methods.",
    "axis 0 with size 0": "The array there is empty: it has no first and no last entry.",
    "maximum recursion depth": "The function calls itself without end. Did you mean "
    "another function? If not, add a condition that stops it, or write a loop.",
    "return_types": "With a `dim`, torch's `min`, `max` and `median` return values and their "
    "positions: take `.values`.",
    "can't multiply sequence by non-int|must be Tensor, not tuple|operand.*'tuple'": "You have a "
    "list or a tuple instead of a tensor: if a function returns several, such as torch's `max` "
    "with a `dim`, or two critics in one, unpack them (`a, b = ...`) or take the one you need.",
    "can only concatenate tuple": "What stands before the `+` is a tuple: `np.where` and `nonzero` "
    "return one, with an array for each axis. Take the array out, `[0]`.",
    "no attribute 'read'": "`load` reads from a file; `json.loads` turns JSON text into a dict.",
    "has no setter": "You cannot assign to a property, which is computed each time; you can write "
    "into an array that it returns, `x[...] = y`.",
    "used as indices must be": "An index consists of whole numbers, or of True and False; "
    "`> 0` turns the numbers 0.0 and 1.0 into a mask.",
    r"'(float|[\w.]*float64)' object cannot be": _WHOLE,
    "are valid indices": f"Is it a float, or a pair that is not unpacked? {_WHOLE}",
    "not 'slice'": "A slice stands in square brackets; `np.take` takes positions, such as a "
    "`range`.",
    "'list' object cannot be": "`range` takes a number, such as the list's `len`.",
    "(ndarray|Tensor)' object is not callable": "Round brackets call a function; entries are taken "
    "with square ones, `x[...]`.",
    r"append\(\) takes exactly one": "A pair needs brackets of its own: `append((a, b))`.",
    "before Module.__init__": "`__init__` has to begin with `super().__init__()`, which makes the "
    "place where torch keeps a module's layers.",
    "of 'super' object needs an argument|type object 'super'": "`super` has to be called, with "
    "brackets of its own, as in `super().__init__()`.",
    "is not a Module subclass": "`nn.Sequential` takes modules one by one: `nn.ReLU()` with its "
    "brackets, not the function `torch.relu`, and of a list its entries, with a star: `*layers`.",
    "same dtype, but got Long": "A layer computes with floats, but got integers, such as actions: "
    "did you swap two arguments?",
    "unexpected keyword argument 'dim'": "numpy says `axis` where torch says `dim`.",
    r"\(\) got an unexpected keyword argument 'axis'": "numpy's functions are for arrays: for a "
    "tensor use its own, such as `x.mean()`, with `dim` for `axis`.",
    "integers or slices, not str": "A name in the brackets is for a dict; the parts of a batch "
    "are attributes, as in `batch.reward`.",
    "integers or slices, not tuple": "A list or a tuple takes one whole number in its brackets; an "
    "array or a tensor takes several.",
    "can be converted to an index": "`range`, and an index of a list, need one whole number: "
    "for the length use `len`; only an array or a tensor takes an array or a tensor as its index.",
    "Python scalar": "`float`, `int` and the functions of `math` take one number; for a whole "
    "tensor or array use torch's and numpy's functions.",
    "must be Tensor, not (int|float)": "torch's functions take tensors: for a plain number use "
    "`math`, and `x.clamp(min=0)` compares a tensor with one.",
    r"arguments - got \((numpy\.ndarray|float|int|list)\b[\s\S]*\(Tensor input": "This function "
    "of torch takes tensors: for arrays use numpy's functions, for a plain number Python's.",
    r"'(Small\w+|Linear)' object is not (iterable|subscriptable)": "A network is no list (only "
    "`nn.Sequential` is one, of its layers): call it, or take all its layers, `.modules()`, or its "
    "weights, `.parameters()`.",
    r"'Small\w+' object has no attribute (?!'param_groups')": "The check gives your function a "
    "small stand-in for the network: use no more of it than the exercise names.",
    "must be Tensor, not list": "`torch.stack` turns a list of tensors into a tensor, "
    "`torch.tensor` a list of numbers.",
    "must be Tensor, not numpy": "`torch.as_tensor` turns an array into a tensor.",
    r"expected Tensor as element.*got (?!None)([A-Z]\w+)": "A `{0}` is no tensor: did you "
    "mean what it returns?",
    "expected Tensor as element.*got [a-z]": "torch joins tensors; for arrays numpy has "
    "`np.concatenate` and `np.stack`.",
    "found invalid values": "What describes the distribution is NaN, infinite or out of its range: "
    "`exp` of a large number is infinite, and a standard deviation is above 0.",
    "object too deep": "`np.interp` takes one row of numbers as its table: where bounds "
    "are arrays, write out the formula of the straight line.",
    "must be tuple of Tensors, not Tensor": "Pass the tensors in one list: `torch.cat([a, b])`, "
    "`torch.stack([a, b])`.",
    "ndarray' object has no attribute 'append'": "An array keeps its length: write into a place of "
    "it, `x[i] = y`.",
    r"'tuple' object has no attribute.*\n.": "A tuple's parts have no names: take one by its "
    "number, `x[0]`, or unpack all, `a, b = x`.",
    "'list' object has no attribute": "A list has hardly any of a tensor's or an array's methods: "
    "go through its entries, or convert it first (`torch.stack`, `np.array`).",
    "must have same number of dimensions": "What is joined needs the same number of axes (is each "
    "the part that you mean?): a number has none (`[x]` gives it one), `[None]` adds one to a row.",
    r"zero-dimensional(?![\s\S]*\.squeeze\(\))": "A single number has no axis along which it "
    "could be joined: use `stack`, which makes one.",
    "non-empty TensorList": "The list is empty, so there is nothing to stack.",
    "of an empty sequence": "Nothing is left to choose from: did you cut off entries before, the "
    "first or the last?",
    "entry in choice array": "`np.choose` picks among whole arrays. To take one entry of each row "
    "use `np.take_along_axis`, or an index with the row numbers.",
    r"zero-dimensional[\s\S]*\.squeeze\(\)": "`squeeze()` without an axis drops every axis of "
    "length 1, also that of the rows in a batch of one. Name the axis you mean: `squeeze(-1)`.",
    r"values to unpack.*\nfor (?!.*zip\()": "To go through two lists side by side, `zip` them.",
    r"values to unpack.*\n[\w\s,]+=.*\b(max|min)\(": "numpy's `max` and `min` return the values "
    "only; `argmax` and `argmin` return their positions. (For a tensor, with a `dim`, `max` and "
    "`min` return both.)",
    r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)": "Each row of the first has {} numbers, "
    "but the second, such as a layer's weights, takes {}: is it the right layer?",
    "leaf Variable that requires grad": "Change a network's weights in place only under "
    "`torch.no_grad()`.",
    rf"local variable {_UNSET}": "`{0}` has no value in this function before this line, which "
    "changes it: set it first. (In a class, what another method has set is `self.{0}`.)",
    rf"cannot access local variable (?!{_UNSET})": "It gets a value only on some paths through the "
    "function, such as in an `if` or a loop, but is read on all of them.",
    "'(int|float)' object has no attribute 'detach'": "A plain number carries no gradient anyway.",
    "'str' object has no attribute": "It is a text here: make or open first what it names.",
    "expected str, bytes or os.PathLike": "A path belongs there: did you swap two arguments?",
    "differentiated Tensors does not require": "Call `requires_grad_()` on what the gradient is "
    "taken for before it is used, and use that same tensor.",
    "only for scalar outputs": "A gradient is taken of one number: take the sum or the mean first.",
    "graph a second time": "A `backward` or `grad` uses the graph up: take the gradient once, or "
    "keep it with `retain_graph=True` in all but the last.",
    "constraint GreaterThan": "A standard deviation is above 0: is this its logarithm?",
    "not have been used in the graph": "The loss does not depend on what its gradient is taken "
    "for: did you pass another network's optimiser, or detach the loss?",
    "'Batch' and|and 'Batch'": "You used a whole batch where one of its parts is needed, such as "
    "`batch.obs`.",
    "Generator' object|generator=Generator": "`rng` is one of numpy's generators: "
    "`rng.standard_normal(shape)` or `rng.normal(mean, std, shape)` draws from it, "
    "`rng.integers(n, size=shape)` whole numbers below n, and torch's functions cannot.",
    "high <= 0|low >= high": "`integers` draws numbers below its upper bound, and here there are "
    "none: did you subtract something from the bound?",
    r"normal\(\) got an unexpected keyword argument 'dtype'": "Of a generator's methods "
    "`standard_normal` and `random` can draw float32; convert what `normal` draws, "
    "`.astype(np.float32)`.",
    "as a data type": "The second argument there is the type of the numbers. A shape is one "
    "argument: a tuple.",
    "name 'F' is not defined": "In many programs `F` is short for `torch.nn.functional`; here it "
    "is `nn.functional`.",
    "Expected output to be a torch.Tensor": "A gradient is taken of a tensor, and this is "
    "something else: a function that returns several parts returns them in that order.",
    "0-d tensor": "It is a single number, of which no parts can be taken: does what you call there "
    "return all that you need?",
    r"cannot assign '[\w.]+' as parameter": "Change weights and biases in place: by a function "
    "of `nn.init`, whose name ends in `_`, or by `copy_` under `torch.no_grad()`.",
    r"(ndarray|Tensor)' object has no attribute 'index'": "`index` is a method of lists: of "
    "an array or a tensor `argmax()` gives the position of the largest entry.",
    "equal division": "`np.split` cuts into equal parts only. `np.array_split` cuts any number: "
    "sizes then differ by one at most.",
    "no attribute 'param_groups'": "Something else was passed where an optimiser is "
    "needed: `gradient_step` takes the optimiser first, then the loss.",
}
_MISSING = re.compile(r"missing \d+ required positional arguments?: (.+)")
_NEEDS = "The call there needs {} as well, or one before it: each is an argument of its own."
_BEYOND = re.compile(r"is out of bounds for axis (\d+) with size ([1-9]\d*)")
_NUMBERED = (
    "Axis {} has length {} here, so the last index along it is {}: was yours made for another "
    "axis, or for a longer one, or does it have to stop there?"
)
_NAME = r"([A-Z]\w+)"
_NO_TENSOR_BUT = re.compile(rf"must be Tensor, not {_NAME}|'{_NAME}'(?= and)|and '{_NAME}'")
_HAS_NO = re.compile(rf"'{_NAME}' object has no attribute '(\w+)'")
_CALLED = re.compile(rf"\bnn\.{_NAME}\((?!\))")
_MADE_OF_A_TENSOR = ("Boolean value of Tensor", "__init__() takes", "<class 'torch.Tensor'>")


def hints(error: Raised) -> list[str]:
    """Sentences for what an error says, and for the line on which it came up."""
    if name := _module_not_called(error):
        return [
            f"`nn.{name}` is a module: it is made first and then called, as in `nn.Tanh()(x)`. "
            "`torch.nn.functional` has functions that you call directly."
        ]
    said = f"{error.text}\n{error.source}"
    tried = ((re.search(words, said), hint) for words, hint in _HINTS.items())
    return list(dict.fromkeys(hint.format(*found.groups()) for found, hint in tried if found))


def what_it_needs(error: Raised) -> list[str]:
    """What holds of any call with too few arguments, any index beyond the end and any error of
    one's own: it is said where no change of a line explains the error better.
    """
    if asked := _MISSING.search(error.text):
        return [_NEEDS.format(asked[1].replace("'", "`"))]
    if beyond := _BEYOND.search(error.text):
        return [_NUMBERED.format(*beyond.groups(), int(beyond[2]) - 1)]
    if "list index out of range" in error.text:
        return ["The list has fewer entries than that: can it have a single one, or none?"]
    if error.innermost and error.source.startswith(("raise ", "assert ")):
        return [f"Your own `{error.source.split()[0]}` stops it here: look at its condition."]
    return []


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


# --- What is called otherwise, or not there ------------------------------------------------------


_NOT_FOUND = re.compile(
    r"^(?:name|'([\w.]+)' object has no attribute|module '([\w.]+)' has no attribute) '(\w+)'"
)
_PLAIN = ("NoneType", "int", "float", "str", "list", "tuple", "dict", *_TYPES)
_OF_LIBRARIES = {"numpy.ndarray": ("np", np, np.ndarray), "Tensor": ("torch", torch, torch.Tensor)}


def hints_on_names(error: Raised, function: Callable, reference: Callable) -> list[str]:
    """Sentences for what is looked for and not found, or called as it cannot be."""
    found, source = _NOT_FOUND.search(error.text), source_of(function)
    if "does not have a grad_fn" in error.text:
        return [f"No gradient reaches what it is taken of: {what_cuts(function, reference)}."]
    if found is None:
        first_line = _other_first_line(error, function, reference)
        return first_line or (crossed(source, reference) if source else [])
    owner, module, name = found.groups()
    around = source.surroundings if source else {}
    if owner and f".{name}(" in error.source and callable(around.get(name)):
        return [f"`{name}` is a function, not a method: leave out what is before the dot."]
    if fields := getattr(around.get(owner), "_fields", ()):
        return [f"A `{owner}` has {listed(fields)}."]
    tree = ast.parse(source_of_reference(reference))
    tree.body += [source.node] if source else []
    told: str | None
    if module:
        told = _alike(name, {*dir(sys.modules.get(module))}, f"{module.split('.')[-1]}.")
    elif owner in {None, *(x.name for x in ast.walk(tree) if isinstance(x, ast.ClassDef))}:
        told = _own_name(name, owner is None, tree, reference)
    else:
        told = _of_a_library(owner, name, error.source)
    return [told] if told else []


def _own_name(name: str, bare: bool, tree: ast.Module, reference: Callable) -> str | None:
    """Not found in the answer itself: `bare`, or in `self`."""
    given = vars(reference).get(name) if inspect.isclass(reference) else None
    if not bare and (inspect.isclass(given) or (given is not None and not callable(given))):
        return f"The line `{name} = ...` of the class, above its methods, is missing: put it back."
    kept = {each[5:] for context in (ast.Load, ast.Store) for each in attributes(tree, context)}
    names = [x for x in ast.walk(tree) if isinstance(x, ast.Name)]
    if bare and name in kept:
        return f"What belongs to the object needs `self.`: write `self.{name}`."
    if bare:
        arguments = {x.arg for x in ast.walk(tree) if isinstance(x, ast.arg)}
        if (told := _alike(name, arguments | {x.id for x in names})) or inspect.isclass(reference):
            return told
        taken = listed(inspect.signature(reference).parameters)
        return f"Your function is given {taken} alone." if len(name) > 1 else None
    if any(x.id == name and isinstance(x.ctx, ast.Store) for x in names):
        return f"A plain `{name}` is lost when the method ends: write `self.{name} = ...`."
    methods = [x for x in ast.walk(tree.body[-1]) if isinstance(x, ast.FunctionDef)]
    if sets := [x.name for x in methods if f"self.{name}" in attributes(x, ast.Store)]:
        return f"It is set in {listed(sets)}, but not before this line."
    return _alike(name, kept, "self.")


def _of_a_library(owner: str, name: str, line: str) -> str | None:
    """Not found in an array or a tensor, or in what was taken for one; `line` is the student's."""
    short, library, kind = _OF_LIBRARIES.get(owner, ("", None, None))
    if callable(getattr(library, name, None)):
        return f"`{short}.{name}` is a function, not a method, and returns something new."
    if kind or not hasattr(torch.Tensor, name) or hasattr(nn, owner) or owner in _PLAIN:
        return _alike(name, {*dir(kind)}, ".") if kind and name in line else None
    return f"A `{owner}` is no tensor: did you mean what it returns, or one of its parts?"


def _alike(name: str, known: set[str], before: str = "") -> str | None:
    """The one of the known names that differs by a letter or two, by capitals or underscores."""
    others = sorted(known - {name}, key=lambda x: (-len(x), x))  # the shortest one comes last
    plain = {x.replace("_", "").lower(): x for x in others if not x.startswith("_")}
    near = get_close_matches(name.replace("_", "").lower(), plain, 1, 0.75)
    return f"Did you mean `{before}{plain[near[0]]}`?" if near else None


def _other_first_line(error: Raised, function: Callable, reference: Callable) -> list[str]:
    """A method that takes other arguments than the course's, as without `self`."""
    found = re.search(r"\w\.(\w+)\(\) (?:takes|missing)", error.text)
    if not (found and inspect.isclass(function) and inspect.isclass(reference)):
        return []
    own, given = (vars(each).get(found[1]) for each in (function, reference))
    if not (inspect.isfunction(own) and inspect.isfunction(given)):
        return []
    takes, wanted = ([*inspect.signature(each).parameters] for each in (own, given))
    if takes == wanted:
        return []
    own_line, its_line = (f"{found[1]}({', '.join(names)})" for names in (takes, wanted))
    return [f"The exercise has `{its_line}`, yours begins with `{own_line}`."]


def crossed(source: Source, reference: Callable) -> list[str]:
    """Two arguments of a call, or two results of one, in each other's place: by their names."""
    given = _unpacked(ast.parse(source_of_reference(reference)))
    in_order = {(called, *sorted(names)): names for called, names in given}
    for called, names in _unpacked(source.node):
        right = in_order.get((called, *sorted(names)), names)
        if right != names:
            return [
                f"`{called}` gives {listed(right)} in this order, and you unpack them in another."
            ]
    for call in (each for each in ast.walk(source.node) if isinstance(each, ast.Call)):
        function = source.surroundings.get(getattr(call.func, "id", ""))
        taken = [*inspect.signature(function).parameters] if inspect.isfunction(function) else []
        passed = [ast.unparse(each).split(".")[-1] for each in call.args]
        pairs = zip(taken, passed, strict=False)
        for (one, its), (other, its_other) in itertools.combinations(pairs, 2):
            if (one, other) == (its_other, its):
                return [f"You swapped `{one}` and `{other}` in `{ast.unparse(call)}`."]
    return []


def _unpacked(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Each call whose results get several names: what is called, and the names."""
    for each in (x for x in ast.walk(node) if isinstance(x, ast.Assign)):
        if isinstance(each.value, ast.Call) and isinstance(each.targets[0], ast.Tuple):
            names = [ast.unparse(x) for x in each.targets[0].elts]
            yield ast.unparse(each.value.func), names


def on_types(shown: str) -> list[str]:
    """What a type means that stands in a sentence about somebody's output."""
    return [_TYPES[name] for name in re.findall(r"of type `?(\w+)", shown) if name in _TYPES][:1]


def returned(error: Raised, reference: Callable) -> list[str]:
    """Of an output that a check could not use: its type, and the one that is asked for."""
    found = re.match(r"'(\w+)' object", error.text)
    kind = inspect.signature(reference).return_annotation
    plain = inspect.isclass(kind) and kind not in (Any, inspect.Signature.empty)
    if not found or not plain or kind.__name__ == found[1]:
        return []
    comma = " A comma after a value makes a tuple of it." * (found[1] == "tuple")
    asked = f"A `{kind.__name__}`, or a part of it, is needed where yours has a `{found[1]}`."
    return [asked + comma]


def no_init(function: Callable, reference: Callable) -> str | None:
    """A class whose `__init__` is missing, or has another name by a slip."""
    if not (inspect.isclass(function) and inspect.isclass(reference)):
        return None
    if "__init__" not in vars(reference) or "__init__" in vars(function):
        return None
    alike = get_close_matches("__init__", vars(function).keys() - vars(reference).keys())
    named = [name for name in alike if inspect.isfunction(vars(function)[name])]
    if named:
        return f"Your class has no `__init__`: is `{named[0]}` a slip? It is spelled `__init__`."
    return "Your class has no `__init__`, which is called when an object of it is made: write it."


# --- Where a gradient stops -----------------------------------------------------------------------

_CUTS = {
    "detach", "detach_", "item", "numpy", "tolist", "data", "no_grad", "inference_mode", "tensor",
}  # fmt: skip
_CUT = (
    "something cuts it off, such as `.detach()`, `.item()`, `.numpy()`, `no_grad` or "
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
    names = dict.fromkeys(name for name, _ in found)
    return f"{listed(names)} let{'s' * (len(names) == 1)} none through"


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
        f"`{_COPIES[name]}` copies the numbers, and no gradient flows through the copy: "
        f"`{source.line(line)}`."
    ]


def _made_of_numbers(node: ast.AST) -> Iterator[str]:
    """`tensor`, where `torch.tensor` is only given numbers that stand in the code."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    for call in (each for each in calls if getattr(each.func, "attr", "") == "tensor"):
        if not any(isinstance(x, ast.Name) for arg in call.args for x in ast.walk(arg)):
            yield "tensor"

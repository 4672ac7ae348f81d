"""What can be set of an agent: one line each, in the class that uses it.

    class TD3(OffPolicyAgent):
        policy_delay: int = setting(2, COUNT)

A setting is a keyword of the constructor, an attribute that can be changed later, and an entry of
the agent's file. A class below may give it another default, `gamma = 0.9`. Networks and memories
are made in `build`: agents have no constructors of their own.
"""

import copy
import inspect
from collections.abc import Callable, Mapping
from multiprocessing.reduction import ForkingPickler
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import torch

from helpers.memory.buffers import by_value
from helpers.names import check_names

EVERY: set[str] = set()  # the settings of all classes: "others here do"


class Setting:
    """A line of a class of agents: `horizon: int = setting(100, COUNT)`.

    `check(name, value)` gives what is kept of a value, or raises `ValueError`. With `fixed` it
    cannot be changed later. The attribute is what the optional `makes` makes of the value.
    """

    name: str

    def __init__(
        self,
        default: Any,
        check: Callable[[str, Any], Any] | None = None,
        *,
        fixed: bool = False,
        makes: Callable[[Any], Any] | None = None,
    ) -> None:
        self.default, self.check, self.fixed, self.makes = default, check, fixed, makes

    def __set_name__(self, kind: Any, name: str) -> None:
        self.name = name
        kind.settings = {**kind.settings, name: self}
        EVERY.add(name)

    # There is no __get__: an agent reads it from its own dictionary, as fast as any attribute.
    def __set__(self, agent: Any, value: Any) -> None:
        kind, name = type(agent), self.name
        if self.fixed and agent.built:
            raise AttributeError(
                f"{name} counts when an agent is made, not later: give it to {kind.__name__}(...)."
            )
        given, before = agent.given, agent.__dict__.get(name)
        value = self.checked(value)
        agent.given = {**given, name: value}
        agent.__dict__[name] = value if self.makes is None else self.makes(value)
        if agent.built:
            try:
                agent.settle(name)
            except ValueError:
                agent.given, agent.__dict__[name] = given, before
                raise

    def checked(self, value: Any) -> Any:
        """What is kept of a value. Raises `ValueError` for one that cannot be."""
        value = value.item() if isinstance(value, np.generic) else value
        value = list(value) if isinstance(value, list) else value  # its owner may change it
        return value if self.check is None else self.check(self.name, value)

    def but(self, default: Any) -> "Setting":
        """The same with another default."""
        other = copy.copy(self)
        other.default = self.checked(default)
        return other


setting: Any = Setting  # whose value, in an agent, is of any kind


class Configured:
    """What agents have from their settings: constructor, signature, `hyperparameters`.

    `network_classes`: by which attributes a class below may name networks of its own.
    """

    settings: ClassVar[dict[str, Setting]] = {}
    network_classes: ClassVar[tuple[str, ...]] = ()
    __signature__: ClassVar[inspect.Signature]
    built = False  # True when the constructor is through

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__init__ is not Configured.__init__:
            raise TypeError(
                f"{cls.__name__} has a constructor, and load would not know what to give it: write "
                "each setting as a line of the class, horizon: int = setting(100), and make all "
                "else in build(self), which begins with super().build()."
            )
        for name in cls.__dict__:
            if name.endswith("_class") and name not in cls.network_classes:
                known = ", ".join(cls.network_classes)
                takes = f"classes {known}" if known else "setting hidden"
                raise TypeError(
                    f"{cls.__name__} has {name}, which {cls.__mro__[1].__name__} does not read: "
                    f"its networks follow the {takes}."
                )
            if name in cls.network_classes and not isinstance(getattr(cls, name), type):
                raise TypeError(
                    f"{name} of {cls.__name__} must be a class, of which the agent makes its "
                    "networks."
                )
        for name, above in cls.settings.items():
            if not isinstance(default := getattr(cls, name), Setting):  # such as gamma = 0.9
                if name not in cls.__dict__:
                    raise TypeError(f"{name} = {default!r} belongs in {cls.__name__} itself.")
                cls.settings = {**cls.settings, name: above.but(default)}
                delattr(cls, name)  # so that the setting above goes on checking what is set later
        shown = [inspect.Parameter("env", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        for name, each in cls.settings.items():
            shown.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default)
            )
        cls.__signature__ = inspect.Signature(shown)  # for `help` and editors
        ForkingPickler.register(cls, by_value)  # torch would share its weights with a process

    def __init__(self, *env: Any, **given: Any) -> None:
        kind = type(self)
        if "env" in given:
            env = (*env, given.pop("env"))
        if len(env) != 1:
            raise TypeError(
                f"{kind.__name__} takes the environment, and then settings by name: there is no "
                "policy to choose, and each setting is written name=value."
            )
        check_names(kind.__name__, given, ["env", *kind.settings], EVERY)
        [self.env_source], self.given = env, dict[str, Any]()
        for name, each in kind.settings.items():
            each.__set__(self, given.get(name, each.default))
        with torch.inference_mode(False):  # what is made there could never learn
            self.build()
            self.ready()
        self.built = True

    @property
    def hyperparameters(self) -> Mapping[str, Any]:
        """All settings by name, to read: `agent.gamma = 0.9` sets one, `dict(...)` makes a copy."""
        return MappingProxyType(self.given)

    def build(self) -> None:
        """Make networks, optimisers and memories of the settings."""

    def ready(self) -> None:
        """Called when all is built, and whenever training begins."""

    def settle(self, name: str) -> None:
        """Called when a setting was changed. Raises `ValueError` if it does not fit the others."""

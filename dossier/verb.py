"""A stage's module is a verb that can be called: `dossier.load(path)` is `dossier.load.study(path)`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A module that does the one thing it is there for when it is called."""

    noun: Callable[..., Any]

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        """Make the noun of this verb."""
        return vars(self)["noun"](*arguments, **settings)


def makes(noun: Callable[..., Any]) -> None:
    """Let the module that defines this function be called in its name."""
    module = sys.modules[noun.__module__]
    module.__class__ = Verb
    vars(module)["noun"] = noun

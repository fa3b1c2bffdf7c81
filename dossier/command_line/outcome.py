"""What a build or a verification came to, as one document for a program; `dossier schema` describes it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dossier.core.types import State


class Outcome(BaseModel):
    """What is known so far; a fault that ends the command is added to it."""

    model_config = ConfigDict(extra="forbid", serialize_by_alias=True)

    format: Literal["dossier-outcome/1"] = Field("dossier-outcome/1", alias="schema")
    command: Literal["build", "verify"]
    written: list[str] = Field([], description="The files of OUT and beside it, as paths.")
    verdict: State | None = Field(
        None, description="Of the criteria that count; null where nothing was built, or something differs."
    )
    flags: int | None = Field(None, description="How many were raised; null likewise.")
    says: list[str] = Field([], description="Of verify, what was looked at, and what that proves.")
    fails: list[str] = Field([], description="What keeps the exit code from 0: criteria, claims, flags, signatures.")
    differences: list[str] = []
    faults: list[dict[Literal["code", "what", "where", "fix"], str]] = Field([], description="What ended the command.")
    exit_code: int = 0

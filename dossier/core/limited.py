"""A function of ours in a process of its own, with limits of time and memory: for files that anybody may have made.

What they make a library do (a loop, a table of billions of entries, a fault in its C code) ends there, with a reason.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

MEMORY = 2 << 30
"""Bytes of address space: ten times what the largest dossier of ours takes."""
WAITING = 10
"""On a busy machine a process gets a processor for a part of the time only."""
LONGEST_REASON = 300


@dataclass(frozen=True)
class Ended:
    """Why a function gave no answer."""

    reason: str


def call(function: str, *arguments: str, seconds: int) -> Any | Ended:
    """What a function answers, as JSON holds it, or why it gave no answer.

    `function` is a module and a name in it, such as "dossier.outputs.verify:edition"; `seconds` are of the processor.
    """
    words = [sys.executable, "-P", "-m", "dossier.core.limited", str(seconds), function, *arguments]
    # With a thread for each of many processors linear algebra alone would need more than there is.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WAITING * seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ended(f"it takes more than {seconds} seconds")
    if done.returncode == 0:
        return json.loads(done.stdout)
    if done.returncode == os.EX_IOERR:
        raise OSError(*json.loads(done.stdout))
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Ended(f"it takes more than {seconds} seconds")
    if done.returncode < 0:
        return Ended(f"its reader was ended by {signal.Signals(-done.returncode).name}")
    last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return Ended(last[:LONGEST_REASON] or "its reader ended without a reason")


def _answer() -> None:
    """Set the limits, call the function that the arguments name, and hand its answer over."""
    seconds, function, *arguments = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    module, _, name = function.partition(":")
    try:
        answer = getattr(importlib.import_module(module), name)(*arguments)
    except OSError as error:
        if error.errno is None:
            raise
        # What the system refuses, such as room on the disk, is said of no file.
        sys.stdout.write(json.dumps((error.errno, error.strerror)))
        sys.exit(os.EX_IOERR)
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    _answer()

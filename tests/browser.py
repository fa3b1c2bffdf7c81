"""Chromium without a window, spoken to through two pipes: what a reader sees and does, without a package between."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
COMPLAINTS = {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}


@dataclass
class Browser:
    """A browser that runs; every answer comes after the events that were before it."""

    into: int
    out: int
    events: list[dict[str, Any]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _rest: bytes = b""

    def ask(self, method: str, session: str | None = None, **values: Any) -> dict[str, Any]:
        """Have something done, and wait for what comes of it."""
        number = next(self._numbers)
        words = {"id": number, "method": method, "params": values} | ({"sessionId": session} if session else {})
        os.write(self.into, json.dumps(words).encode() + b"\0")
        while (heard := self._heard()).get("id") != number:
            self.events.append(heard)
        assert "error" not in heard, heard
        answer: dict[str, Any] = heard["result"]
        return answer

    def _heard(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = os.read(self.out, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        one, _, self._rest = self._rest.partition(b"\0")
        heard: dict[str, Any] = json.loads(one)
        return heard

    def page(self, file: Path, width: int = 1024, script: bool = True) -> Page:
        """A file as it is opened from the disk."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable", session)
        size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", session, **size)
        # Each tab holds its focus, whichever was opened last.
        self.ask("Emulation.setFocusEmulationEnabled", session, enabled=True)
        self.ask("Emulation.setScriptExecutionDisabled", session, value=not script)
        self.ask("Page.navigate", session, url=file.as_uri())
        while not any(each["method"] == "Page.loadEventFired" for each in self.of(session)):
            self.events.append(self._heard())
        return Page(self, session)

    def of(self, session: str) -> list[dict[str, Any]]:
        """What was told of one page."""
        return [each for each in self.events if each.get("sessionId") == session]


@dataclass(frozen=True)
class Page:
    """A page in a tab of its own."""

    browser: Browser
    session: str

    def says(self, expression: str) -> Any:
        """The value of an expression in the page."""
        values = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        answer = self.browser.ask("Runtime.evaluate", self.session, **values)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, **values: Any) -> None:
        """Press a key and let it go."""
        for kind in ("rawKeyDown", "keyUp"):
            self.browser.ask("Input.dispatchKeyEvent", self.session, type=kind, key=key, code=key, **values)

    def looks(self, **features: str) -> None:
        """Show it to whoever asks for these features: dark, paper, no movement."""
        named = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items() if name != "media"
        ]
        self.browser.ask("Emulation.setEmulatedMedia", self.session, media=features.get("media", ""), features=named)

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """What stands in the console: messages, errors, what the policy refused."""
        return [each for each in self.browser.of(self.session) if each["method"] in COMPLAINTS]

    @property
    def asked_for(self) -> list[str]:
        """The addresses that it asked for, itself among them."""
        events = self.browser.of(self.session)
        return [each["params"]["request"]["url"] for each in events if each["method"] == "Network.requestWillBeSent"]


@contextmanager
def running(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, which ends with the test."""
    assert PROGRAM is not None
    (theirs, into), (out, answers) = os.pipe(), os.pipe()
    words = [
        PROGRAM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-pipe",
        f"--user-data-dir={folder}",
    ]
    # Chromium hears on 3 and answers on 4; a shell moves our pipes there.
    program = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{answers}', "browser", *words],
        pass_fds=(theirs, answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    os.close(answers)
    browser = Browser(into, out)
    try:
        yield browser
    finally:
        browser.ask("Browser.close")
        program.wait(30)
        os.close(into)
        os.close(out)

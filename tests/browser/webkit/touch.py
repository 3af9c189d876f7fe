"""A screen that is touched: X draws it in memory, and its driver for tests says where a finger is."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.webkit.opened import no

if TYPE_CHECKING:
    from tests.browser.webkit.page import Page

WIDTH, HEIGHT = 1600, 1100
CONFIG = """
Section "ServerFlags"
  Option "AutoAddDevices" "false"
  Option "AutoAddGPU" "false"
  Option "DontVTSwitch" "true"
EndSection
Section "Monitor"
  Identifier "monitor"
  HorizSync 5.0-1000.0
  VertRefresh 5.0-200.0
  Modeline "{width}x{height}" 147.63 1600 1712 1880 2160 1100 1101 1104 1139
EndSection
Section "Device"
  Identifier "memory"
  Driver "dummy"
  VideoRam 65536
EndSection
Section "Screen"
  Identifier "screen"
  Device "memory"
  Monitor "monitor"
  DefaultDepth 24
  SubSection "Display"
    Depth 24
    Modes "{width}x{height}"
  EndSubSection
EndSection
Section "InputDevice"
  Identifier "pointer"
  Driver "inputtest"
  Option "DeviceType" "PointerAbsolute"
  Option "SocketPath" "{folder}/pointer"
EndSection
Section "InputDevice"
  Identifier "keyboard"
  Driver "inputtest"
  Option "DeviceType" "Keyboard"
  Option "SocketPath" "{folder}/keyboard"
EndSection
Section "InputDevice"
  Identifier "touch"
  Driver "inputtest"
  Option "DeviceType" "Touch"
  Option "SocketPath" "{folder}/touch"
EndSection
Section "ServerLayout"
  Identifier "layout"
  Screen "screen"
  InputDevice "pointer" "CorePointer"
  InputDevice "keyboard" "CoreKeyboard"
  InputDevice "touch"
EndSection
"""
COMMAND = ("Xorg", "-noreset", "-novtswitch", "-sharevts", "vt7", "-nolisten", "tcp")
GREETING, TOUCH = 0, 6
BEGIN, MOVE, END = 18, 19, 20
"""Kinds of messages, and of touches (XI_TouchBegin and so on), as the driver counts them."""
FULL = 0xFFFF
"""The right and lower edge, as the driver measures."""
STEPS, PAUSE = 12, 0.02
NO_MOUSE = """
const asked = matchMedia;
window.matchMedia = query => asked(query.replace('(pointer: coarse)', 'all'));
"""
"""What a phone answers: X has a mouse in any case."""


@contextmanager
def touch_screen(folder: Path) -> Iterator[str]:
    """The name of a screen that is touched through `folder`; skipped where there cannot be one."""
    folder.mkdir(parents=True)
    (folder / "xorg.conf").write_text(CONFIG.format(folder=folder, width=WIDTH, height=HEIGHT), encoding="ascii")
    read, write = os.pipe()
    files = ("-config", str(folder / "xorg.conf"), "-logfile", str(folder / "xorg.log"), "-displayfd", str(write))
    try:
        screen = subprocess.Popen([*COMMAND, *files], pass_fds=[write], stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        no("touch screen without Xorg")
    finally:
        os.close(write)
    with screen, open(read, encoding="ascii") as number:
        display = number.readline().strip()
        if not display:
            no("touch screen where Xorg does not start")
        try:
            yield f":{display}"
        finally:
            screen.terminate()


class Finger:
    """One finger on such a screen, in pixels of it."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(folder / "touch"))
        self._tell(GREETING, struct.pack("<HH", 1, 1))
        self._touches = 0

    def drag(self, x: float, y: float, *, up: float = 0) -> None:
        """Put it down, move it up by so many pixels, and lift it."""
        self._touches += 1
        self._touch(BEGIN, x, y)
        for step in range(STEPS + 1 if up else 0):
            time.sleep(PAUSE)
            self._touch(MOVE, x, y - up * step / STEPS)
        time.sleep(PAUSE)
        self._touch(END, x, y - up)

    def _touch(self, kind: int, x: float, y: float) -> None:
        places = (round((x + 0.5) / WIDTH * FULL), round((y + 0.5) / HEIGHT * FULL), *[0] * 126)
        self._tell(TOUCH, struct.pack("<IIIB11x128d", self._touches, kind, 0, 0b11, *places))

    def _tell(self, kind: int, values: bytes) -> None:
        self._socket.sendall(struct.pack("<II", 8 + len(values), kind) + values)


class TouchScreen:
    """Playwright's, of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def tap(self, x: float, y: float) -> None:
        self.drag(x, y)

    def drag(self, x: float, y: float, *, up: float = 0) -> None:
        """As `Finger.drag`, in pixels of the page."""
        finger = self._page.context.running.finger
        if finger is None:
            no("touch in a context without it")
        left, top, bars = self._page.evaluate("[screenX, screenY, outerHeight - innerHeight]")
        finger.drag(left + x, top + bars + y, up=up)

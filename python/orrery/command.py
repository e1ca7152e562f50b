"""The ``orrery`` command: where it is, one run of it, and a process that answers JSON lines."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union


class OrreryError(Exception):
    """An option, a file or a strategy is not valid; the message names it."""


def program() -> List[str]:
    """``$ORRERY`` (a command line), ``orrery`` on the path, or ``npx orrery``."""
    given = os.environ.get("ORRERY")
    if given:
        return shlex.split(given)
    found = shutil.which("orrery")
    if found:
        return [found]
    if shutil.which("npx"):
        return ["npx", "--no-install", "orrery"]
    raise OrreryError("the command 'orrery' is missing: npm install orrery, or set ORRERY")


def _missing(name: str, error: OSError) -> OrreryError:
    found = f"the command {name!r} cannot be started: {error.strerror}"
    return OrreryError(f"{found} (npm install orrery, or set ORRERY)")


def run(arguments: Sequence[str]) -> Any:
    """Runs a command with ``--json`` and returns its object."""
    command = [*program(), *arguments, "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise _missing(command[0], error) from None
    if done.returncode != 0:
        lines = done.stderr.strip() or done.stdout.strip()
        raise OrreryError(lines or f"{' '.join(command)}: exit code {done.returncode}")
    return json.loads(done.stdout)


Option = Union[str, int, float, bool, Sequence[str], Mapping[str, Any], None]


def options(values: Mapping[str, Option]) -> List[str]:
    """Options of a command line: ``warm_up='1h'`` is ``--warm-up=1h``, a list repeats it."""
    words: List[str] = []
    for name, value in values.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if value is None:
            continue
        if value is True:
            words.append(option)
        elif value is False:
            words.append(f"--no-{option[2:]}")
        elif isinstance(value, Mapping):
            words.extend(f"{option}={key}={one}" for key, one in value.items())
        elif isinstance(value, (list, tuple)):
            words.extend(f"{option}={one}" for one in value)
        else:
            words.append(f"{option}={value}")
    return words


def library_options(values: Mapping[str, Any]) -> Dict[str, Any]:
    """Options of the library by their names of Python: ``warm_up`` is ``warmUp``."""
    return {
        re.sub(r"_([a-z])", lambda found: found.group(1).upper(), name).rstrip("_"): value
        for name, value in values.items()
        if value is not None
    }


#: One encoder and decoder for all messages: ``json.dumps`` with separators makes one for each, and
#: ``json.loads`` detects the encoding of each.
_encoded = json.JSONEncoder(separators=(",", ":")).encode
_decoded = json.JSONDecoder().raw_decode


class Bridge:
    """A process of ``orrery bridge``."""

    def __init__(self, request: Dict[str, Any]) -> None:
        # A file, not a pipe: nobody reads it while the process runs.
        self._errors = tempfile.TemporaryFile()
        command = [*program(), "bridge"]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=1 << 16,
            )
        except OSError as error:
            self._errors.close()
            raise _missing(command[0], error) from None
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input = self._process.stdin
        # Each message is one write; a buffer would copy it.
        self._raw = self._input.raw  # type: ignore[attr-defined]
        self._output = self._process.stdout
        self.send(request)

    def send(self, message: Mapping[str, Any]) -> None:
        self.send_line(_encoded(message).encode() + b"\n")

    def send_line(self, line: bytes) -> None:
        """Sends a message that is JSON already, with its line feed."""
        try:
            written = self._raw.write(line)
            while written < len(line):
                written += self._raw.write(line[written:])
        except BrokenPipeError:
            # The reason is the last message of the process.
            pass

    def receive(self) -> Dict[str, Any]:
        line = self._output.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            reason = self._errors.read().decode(errors="replace").strip()
            self.close()
            raise OrreryError(reason or "orrery bridge has ended")
        message: Dict[str, Any] = _decoded(line.decode())[0]
        if "error" in message:
            self.close()
            raise OrreryError(message["error"]["message"])
        return message

    def ask(self, message: Mapping[str, Any]) -> Dict[str, Any]:
        self.send(message)
        return self.receive()

    def close(self) -> None:
        """Ends the process; a second call has no effect."""
        for stream in (self._input, self._output):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    @property
    def is_open(self) -> bool:
        return not self._input.closed


def optional(name: str) -> Optional[Any]:
    """A package, or None where it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return None

"""The ``orrery`` command: where it is, one run of it, and a process that answers JSON lines."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from datetime import datetime
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import pandas as pd


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


def _started(command: Sequence[str], **streams: Any) -> "subprocess.Popen[Any]":
    """A process in a group of its own: ``npx`` starts a second process, which ends with it."""
    try:
        return subprocess.Popen(command, start_new_session=True, **streams)
    except OSError as error:
        raise _missing(command[0], error) from None


def _kill(process: "subprocess.Popen[Any]") -> None:
    """Ends a process and those that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def _reason(name: str, text: str, code: int) -> str:
    """Why a command failed: its errors, without the notes that precede them."""
    lines = text.strip().splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("orrery: ")), 0)
    errors = "\n".join(lines[first:])
    if code == 127 and "node" in errors:
        return f"{errors} (install Node.js 20, or put its folder on PATH)"
    if errors:
        return errors
    if code < 0:
        return f"{name} was ended by signal {signal.Signals(-code).name}"
    return f"{name} has ended with exit code {code}"


def run(arguments: Sequence[str]) -> Any:
    """Runs a command with ``--json`` and returns its object."""
    command = [*program(), *arguments, "--json"]
    pipe = subprocess.PIPE
    process = _started(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
    try:
        output, errors = process.communicate()
    except BaseException:
        _kill(process)
        raise
    if process.returncode != 0:
        text = errors.strip() or output
        raise OrreryError(_reason(" ".join(command), text, process.returncode))
    try:
        return json.loads(output)
    except ValueError:
        raise _stranger(output) from None


def _stranger(output: str) -> OrreryError:
    name = shlex.join(program())
    return OrreryError(f"{name!r} is not orrery: it answers {output.strip()[:80]!r} (set ORRERY)")


def plain(value: Any) -> Any:
    """A value as JSON or text: paths, numpy's numbers, times (UTC unless they have a zone)."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if hasattr(value, "isoformat"):
        time = pd.Timestamp(value)
        utc = time.tz_localize("UTC") if time.tz is None else time.tz_convert("UTC")
        return f"{utc:%Y-%m-%dT%H:%M:%S.%fZ}"
    raise TypeError(f"{value!r} is neither a number, text, a path nor a time")


def _text(value: Any) -> str:
    return str(value if isinstance(value, (str, int, float)) else plain(value))


def _list(value: Any) -> str:
    """Values of a parameter: text as it is, ``[3, 5]`` as ``3,5``."""
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return ",".join(map(_text, value))
    return _text(value)


Path = Union[str, "os.PathLike[str]"]
Option = Union[Path, int, float, bool, datetime, Sequence[Any], Mapping[str, Any], None]


def options(values: Mapping[str, Option]) -> List[str]:
    """Options of a command line: ``warm_up='1h'`` is ``--warm-up=1h``, a list repeats it."""
    words: List[str] = []
    for name, value in values.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if value is None:
            continue
        if name in _PAIRS:
            value = ",".join(_text(one) for one in _pair(name, value).values())
        if value is True:
            words.append(option)
        elif value is False:
            words.append(f"--no-{option[2:]}")
        elif isinstance(value, Mapping):
            words.extend(f"{option}={key}={_list(one)}" for key, one in value.items())
        elif isinstance(value, (list, tuple)):
            words.extend(f"{option}={_text(one)}" for one in value)
        else:
            words.append(f"{option}={_text(value)}")
    return words


#: Options of two ratios: text as on the command line, a tuple, or a mapping as in the library.
_PAIRS = {"fees": ("maker", "taker"), "margin": ("initial", "maintenance")}


def _pair(name: str, value: Any) -> Dict[str, str]:
    first, second = _PAIRS[name]
    if isinstance(value, Mapping) and set(value) == {first, second}:
        parts = [value[first], value[second]]
    else:
        parts = value.split(",") if isinstance(value, str) else value
    if isinstance(parts, (list, tuple)) and len(parts) == 2:
        return {first: _decimal(parts[0]), second: _decimal(parts[1])}
    raise OrreryError(f"{name} {value!r}: must be two ratios, {first} and {second}")


def _decimal(value: Any) -> str:
    """Decimal text of a number; text as it is."""
    return value.strip() if isinstance(value, str) else np.format_float_positional(value, trim="-")


def library_options(values: Mapping[str, Any]) -> Dict[str, Any]:
    """Options of the library by their names of Python: ``warm_up`` is ``warmUp``."""
    chosen: Dict[str, Any] = {}
    for name, value in values.items():
        if value is None:
            continue
        if name in _PAIRS:
            value = _pair(name, value)
        elif name == "candles":
            value = markets_of(value)
        elif name in ("balance", "seed") and not isinstance(value, str):
            value = _decimal(value)
        chosen[camel(name).rstrip("_")] = value
    return chosen


def camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


def markets_of(given: Any) -> List[Dict[str, Any]]:
    """Candles of markets as the library takes them; each may be a data frame."""
    if isinstance(given, Mapping):
        given = [{"symbol": symbol, "candles": rows} for symbol, rows in given.items()]
    markets = []
    for market in given:
        named = {camel(name): value for name, value in market.items()}
        if isinstance(named.get("candles"), pd.DataFrame):
            named["candles"] = _candles(str(named.get("symbol")), named["candles"])
        markets.append(named)
    return markets


def _candles(symbol: str, frame: pd.DataFrame) -> List[List[float]]:
    """Rows of ccxt. Times are the index, or the column time, timestamp, date or datetime."""
    columns = {str(name).lower(): frame[name] for name in frame.columns}
    place = f"candles of {symbol}"
    times: Any = frame.index
    if not isinstance(times, pd.DatetimeIndex):
        found = [name for name in ("time", "timestamp", "date", "datetime") if name in columns]
        if not found:
            raise OrreryError(f"{place}: no DatetimeIndex, and no column time, timestamp or date")
        times = columns[found[0]]
        unit = "ms" if pd.api.types.is_numeric_dtype(times) else None
        times = pd.DatetimeIndex(pd.to_datetime(times, unit=unit, utc=True))
    missing = [name for name in ("open", "high", "low", "close", "volume") if name not in columns]
    if missing:
        raise OrreryError(f"{place}: no column {', '.join(missing)}")
    utc = times.tz_localize("UTC") if times.tz is None else times.tz_convert("UTC")
    milliseconds = (utc - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(milliseconds=1)
    figures = []
    for name in ("open", "high", "low", "close", "volume"):
        values = columns[name].to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.isfinite(values).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise OrreryError(f"{place}: {name} of row {row} is {values[row]}")
        figures.append(values.tolist())
    return [list(row) for row in zip(milliseconds.tolist(), *figures)]


#: One encoder and decoder for all messages: ``json.dumps`` with separators makes one for each, and
#: ``json.loads`` detects the encoding of each.
_encoded = json.JSONEncoder(separators=(",", ":"), default=plain, allow_nan=False).encode
_decoded = json.JSONDecoder().raw_decode


class Bridge:
    """A process of ``orrery bridge``."""

    def __init__(self, request: Dict[str, Any]) -> None:
        # A file, not a pipe: nobody reads it while the process runs.
        self._errors = tempfile.TemporaryFile()
        command = [*program(), "bridge"]
        pipe = subprocess.PIPE
        try:
            self._process = _started(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, bufsize=1 << 16
            )
        except OrreryError:
            self._errors.close()
            raise
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input = self._process.stdin
        # Each message is one write; a buffer would copy it.
        self._raw = self._input.raw  # type: ignore[attr-defined]
        self._output = self._process.stdout
        try:
            self.send(request)
        except BaseException:
            self.close()
            raise

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
            code = self._process.wait()
            self._errors.seek(0)
            text = self._errors.read().decode(errors="replace")
            self.close()
            raise OrreryError(_reason("orrery bridge", text, code))
        try:
            message: Dict[str, Any] = _decoded(line.decode())[0]
        except ValueError:
            self.close()
            raise _stranger(line.decode(errors="replace")) from None
        if "error" in message:
            self.close()
            raise OrreryError(message["error"]["message"])
        return message

    def ask(self, message: Mapping[str, Any]) -> Dict[str, Any]:
        self.send(message)
        return self.receive()

    def close(self) -> None:
        """Ends the process; a second call has no effect.

        The process ends with its input. One that computes is killed after five seconds, or at once
        where the caller is interrupted.
        """
        for stream in (self._input, self._output):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        try:
            self._process.wait(timeout=5)
        except BaseException as error:
            _kill(self._process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        finally:
            self._errors.close()

    def __del__(self) -> None:
        # Without this, ``Popen`` keeps the process of an object that nobody closed.
        if hasattr(self, "_output"):
            self.close()

    @property
    def is_open(self) -> bool:
        return not self._input.closed


def optional(name: str) -> Optional[Any]:
    """A package, or None where it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return None

"""Runs and sweeps as data frames."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import pandas as pd

from .command import Option, OrreryError, optional, options, run

TABLES = (
    "equity",
    "positions",
    "fills",
    "orders",
    "trades",
    "funding",
    "liquidations",
    "plots",
    "log",
    "markets",
)


def frames(path: str) -> Dict[str, pd.DataFrame]:
    """Tables of an npz file of ``orrery export``: UTC times, categories for text."""
    with np.load(path, allow_pickle=False) as arrays:
        columns: Dict[str, Dict[str, Any]] = {name: {} for name in TABLES}
        for key in arrays.files:
            table, column = key.split(".", 1)
            columns.setdefault(table, {})[column] = _column(arrays[key])
    return {name: pd.DataFrame(table) for name, table in columns.items()}


def _column(values: np.ndarray) -> Any:
    if values.dtype.kind == "M":
        return pd.DatetimeIndex(values.astype("datetime64[ns]")).tz_localize("UTC")
    if values.dtype.kind == "U":
        words = [word for word in pd.unique(values) if word != ""]
        # Empty text is unknown, as null in Parquet.
        return pd.Categorical(values, categories=words)
    return values


class Run:
    """A recorded run. ``tables`` has a data frame for each name of ``TABLES``."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._tables: Optional[Dict[str, pd.DataFrame]] = None

    @property
    def tables(self) -> Dict[str, pd.DataFrame]:
        if self._tables is None:
            self._tables = self._read()
        return self._tables

    def _read(self) -> Dict[str, pd.DataFrame]:
        ready = os.path.join(self.folder, "run.npz")
        if os.path.exists(ready) and not os.path.exists(os.path.join(self.folder, "run.json")):
            return frames(ready)
        if optional("pyarrow") is None:
            written = run(["export", self.folder, "--format=npz"])
            return frames(written["files"][0])
        written = run(["export", self.folder, "--format=parquet"])
        names = [os.path.splitext(os.path.basename(file))[0] for file in written["files"]]
        return {name: pd.read_parquet(file) for name, file in zip(names, written["files"])}

    @property
    def report(self) -> Dict[str, Any]:
        """``report.json``: figures of each strategy, assumptions, hashes."""
        with open(os.path.join(self.folder, "report.json"), encoding="utf-8") as file:
            report: Dict[str, Any] = json.load(file)
            return report

    @property
    def summary(self) -> Dict[str, Any]:
        """Exact figures of the first strategy, as decimal text."""
        summary: Dict[str, Any] = self.report["strategies"][0]["summary"]
        return summary

    @property
    def metrics(self) -> Dict[str, Any]:
        return self.report["strategies"][0]["metrics"] or {}

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name in TABLES:
            return self.tables[name]
        raise AttributeError(name)

    def __repr__(self) -> str:
        return f"Run({self.folder!r})"


def open_run(folder: str) -> Run:
    """A run that ``orrery backtest`` wrote."""
    if not os.path.isdir(folder):
        raise OrreryError(f"{folder}: no such folder")
    return Run(folder)


def backtest(
    strategy: Union[str, Sequence[str]],
    *,
    data: Optional[str] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    **more: Option,
) -> Run:
    """Runs strategy files. Options are those of ``orrery backtest``: ``warm_up='1h'``."""
    files = [strategy] if isinstance(strategy, str) else list(strategy)
    words = options({"data": data, "param": parameters, **more})
    return Run(run(["backtest", *files, *words])["folder"])


class Sweep:
    """``trials`` is a data frame of parameters and figures; ``result`` the object of the command."""

    def __init__(self, result: Dict[str, Any]) -> None:
        self.result = result
        self.trials = _trials(result)

    def __repr__(self) -> str:
        return f"Sweep({len(self.trials)} trials)"


def _trials(result: Mapping[str, Any]) -> pd.DataFrame:
    """One row for each trial: parameters, figures, and the reason of one that failed."""
    rows: List[Dict[str, Any]] = []
    for trial in result["all"]:
        parameters = {name: _number(text) for name, text in trial["parameters"].items()}
        figures = {name: _number(value) for name, value in (trial["figures"] or {}).items()}
        own = {name: trial[name] for name in ("number", "budget", "score", "error")}
        rows.append({**own, **parameters, **figures})
    return pd.DataFrame(rows)


def _number(value: Any) -> Any:
    """Decimal text as a number; other text, such as a hash, as it is."""
    if not isinstance(value, str):
        return value
    try:
        return int(value) if value.lstrip("-").isdigit() and len(value) < 16 else float(value)
    except ValueError:
        return value


def sweep(
    strategy: str,
    *,
    data: str,
    vary: Mapping[str, str],
    trials: int = 64,
    **more: Option,
) -> Sweep:
    """Searches parameters. ``vary={'fast': '3:9:1'}``; options are those of ``orrery sweep``."""
    words = options({"data": data, "vary": vary, "trials": trials, **more})
    return Sweep(run(["sweep", strategy, *words]))

"""Runs, sweeps and walk-forwards as data frames."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from .command import Option, OrreryError, Path, markets_of, optional, options, run

TABLES = (
    "equity",
    "positions",
    "fills",
    "orders",
    "trades",
    "open_trades",
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


def same(frame: pd.DataFrame) -> pd.DataFrame:
    """The dtypes of ``frames``, whichever reader of Parquet: its version decides on its own."""
    columns = {}
    for name, values in frame.items():
        if isinstance(values.dtype, pd.DatetimeTZDtype):
            columns[name] = values.dt.tz_convert("UTC").astype("datetime64[ns, UTC]")
        elif values.dtype == object or isinstance(values.dtype, pd.StringDtype):
            words = [word for word in pd.unique(values) if isinstance(word, str)]
            columns[name] = pd.Series(_categories(values, words))
        else:
            columns[name] = values
    return pd.DataFrame(columns)


def _categories(values: Any, words: Any) -> pd.Categorical:
    """Categories are objects also if there are none: pandas 3 joins those of equal dtypes only."""
    return pd.Categorical(values, categories=pd.Index(words, dtype=object))


def _column(values: np.ndarray) -> Any:
    if values.dtype.kind == "M":
        return pd.DatetimeIndex(values.astype("datetime64[ns]")).tz_localize("UTC")
    if values.dtype.kind == "U":
        words = [word for word in pd.unique(values) if word != ""]
        # Empty text is unknown, as null in Parquet.
        known = np.where(values == "", None, values.astype(object))
        return _categories(known, words)
    return values


def _is_older(file: str, other: str) -> bool:
    return os.path.exists(other) and os.path.getmtime(file) < os.path.getmtime(other)


class Run:
    """A recorded run. ``tables`` has a data frame for each name of ``TABLES``."""

    def __init__(self, folder: Path) -> None:
        self.folder = os.fspath(folder)
        self._tables: Optional[Dict[str, pd.DataFrame]] = None

    @property
    def tables(self) -> Dict[str, pd.DataFrame]:
        if self._tables is None:
            self._tables = self._read()
        return self._tables

    def _read(self) -> Dict[str, pd.DataFrame]:
        ready = os.path.join(self.folder, "run.npz")
        recorded = os.path.join(self.folder, "run.json")
        # ``run_strategy`` writes it after the run.
        if os.path.exists(ready) and not _is_older(ready, recorded):
            return frames(ready)
        if optional("pyarrow") is None:
            written = run(["export", self.folder, "--format=npz"])
            return frames(written["files"][0])
        written = run(["export", self.folder, "--format=parquet"])
        names = [os.path.splitext(os.path.basename(file))[0] for file in written["files"]]
        return {name: same(pd.read_parquet(file)) for name, file in zip(names, written["files"])}

    @property
    def report(self) -> Dict[str, Any]:
        """``report.json``: figures of each strategy, assumptions, hashes."""
        path = os.path.join(self.folder, "report.json")
        if not os.path.exists(path):
            raise OrreryError(f"{self.folder}: no report.json in it; orrery report writes one")
        with open(path, encoding="utf-8") as file:
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


def concat(runs: Mapping[str, Run], table: str) -> pd.DataFrame:
    """One table of several runs, with their names in the first column, ``run``.

    Text stays a category: plain ``pd.concat`` makes objects of columns with other categories.
    """
    if table not in TABLES:
        raise OrreryError(f"no table {table}; tables are {', '.join(TABLES)}")
    if not runs:
        raise OrreryError("concat: no run is given")
    parts = {name: run.tables[table] for name, run in runs.items()}
    first = next(iter(parts.values()))
    names = pd.Categorical(
        [name for name, part in parts.items() for _ in range(len(part))], categories=list(parts)
    )
    columns: Dict[str, Any] = {"run": names}
    for column in first.columns:
        series = [part[column] for part in parts.values()]
        if isinstance(first[column].dtype, pd.CategoricalDtype):
            columns[column] = union_categoricals([one.array for one in series])
        else:
            columns[column] = pd.concat(series, ignore_index=True)
    return pd.DataFrame(columns)


def open_run(folder: Path) -> Run:
    """A run that ``orrery backtest`` wrote."""
    if not os.path.isdir(folder):
        raise OrreryError(f"{folder}: no such folder")
    if not any(os.path.exists(os.path.join(folder, name)) for name in ("run.json", "run.npz")):
        raise OrreryError(f"{folder}: no run; orrery backtest writes run.json")
    return Run(folder)


def write_candles(
    folder: Path,
    candles: Mapping[str, pd.DataFrame],
    *,
    replace: bool = False,
    **more: Option,
) -> str:
    """Writes data frames of OHLCV as a dataset, by symbol, and returns its folder.

    Options are those of ``orrery data import``: ``interval='1h'``, ``tick=0.1, lot=0.001``.
    """
    markets = markets_of(candles)
    if not markets:
        raise OrreryError("write_candles: no market; give data frames by symbol")
    with tempfile.TemporaryDirectory(prefix="orrery-candles-") as scratch:
        # A trial first: after an error in a later market, the folder is as it was.
        trial = [os.path.join(scratch, "trial")] if len(markets) > 1 else []
        for out in (*trial, folder):
            for i, market in enumerate(markets):
                how = {"add": True} if i > 0 else {"replace": replace}
                words = options({"symbol": market["symbol"], "out": out, **how, **more})
                _import_candles(market, os.path.join(scratch, f"market-{i}.json"), words)
    return os.fspath(folder)


def _import_candles(market: Mapping[str, Any], file: str, words: List[str]) -> None:
    with open(file, "w", encoding="utf-8") as opened:
        json.dump(market["candles"], opened)
    try:
        run(["data", "import", "ccxt-ohlcv", file, *words])
    except OrreryError as error:
        # The file is gone when its name is read.
        place = f"candles of {market['symbol']}"
        text = str(error).replace(file, place).replace(os.path.basename(file), place)
        raise OrreryError(text) from None


def backtest(
    strategy: Union[Path, Sequence[Path]],
    *,
    data: Optional[Path] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    **more: Option,
) -> Run:
    """Runs strategy files. Options are those of ``orrery backtest``: ``warm_up='1h'``."""
    given = [strategy] if isinstance(strategy, (str, os.PathLike)) else strategy
    files = [os.fspath(file) for file in given]
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
    strategy: Path,
    *,
    data: Path,
    vary: Mapping[str, str],
    trials: int = 64,
    **more: Option,
) -> Sweep:
    """Searches parameters. ``vary={'fast': '3:9:1'}``; options are those of ``orrery sweep``."""
    words = options({"data": data, "vary": vary, "trials": trials, **more})
    return Sweep(run(["sweep", os.fspath(strategy), *words]))


class WalkForward:
    """``windows`` is a data frame with a row for each test; ``result`` the object of the command."""

    def __init__(self, result: Dict[str, Any]) -> None:
        self.result = result
        self.windows = _windows(result)

    @property
    def efficiency(self) -> Optional[float]:
        """Mean score out of sample ÷ mean score in sample; None if undefined."""
        efficiency: Optional[float] = self.result["efficiency"]
        return efficiency

    @property
    def metrics(self) -> Dict[str, Any]:
        """Figures of the joined tests."""
        return self.result["outOfSample"] or {}

    def __repr__(self) -> str:
        return f"WalkForward({len(self.windows)} windows)"


def _windows(result: Mapping[str, Any]) -> pd.DataFrame:
    """One row for each window: its times, the parameters that were selected, scores, figures."""
    rows: List[Dict[str, Any]] = []
    for one in result["windows"]:
        times = {
            name: pd.Timestamp(one["window"][key], unit="us", tz="UTC")
            for name, key in (
                ("train_from", "trainFromUs"),
                ("train_to", "trainToUs"),
                ("test_from", "testFromUs"),
                ("test_to", "testToUs"),
            )
        }
        scores = {
            "trials": one["trials"],
            "train_score": one["trainScore"],
            "test_score": one["testScore"],
        }
        parameters = {name: _number(text) for name, text in (one["parameters"] or {}).items()}
        figures = {name: _number(value) for name, value in (one["test"] or {}).items()}
        rows.append({**times, **scores, **parameters, **figures})
    return pd.DataFrame(rows)


def walk_forward(
    strategy: Path,
    *,
    data: Path,
    train: str,
    test: str,
    vary: Mapping[str, str],
    **more: Option,
) -> WalkForward:
    """Searches parameters in ``train='40d'`` and trades the next ``test='20d'``, and so on.

    Options are those of ``orrery walkforward``.
    """
    words = options({"data": data, "train": train, "test": test, "vary": vary, **more})
    return WalkForward(run(["walkforward", os.fspath(strategy), *words]))

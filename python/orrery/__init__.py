"""Backtests of Orrery from Python.

Runs and sweeps start the ``orrery`` command; their tables are read as data frames. ``Environment``
and ``ParallelEnvironment`` have the interfaces of gymnasium and PettingZoo, and ``Strategy`` trades
in a backtest. Guide: docs/PYTHON.md.
"""

try:
    import numpy  # noqa: F401
    import pandas  # noqa: F401
except ImportError as error:
    raise ImportError(f"orrery needs numpy and pandas; {error.name} is missing") from None

from .command import OrreryError
from .environment import Environment, ParallelEnvironment
from .runs import Run, Sweep, WalkForward, backtest, concat, open_run, sweep, walk_forward
from .runs import write_candles
from .sizing import fixed_fraction, kelly, volatility_target
from .strategy import Context, Result, Strategy, run_strategy

__all__ = [
    "Context",
    "Environment",
    "OrreryError",
    "ParallelEnvironment",
    "Result",
    "Run",
    "Strategy",
    "Sweep",
    "WalkForward",
    "backtest",
    "concat",
    "fixed_fraction",
    "kelly",
    "open_run",
    "run_strategy",
    "sweep",
    "volatility_target",
    "walk_forward",
    "write_candles",
]

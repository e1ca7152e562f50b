"""Backtests of Orrery from Python.

Runs and sweeps start the ``orrery`` command; their tables are read as data frames. ``Environment``
and ``ParallelEnvironment`` have the interfaces of gymnasium and PettingZoo, and ``Strategy`` trades
in a backtest. Guide: docs/PYTHON.md.
"""

from .command import OrreryError
from .environment import Environment, ParallelEnvironment
from .runs import Run, Sweep, backtest, open_run, sweep
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
    "backtest",
    "open_run",
    "run_strategy",
    "sweep",
]

"""Sizes of positions: the functions of ``orrery/strategy`` with the same results.

A size is a number in units of the base; ``context.size(…)`` makes text of it. It is at least 0, and
0 if the edge or the equity is not positive.
"""

from __future__ import annotations

import math
from typing import Optional


def fixed_fraction(
    equity: float,
    fraction: float,
    price: float,
    stop: Optional[float] = None,
    max_leverage: float = math.inf,
) -> float:
    """Size that loses ``fraction`` of equity at ``stop``; without a stop, size worth it."""
    _above("price", price)
    _at_least("fraction", fraction)
    if stop is not None:
        _above("stop", stop)
    risk = price if stop is None else abs(price - stop)
    if risk == 0:
        raise ValueError("fixed_fraction: the stop is at the price")
    return _limited(_number("equity", equity) * fraction / risk, equity, price, max_leverage)


def volatility_target(
    equity: float, target: float, volatility: float, price: float, max_leverage: float = 1.0
) -> float:
    """equity × target ÷ volatility ÷ price; both volatilities are of one period, such as a year."""
    _above("price", price)
    _at_least("target", target)
    _at_least("volatility", volatility)
    _number("equity", equity)
    # Without volatility any size has the target, so the limit decides.
    wanted = 0.0 if target == 0 else target / volatility if volatility > 0 else math.inf
    return _limited(equity * min(wanted, max_leverage) / price, equity, price, max_leverage)


def kelly(
    *,
    win_rate: Optional[float] = None,
    payoff: Optional[float] = None,
    mean: Optional[float] = None,
    variance: Optional[float] = None,
    cap: float = 0.25,
    share: float = 0.5,
) -> float:
    """Fraction of equity by Kelly, from 0 to ``cap``; half of it unless ``share`` is given.

    Of bets: ``win_rate`` and ``payoff`` (average win ÷ average loss). Of returns: ``mean`` and
    ``variance`` of one period.
    """
    _at_least("cap", cap)
    _at_least("share", share)
    if win_rate is not None and payoff is not None:
        _above("payoff", payoff)
        if not 0 <= win_rate <= 1:
            raise ValueError(f"win_rate {win_rate}: must be from 0 to 1")
        full = win_rate - (1 - win_rate) / payoff
    elif mean is not None and variance is not None:
        _above("variance", variance)
        full = _number("mean", mean) / variance
    else:
        raise ValueError("kelly: needs win_rate and payoff, or mean and variance")
    return min(cap, max(0.0, full * share))


def _limited(size: float, equity: float, price: float, max_leverage: float) -> float:
    if not max_leverage >= 0:
        raise ValueError(f"max_leverage {max_leverage}: must be at least 0")
    largest = math.inf if max_leverage == math.inf else equity * max_leverage / price
    return max(0.0, min(size, largest))


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} {value}: must be a finite number")
    return float(value)


def _above(name: str, value: float) -> None:
    if not _number(name, value) > 0:
        raise ValueError(f"{name} {value}: must be above 0")


def _at_least(name: str, value: float) -> None:
    if _number(name, value) < 0:
        raise ValueError(f"{name} {value}: must be at least 0")

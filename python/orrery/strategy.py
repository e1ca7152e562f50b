"""A strategy in Python, which trades in a backtest of a local process."""

from __future__ import annotations

import math
import re
from collections import deque
from typing import Any, Deque, Dict, List, Mapping, Optional, Sequence, Tuple

from .command import Bridge, OrreryError, library_options
from .runs import Run

_HANDLERS = {
    "on_start": "onStart",
    "on_book": "onBook",
    "on_trade": "onTrade",
    "on_bar": "onBar",
    "on_fill": "onFill",
    "on_order": "onOrder",
    "on_timer": "onTimer",
    "on_funding": "onFunding",
    "on_mark": "onMark",
    "on_index": "onIndex",
    "on_liquidation": "onLiquidation",
    "on_account": "onAccount",
    "on_data": "onData",
    "on_stop": "onStop",
}
_HISTORY = 500


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def _row(value: Any) -> Any:
    """An update with names of Python: ``timeUs`` is ``time_us``."""
    if isinstance(value, dict):
        return {_snake(key): _row(field) for key, field in value.items()}
    if isinstance(value, list):
        return [_row(one) for one in value]
    return value


class Context:
    """Actions of a strategy. Their replies arrive in ``on_reply`` with the ticket."""

    def __init__(self) -> None:
        self.now = 0
        self.warming_up = False
        #: Equity at the last delivered marks; None unless ``keeps_equity``.
        self.equity: Optional[float] = None
        #: Terms of the markets: symbol, tick_size, lot_size, min_quantity, fees.
        self.markets: List[Dict[str, Any]] = []
        self.account = ""
        self._actions: List[List[Any]] = []
        self._tickets = 0
        self._lengths: List[int] = []
        self._bars: Dict[Tuple[str, int], Deque[Dict[str, Any]]] = {}
        self._books: Dict[str, Dict[str, Any]] = {}

    @property
    def symbol(self) -> str:
        return str(self.markets[0]["symbol"])

    def history(
        self, count: int = _HISTORY, symbol: Optional[str] = None, length: Optional[float] = None
    ) -> List[Dict[str, Any]]:
        """The last bars that were delivered, oldest first; needs ``on_bar``.

        ``length`` is in seconds; without it, that of the first of ``bars``.
        """
        if count < 1:
            raise ValueError(f"history({count}): must be at least 1")
        chosen = round((self._lengths or [0])[0] if length is None else length * 1e6)
        if chosen not in self._lengths:
            known = ", ".join(f"{one / 1e6:g}" for one in self._lengths)
            raise ValueError(f"history: no bars of {chosen / 1e6:g} s; bars is ({known})")
        return list(self._bars.get((symbol or self.symbol, chosen), ()))[-count:]

    def book(self, symbol: Optional[str] = None) -> Optional[Dict[str, Any]]:
        """The last book that was delivered, or None; needs ``on_book``."""
        return self._books.get(symbol or self.symbol)

    def size(self, value: float, symbol: Optional[str] = None) -> str:
        """Decimal text on a lot, rounded toward zero."""
        lot = str(self._terms(symbol)["lot_size"])
        return _steps(math.floor(abs(value) / float(lot) + 1e-9), lot, value < 0)

    def price(self, value: float, symbol: Optional[str] = None) -> str:
        """Decimal text on the nearest tick."""
        tick = str(self._terms(symbol)["tick_size"])
        return _steps(round(value / float(tick)), tick, False)

    def submit(self, side: str, size: str, **order: Any) -> int:
        """Places an order; fields as in TypeScript: ``price``, ``post_only``, ``tag``, …"""
        intent = {_camel(name): value for name, value in order.items() if value is not None}
        return self._ask("submit", {"side": side, "size": str(size), **intent})

    def cancel(self, order_id: str) -> int:
        return self._ask("cancel", order_id)

    def cancel_all(self, symbol: Optional[str] = None) -> int:
        return self._ask("cancelAll", symbol)

    def set_timer(self, name: str, after: float) -> None:
        """Calls ``on_timer(name)`` after some seconds."""
        self._actions.append(["timer", name, round(after * 1e6)])

    def log(self, text: str) -> None:
        self._actions.append(["log", text])

    def plot(self, name: str, value: float, **options: str) -> None:
        shown = None if value is None or not math.isfinite(value) else value
        self._actions.append(["plot", name, shown, options])

    def _ask(self, name: str, value: Any) -> int:
        self._tickets += 1
        self._actions.append([name, self._tickets, value])
        return self._tickets

    def _terms(self, symbol: Optional[str]) -> Dict[str, Any]:
        for market in self.markets:
            if symbol is None or market["symbol"] == symbol:
                return market
        raise ValueError(f"no market {symbol} in this run")

    def _take(self) -> List[List[Any]]:
        actions, self._actions = self._actions, []
        return actions


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


def _steps(count: int, step: str, negative: bool) -> str:
    scale = len(step.split(".")[1]) if "." in step else 0
    digits = str(count * int(step.replace(".", ""))).rjust(scale + 1, "0")
    text = digits if scale == 0 else f"{digits[:-scale]}.{digits[-scale:]}"
    return f"-{text}" if negative and count > 0 else text


class Strategy:
    """Subclass it and define the handlers: ``on_bar(self, bar, context)`` and others of
    ``docs/PYTHON.md``. ``on_start``, ``on_stop`` have the context only."""

    name = "python"
    #: Lengths of the bars, s.
    bars: Sequence[float] = (60.0,)
    #: Time before trading, s.
    warm_up: float = 0.0
    book_depth: int = 1
    keeps_equity: bool = False


class Result(Run):
    """A finished run: ``info`` has hashes, summary and metrics; tables need ``out``."""

    def __init__(self, folder: Optional[str], info: Dict[str, Any]) -> None:
        super().__init__(folder or "")
        self.info = info

    def _read(self) -> Dict[str, Any]:
        if self.folder == "":
            raise OrreryError("the run kept no tables: give out, a folder")
        return super()._read()


def run_strategy(strategy: Strategy, *, out: Optional[str] = None, **options: Any) -> Result:
    """Runs a strategy; ``options`` are those of ``backtest`` of the library, such as ``data``."""
    handlers = [wire for name, wire in _HANDLERS.items() if hasattr(strategy, name)]
    bridge = Bridge(
        {
            "kind": "strategy",
            "name": strategy.name,
            "handlers": sorted({*handlers, "onStart"}),
            "barsUs": [round(length * 1e6) for length in strategy.bars],
            "warmUpUs": round(strategy.warm_up * 1e6),
            "bookDepth": strategy.book_depth,
            "keeps": {"equity": True} if strategy.keeps_equity else {},
            "options": library_options(options),
            "out": out,
        }
    )
    context = Context()
    context._lengths = [round(length * 1e6) for length in strategy.bars]
    names = {wire: name for name, wire in _HANDLERS.items()}
    try:
        while True:
            message = bridge.receive()
            if "done" in message:
                return Result(out, message["done"])
            _handle(strategy, context, names, message)
            bridge.send({"actions": context._take()})
    finally:
        bridge.close()


def _handle(
    strategy: Strategy, context: Context, names: Mapping[str, str], message: Mapping[str, Any]
) -> None:
    context.now = message["now"]
    context.warming_up = message.get("warmingUp", False)
    context.equity = message.get("equity")
    handler = message["handler"]
    if handler == "onReply":
        reply = getattr(strategy, "on_reply", None)
        if reply is not None:
            reply(message["ticket"], _row(message.get("value")), message.get("refusal"), context)
        return
    if handler == "onStart":
        context.markets = _row(message["markets"])
        context.account = message["account"]
    call = getattr(strategy, names[handler], None)
    if "update" not in message:
        if call is not None:
            call(context)
        return
    update = _row(message["update"])
    if handler == "onBar":
        key = (update["symbol"], update["interval_us"])
        context._bars.setdefault(key, deque(maxlen=_HISTORY)).append(update)
    elif handler == "onBook":
        context._books[update["symbol"]] = update
    if call is not None:
        call(update, context)

"""A strategy in Python, which trades in a backtest of a local process."""

from __future__ import annotations

import difflib
import inspect
import math
import os
import re
import shutil
import tempfile
import weakref
from collections import deque
from typing import Any, Deque, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .command import Bridge, OrreryError, Path, camel, library_options
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
#: Fields of an order beside side and size, and those that are prices.
ORDER = (
    *("price", "symbol", "order_type", "ioc", "post_only", "reduce_only", "client_id"),
    *("trigger_price", "trailing_percent", "period_ms", "parent_order_id"),
    *("take_profit", "stop_loss", "expires_at", "tag"),
)
_PRICES = ("price", "trigger_price", "take_profit", "stop_loss")


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
        bars = list(self._bars.get((symbol or self.symbol, chosen), ()))
        return [dict(bar) for bar in bars[-count:]]

    def book(self, symbol: Optional[str] = None) -> Optional[Dict[str, Any]]:
        """The last book that was delivered, or None; needs ``on_book``."""
        return self._books.get(symbol or self.symbol)

    def size(self, value: float, symbol: Optional[str] = None) -> str:
        """Decimal text on a lot, rounded toward zero."""
        lot = str(self._terms(symbol)["lot_size"])
        value = _finite("size", value)
        return _steps(math.floor(abs(value) / float(lot) + 1e-9), lot, value < 0)

    def price(self, value: float, symbol: Optional[str] = None) -> str:
        """Decimal text on the nearest tick."""
        tick = str(self._terms(symbol)["tick_size"])
        return _steps(round(_finite("price", value) / float(tick)), tick, False)

    def submit(self, side: str, size: Union[str, float], **order: Any) -> int:
        """Places an order; other fields are those of ``ORDER``: ``price``, ``post_only``, …

        A size that is a number is rounded to the lot, a price to the tick. Text is sent as it is.
        """
        if side not in ("buy", "sell"):
            raise ValueError(f"submit: side {side!r} must be 'buy' or 'sell'")
        unknown = [name for name in order if name not in ORDER]
        if unknown:
            raise TypeError(f"submit: no field {unknown[0]!r}; fields are {', '.join(ORDER)}")
        symbol = order.get("symbol")
        fields = {name: value for name, value in order.items() if value is not None}
        for name in _PRICES:
            if name in fields and not isinstance(fields[name], str):
                fields[name] = self.price(fields[name], symbol)
        intent = {camel(name): value for name, value in fields.items()}
        return self._ask("submit", {"side": side, "size": self._amount(size, symbol), **intent})

    def _amount(self, size: Union[str, float], symbol: Optional[str]) -> str:
        self._terms(symbol)
        if not isinstance(size, str):
            if not size > 0 or not math.isfinite(size):
                raise ValueError(f"submit: size {size!r} must be above 0")
            amount = self.size(size, symbol)
            if float(amount) == 0:
                lot = self._terms(symbol)["lot_size"]
                raise ValueError(f"submit: size {size!r} is below one lot, {lot}")
            return amount
        if not re.fullmatch(r"\d+(\.\d+)?", size):
            raise ValueError(f"submit: size {size!r} must be a number or decimal text")
        return size

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
        known = ", ".join(str(market["symbol"]) for market in self.markets)
        raise ValueError(f"no market {symbol} in this run; markets are {known}")

    def _take(self) -> List[List[Any]]:
        actions, self._actions = self._actions, []
        return actions


def _finite(name: str, value: float) -> float:
    """A number of any type, such as ``Decimal``."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} {number}: must be a finite number")
    return number


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
    """A finished run: ``info`` has hashes, summary and metrics."""

    def __init__(self, folder: Path, info: Dict[str, Any]) -> None:
        super().__init__(folder)
        self.info = info


def _handlers(strategy: Strategy) -> List[str]:
    """Names of the handlers as in the protocol; a method that resembles one is an error."""
    if isinstance(strategy, type):
        name = strategy.__name__
        raise TypeError(f"run_strategy: {name} is a class; give an object, {name}()")
    if not isinstance(strategy, Strategy):
        raise TypeError(f"run_strategy: {strategy!r} is no orrery.Strategy")
    known = [*_HANDLERS, "on_reply"]
    for name in dir(strategy):
        if name.startswith("on") and name not in known and callable(getattr(strategy, name)):
            near = difflib.get_close_matches(_snake(name).lower(), known, 1, 0.75)
            if near:
                raise OrreryError(f"{strategy.name}: {name} is no handler; is {near[0]} meant?")
        elif name in known and inspect.iscoroutinefunction(getattr(strategy, name)):
            raise TypeError(f"{strategy.name}: {name} is async; a handler is a plain function")
    return sorted({"onStart", *(wire for name, wire in _HANDLERS.items() if hasattr(strategy, name))})


def run_strategy(strategy: Strategy, *, out: Optional[Path] = None, **options: Any) -> Result:
    """Runs a strategy; ``options`` are those of ``backtest`` of the library, such as ``data``.

    ``out`` is the folder of the report. Without it, tables are kept as long as the result is.
    """
    handlers = _handlers(strategy)
    if out is not None:
        return _run(strategy, handlers, os.fspath(out), options)
    folder = tempfile.mkdtemp(prefix="orrery-")
    try:
        result = _run(strategy, handlers, folder, options)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


def _lengths(strategy: Strategy) -> List[int]:
    """Lengths of the bars, us."""
    try:
        return [round(length * 1e6) for length in strategy.bars]
    except (TypeError, ValueError, OverflowError):
        found = f"{strategy.name}: bars {strategy.bars!r}"
        raise TypeError(f"{found}: must be lengths in seconds, such as (60.0,)") from None


def _run(
    strategy: Strategy, handlers: List[str], out: str, options: Mapping[str, Any]
) -> Result:
    lengths = _lengths(strategy)
    bridge = Bridge(
        {
            "kind": "strategy",
            "name": strategy.name,
            "handlers": handlers,
            "barsUs": lengths,
            "warmUpUs": round(strategy.warm_up * 1e6),
            "bookDepth": strategy.book_depth,
            "keeps": {"equity": True} if strategy.keeps_equity else {},
            "options": library_options(options),
            "out": out,
        }
    )
    context = Context()
    context._lengths = lengths
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
        refusal = message.get("refusal")
        if reply is not None:
            reply(message["ticket"], _row(message.get("value")), refusal, context)
        elif refusal is not None:
            # Nobody else would learn of it.
            context.log(f"ticket {message['ticket']}: refused, {refusal}")
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
    if handler == "onData":
        update["row"] = message["update"]["row"]
    if handler == "onBar":
        key = (update["symbol"], update["interval_us"])
        context._bars.setdefault(key, deque(maxlen=_HISTORY)).append(dict(update))
    elif handler == "onBook":
        context._books[update["symbol"]] = update
    if call is not None:
        call(update, context)

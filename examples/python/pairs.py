"""Pairs trading: when the ratio of two markets is far from its mean, trades its return::

    orrery data sample --out sample --days 120
    python3 examples/python/pairs.py sample
"""

import math
import sys

import numpy as np

import orrery


class Pairs(orrery.Strategy):
    name = "pairs"
    bars = (3600.0,)
    window, enter, leave, notional = 120, 2.0, 0.5, 4000.0
    warm_up = window * 3600.0

    def __init__(self):
        self.closes = {}
        self.ratios = []
        self.positions = {}
        #: 1: long the first and short the second market; -1: the opposite.
        self.side = 0

    def on_bar(self, bar, context):
        self.closes[bar["symbol"]] = bar
        first, second = (self.closes.get(market["symbol"]) for market in context.markets[:2])
        # The ratio is that of two closes of the same time.
        if first is None or second is None or first["time_us"] != second["time_us"]:
            return
        self.ratios.append(math.log(first["close"] / second["close"]))
        del self.ratios[: -self.window]
        if len(self.ratios) < self.window or context.warming_up:
            return
        deviation = np.std(self.ratios)
        distance = 0.0 if deviation == 0 else (self.ratios[-1] - np.mean(self.ratios)) / deviation
        wanted = self.side
        if abs(distance) > self.enter:
            wanted = -int(np.sign(distance))
        elif abs(distance) < self.leave:
            wanted = 0
        if wanted == self.side:
            return
        self.side = wanted
        self.hold(first, wanted * self.notional, context)
        self.hold(second, -wanted * self.notional, context)

    def hold(self, bar, value, context):
        symbol = bar["symbol"]
        change = value / bar["close"] - self.positions.get(symbol, 0.0)
        size = context.size(abs(change), symbol)
        if float(size) > 0:
            context.submit("buy" if change > 0 else "sell", size, symbol=symbol)

    def on_fill(self, fill, context):
        self.positions[fill["symbol"]] = float(fill["position"])


def main(data, **options):
    return orrery.run_strategy(Pairs(), data=data, **options)


if __name__ == "__main__":
    print(main(sys.argv[1], out="reports/pairs-py").info["summary"])

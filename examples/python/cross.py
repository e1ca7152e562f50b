"""Crossing of two moving averages: the strategy of ``orrery new strategy --template sma``.

Both give the same fills and hashes (``npm run test:python``)::

    orrery data sample --out sample --days 120
    python3 examples/python/cross.py sample
"""

import sys

import orrery


class Cross(orrery.Strategy):
    name = "cross"
    bars = (3600.0,)
    fast, slow, notional = 12, 48, 5000.0
    warm_up = slow * 3600.0

    def __init__(self):
        self.position = 0.0
        self.side = 0

    def on_bar(self, bar, context):
        closes = [one["close"] for one in context.history(self.slow)]
        if bar["symbol"] != context.symbol or context.warming_up or len(closes) < self.slow:
            return
        wanted = 1 if mean(closes[-self.fast :]) > mean(closes) else -1
        if wanted == self.side:
            return
        self.side = wanted
        change = wanted * self.notional / bar["close"] - self.position
        context.submit("buy" if change > 0 else "sell", context.size(abs(change)))

    def on_fill(self, fill, context):
        self.position = float(fill["position"])


def mean(values):
    return sum(values) / len(values)


def main(data, **options):
    return orrery.run_strategy(Cross(), data=data, **options)


if __name__ == "__main__":
    print(main(sys.argv[1], out="reports/cross-py").info["summary"])

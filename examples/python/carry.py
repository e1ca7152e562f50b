"""Funding carry: short the market with the higher average rate, long the other one::

    orrery data sample --out sample --days 120
    python3 examples/python/carry.py sample
"""

import sys

import orrery


class Carry(orrery.Strategy):
    name = "carry"
    notional, rates, enter, leave = 4000.0, 9, 1e-4, 0.2e-4

    def __init__(self):
        self.closes = {}
        self.seen = {}
        self.positions = {}
        self.settled = 0

    def on_start(self, context):
        if len(context.markets) < 2:
            raise ValueError("carry needs at least two markets")
        self.symbols = [market["symbol"] for market in context.markets]

    def on_bar(self, bar, context):
        self.closes[bar["symbol"]] = bar["close"]

    def on_funding(self, funding, context):
        rates = self.seen.setdefault(funding["symbol"], [])
        rates.append(float(funding["rate"]))
        del rates[: -self.rates]
        # Decides once all markets have settled at this time.
        ready = all(
            len(self.seen.get(one, ())) == self.rates and one in self.closes
            for one in self.symbols
        )
        if not ready or funding["symbol"] != self.symbols[-1]:
            return
        if funding["time_us"] == self.settled:
            return
        self.settled = funding["time_us"]
        average = {one: sum(self.seen[one]) / self.rates for one in self.symbols}
        low, high = min(average, key=average.get), max(average, key=average.get)
        difference = average[high] - average[low]
        if any(self.positions.values()) and difference >= self.leave:
            return
        for one in self.symbols:
            sign = 0 if difference < self.enter else (one == low) - (one == high)
            self.hold(one, sign * self.notional / self.closes[one], context)

    def hold(self, symbol, size, context):
        change = size - self.positions.get(symbol, 0.0)
        text = context.size(abs(change), symbol)
        if float(text) > 0:
            context.submit("buy" if change > 0 else "sell", text, symbol=symbol)

    def on_fill(self, fill, context):
        self.positions[fill["symbol"]] = float(fill["position"])


def main(data, **options):
    return orrery.run_strategy(Carry(), data=data, **options)


if __name__ == "__main__":
    print(main(sys.argv[1], out="reports/carry-py").info["summary"])

"""A market maker: one post-only order on each side, moved against its inventory::

    python3 examples/python/maker.py data/btcusdt-20240808
"""

import sys

import orrery

LIVE = ("new", "partiallyFilled", "pending")


class Maker(orrery.Strategy):
    name = "maker"
    size, half_spread, skew, most, refresh = 0.01, 1e-4, 0.5e-4, 5, 0.5
    #: Loss at which it closes its position and stops.
    max_loss = 1000.0

    def __init__(self):
        self.book = None
        self.units = 0.0
        #: Paid and received for fills, with fees.
        self.cash = 0.0
        self.stopped = False
        self.waits = False
        #: Side: price of its order, and its id once the exchange has replied.
        self.orders = {"buy": None, "sell": None}
        #: Ticket of a request: side of its order.
        self.asked = {}

    def on_book(self, book, context):
        if book["symbol"] == context.symbol and book["mid"] is not None:
            self.book = book
            self.wake(context)

    def wake(self, context):
        if not self.waits and not self.stopped:
            self.waits = True
            context.set_timer("refresh", self.refresh)

    def on_timer(self, name, context):
        self.waits = False
        if self.book is None or context.warming_up:
            return
        mid = self.book["mid"]
        if self.cash + self.units * self.size * mid < -self.max_loss:
            self.stop(context)
            return
        tick = float(context.markets[0]["tick_size"])
        centre = mid * (1 - self.units * self.skew)
        half = mid * self.half_spread
        bid, ask = (float(self.book[side]["price"]) for side in ("bid", "ask"))
        self.quote("buy", min(centre - half, ask - tick), context)
        self.quote("sell", max(centre + half, bid + tick), context)

    def stop(self, context):
        self.stopped = True
        context.log(f"stopped after a loss of {self.max_loss:g}")
        context.cancel_all()
        if self.units != 0:
            side = "sell" if self.units > 0 else "buy"
            context.submit(side, context.size(abs(self.units) * self.size), reduce_only=True)

    def quote(self, side, target, context):
        order = self.orders[side]
        price = context.price(target)
        full = self.units >= self.most if side == "buy" else self.units <= -self.most
        if order is None:
            if not full:
                size = context.size(self.size)
                ticket = context.submit(side, size, price=price, post_only=True)
                self.orders[side] = {"price": price, "id": None}
                self.asked[ticket] = side
        elif order["id"] is not None and (full or order["price"] != price):
            # It may be filled before the cancel arrives; either way it is gone then.
            self.asked[context.cancel(order["id"])] = side
            order["id"] = None

    def on_reply(self, ticket, value, refusal, context):
        side = self.asked.pop(ticket, None)
        if side is None:
            return
        # The reply to an order is a list of one; to a cancel it is whether the order was there.
        order = value[0] if isinstance(value, list) else None
        if order is not None and order["status"] in LIVE:
            self.orders[side]["id"] = order["order_id"]
        else:
            self.orders[side] = None
        self.wake(context)

    def on_order(self, order, context):
        if order["status"] in LIVE:
            return
        for side, one in self.orders.items():
            if one is not None and one["id"] == order["order_id"]:
                self.orders[side] = None
                self.wake(context)

    def on_fill(self, fill, context):
        self.units = float(fill["position"]) / self.size
        self.cash -= float(fill["price"]) * float(fill["quantity"]) + float(fill["fee"])

    def on_stop(self, context):
        context.cancel_all()


def main(data, **options):
    return orrery.run_strategy(Maker(), data=data, **options)


if __name__ == "__main__":
    print(main(sys.argv[1], out="reports/maker-py").info["summary"])

/* eslint-disable @typescript-eslint/no-non-null-assertion */
/**
 * The slow, obvious exchange: docs/RULES.md in arrays and full scans, sharing nothing with the engine but types. It is
 * held against the engine command by command (test/property). Where it and the engine differ, one of them breaks a rule.
 *
 * Every figure is a bigint: ticks, lots, Quanta, microseconds. Nothing is cached, nothing is incremental.
 */
import type { Command, PlaceOrder } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';

export interface RefOrder {
  id: number;
  sub: number;
  market: number;
  lots: bigint;
  left: bigint;
  price: bigint;
  reduceOnly: boolean;
  clientId: string | null;
  originator: string | null;
  originatorFee: bigint;
  expiresMs: bigint;
  status: string;
  reason: string | null;
  resting: boolean;
  /** Place in the queue of its price: lower is earlier. */
  arrival: number;
}

export interface RefSub {
  account: string;
  index: number;
  system: boolean;
  cash: bigint;
  netDeposits: bigint;
  positions: { lots: bigint; cost: bigint }[];
  usedNonces: bigint[];
  nonceFloor: bigint;
}

export interface RefMarket {
  spec: MarketSpec;
  index: bigint | null;
  indexAt: bigint;
  mark: bigint | null;
  last: bigint | null;
  ema: bigint;
  emaAt: bigint;
  /** Basis in half ticks over stretches of time since the last step. */
  stretches: { from: bigint; to: bigint; basis: bigint | null }[];
  basis: bigint | null;
  basisSince: bigint;
  seen: string;
  markDue: bigint | null;
}

const M = 1_000_000n;
const abs = (n: bigint): bigint => (n < 0n ? -n : n);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const sign = (n: bigint): bigint => (n > 0n ? 1n : n < 0n ? -1n : 0n);
const floor = (n: bigint, d: bigint): bigint => (n - (((n % d) + d) % d)) / d;
const ceil = (n: bigint, d: bigint): bigint => -floor(-n, d);

export class ReferenceExchange {
  now: bigint;
  supply = 0n;
  subs: RefSub[] = [];
  markets: RefMarket[] = [];
  orders: RefOrder[] = [];
  accountNonces = new Map<string, { used: bigint[]; floor: bigint }>();
  selfTrade = new Map<string, number>();
  nextId = 1;
  private arrivals = 0;
  private readonly config: ExchangeConfig;

  constructor(config: ExchangeConfig) {
    this.config = config;
    this.now = BigInt(config.genesisTimeUs);
    for (const account of [
      config.clsAccount,
      config.insuranceAccount,
      config.treasuryAccount,
      '0x0000000000000000000000000000000000000001',
      '0x0000000000000000000000000000000000000002',
    ]) {
      this.open(account, 0).system = true;
    }
  }

  apply(command: Command): string {
    this.runTo(BigInt(command.timeUs));
    const outcome = this.carryOut(command);
    this.settleQuotes();
    return outcome;
  }

  private carryOut(c: Command): string {
    switch (c.kind) {
      case 'advanceTime':
        return 'ok';
      case 'listMarket':
        this.markets.push({
          spec: c.spec,
          index: null,
          indexAt: 0n,
          mark: null,
          last: null,
          ema: 0n,
          emaAt: this.now - (this.now % M),
          stretches: [],
          basis: null,
          basisSince: this.now,
          seen: '0 0 null',
          markDue: null,
        });
        return 'ok';
      case 'deposit': {
        if (c.amount <= 0n) return 'amount_not_positive';
        const sub = this.open(c.account, c.subaccountIndex);
        sub.cash += c.amount;
        sub.netDeposits += c.amount;
        this.supply += c.amount;
        return 'ok';
      }
      case 'withdraw': {
        const sub = this.find(c.account, c.subaccountIndex);
        if (sub === undefined) return 'subaccount_not_found';
        if (c.amount <= 0n) return 'amount_not_positive';
        if (c.amount > this.withdrawable(sub)) return 'amount_exceeds_available';
        sub.cash -= c.amount;
        sub.netDeposits -= c.amount;
        this.supply -= c.amount;
        return 'ok';
      }
      case 'transfer': {
        const from = this.find(c.from, c.fromIndex);
        if (from === undefined) return 'subaccount_not_found';
        if (this.now > c.expiresAtMs * 1000n) return 'request_expired';
        if (c.signer !== c.from) return 'transfer_not_allowed';
        const scope = this.nonceScope(c.signer);
        if (scope.used.includes(c.nonce)) return 'nonce_used';
        if (c.nonce <= scope.floor) return 'nonce_too_low';
        const to = this.find(c.to, c.toIndex);
        if (from.system || to?.system === true || to === from) return 'transfer_not_allowed';
        if (c.amount <= 0n) return 'amount_not_positive';
        if (c.amount > (c.market === null ? this.withdrawable(from) : 0n)) {
          return 'amount_exceeds_available';
        }
        useNonce(scope, c.nonce);
        const credited = this.open(c.to, c.toIndex);
        from.cash -= c.amount;
        from.netDeposits -= c.amount;
        credited.cash += c.amount;
        credited.netDeposits += c.amount;
        return 'ok';
      }
      case 'setSelfTradeMode':
        if (!this.subs.some((sub) => sub.account === c.account)) return 'account_not_found';
        if (c.mode === null) this.selfTrade.delete(c.account);
        else this.selfTrade.set(c.account, c.mode);
        return 'ok';
      case 'setIndex': {
        const market = this.markets[c.market];
        if (market === undefined) return 'market_not_found';
        this.stretch(market);
        market.index = BigInt(c.priceTicks);
        market.indexAt = this.now;
        market.basis = this.basisOf(market);
        this.recompute(market);
        return 'ok';
      }
      case 'placeOrder':
        return this.place(c);
      case 'cancelOrder': {
        const order = this.orders.find(({ id }) => id === c.orderId);
        if (order === undefined || !isLive(order)) return 'order_not_found';
        this.end(order, 'cancelled', 'user');
        return 'ok';
      }
      case 'cancelAll':
        for (const order of this.orders) {
          if (!isLive(order) || order.sub !== c.subaccount) continue;
          if (c.market === null || order.market === c.market) this.end(order, 'cancelled', 'user');
        }
        return 'ok';
      default:
        throw new Error(`the reference has no rule for ${c.kind}`);
    }
  }

  // Orders -----------------------------------------------------------------------------------------------------------

  private place(c: PlaceOrder): string {
    const market = this.markets[c.market];
    if (market === undefined) return 'market_not_found';
    const sub = this.subs[c.subaccount];
    if (sub === undefined || sub.system) return 'subaccount_not_found';
    if (this.now > c.expiresAtMs * 1000n) return 'request_expired';
    // Nobody is a delegate here.
    if (c.delegate !== null) return 'not_delegated';
    if (sub.usedNonces.includes(c.nonce)) return 'nonce_used';
    if (c.nonce <= sub.nonceFloor) return 'nonce_too_low';
    const taken = this.orders.some(
      (order) =>
        isLive(order) &&
        order.clientId !== null &&
        order.clientId === c.clientId &&
        this.subs[order.sub]!.account === sub.account,
    );
    if (taken) return 'client_id_in_use';
    const lots = BigInt(c.lots);
    const price = BigInt(c.priceTicks);
    if (price <= 0n) return 'price_not_positive';
    if (price > BigInt(market.spec.maxPriceTicks)) return 'price_too_high';
    if (lots === 0n) return 'quantity_zero';
    if (abs(lots) < BigInt(market.spec.minLots)) return 'quantity_below_minimum';
    if (abs(lots) > BigInt(market.spec.maxLots)) return 'quantity_above_maximum';
    if (c.ioc && c.postOnly) return 'flags_conflict';
    if (c.originatorFeePpm > this.config.maxOriginatorFeePpm) return 'originator_fee_too_high';
    if (c.originator === null && c.originatorFeePpm !== 0) return 'originator_missing';

    const scope = { used: sub.usedNonces, floor: sub.nonceFloor };
    useNonce(scope, c.nonce);
    sub.nonceFloor = scope.floor;
    const order: RefOrder = {
      id: this.nextId++,
      sub: c.subaccount,
      market: c.market,
      lots,
      left: abs(lots),
      price,
      reduceOnly: c.reduceOnly,
      clientId: c.clientId,
      originator: c.originator,
      originatorFee: BigInt(c.originatorFeePpm),
      expiresMs: c.expiresAtMs,
      status: 'new',
      reason: null,
      resting: false,
      arrival: 0,
    };
    this.orders.push(order);
    const rejection = this.rejection(order, c, market, sub);
    if (rejection !== null) {
      order.status = 'rejected';
      order.reason = rejection;
      return 'ok';
    }
    const stop = this.match(order, market, sub);
    if (order.left === 0n) {
      order.status = 'filled';
    } else if (stop !== null) this.end(order, 'cancelled', stop);
    else if (c.ioc) this.end(order, 'cancelled', 'iocRemainder');
    else {
      order.resting = true;
      order.arrival = this.arrivals++;
    }
    return 'ok';
  }

  private rejection(order: RefOrder, c: PlaceOrder, market: RefMarket, sub: RefSub): string | null {
    const { mark, spec } = market;
    if (mark === null) return 'priceBand';
    const band = BigInt(spec.priceBandPpm);
    if (!c.ioc && abs(order.price - mark) * M > mark * band * 10n) return 'priceBand';
    const side = sign(order.lots);
    const best = this.queue(c.market, -side)[0];
    if (c.postOnly && best !== undefined && (order.price - best.price) * side >= 0n) {
      return 'postOnlyWouldCross';
    }
    const position = this.position(sub, c.market).lots;
    if (c.reduceOnly && sign(position) !== -side) return 'reduceOnly';
    const open = this.orders.filter(
      (other) => other.resting && other.sub === order.sub && other.market === c.market,
    );
    if (!c.ioc && open.length >= spec.maxOpenOrders) return 'openOrders';
    if (c.reduceOnly) return null;
    const opening = abs(position + order.lots) - abs(position);
    if (opening > 0n && this.openInterest(c.market) + opening > BigInt(spec.maxOpenInterestLots)) {
      return 'openInterest';
    }
    return this.affordsOrder(order, c, market, sub) ? null : 'insufficientMargin';
  }

  private match(order: RefOrder, market: RefMarket, sub: RefSub): string | null {
    const side = sign(order.lots);
    const id = order.market;
    const mark = market.mark!;
    const band = mark + side * floor(mark * BigInt(market.spec.priceBandPpm), M);
    while (order.left > 0n) {
      const reducible = max(0n, -side * this.position(sub, id).lots);
      if (order.reduceOnly && reducible === 0n) return 'reduceOnly';
      const maker = this.queue(id, -side)[0];
      if (maker === undefined || (maker.price - order.price) * side > 0n) return null;
      if ((maker.price - band) * side > 0n) return 'priceBand';
      const makerSub = this.subs[maker.sub]!;
      if (makerSub.account === sub.account) {
        const mode = this.selfTrade.get(sub.account) ?? this.config.selfTradeExpire;
        if (mode !== 0) this.end(maker, 'cancelled', 'selfTrade');
        if (mode !== 1) return 'selfTrade';
        continue;
      }
      let size = min(order.left, maker.left);
      if (order.reduceOnly) {
        size = min(size, reducible);
      }
      if (maker.reduceOnly) {
        size = min(size, max(0n, side * this.position(makerSub, id).lots));
        if (size === 0n) {
          this.end(maker, 'cancelled', 'reduceOnly');
          continue;
        }
      }
      if (this.isFrozen(market)) {
        const bothReduce =
          side * this.position(makerSub, id).lots >= size &&
          -side * this.position(sub, id).lots >= size;
        if (!bothReduce) return 'insufficientMargin';
      }
      const takerFees = this.fees(order, market, 'taker', size, maker.price);
      const makerFees = this.fees(maker, market, 'maker', size, maker.price);
      if (!this.affordsFill(sub, id, side * size, maker.price, takerFees, 0n)) {
        return 'insufficientMargin';
      }
      const taken = maker.reduceOnly ? 0n : size;
      if (!this.affordsFill(makerSub, id, -side * size, maker.price, makerFees, taken)) {
        this.end(maker, 'cancelled', 'insufficientMargin');
        continue;
      }
      const growth =
        max(this.position(sub, id).lots + side * size, 0n) -
        max(this.position(sub, id).lots, 0n) +
        max(this.position(makerSub, id).lots - side * size, 0n) -
        max(this.position(makerSub, id).lots, 0n);
      if (growth > 0n && this.openInterest(id) + growth > BigInt(market.spec.maxOpenInterestLots)) {
        return 'openInterest';
      }
      this.fill(order, sub, maker, makerSub, market, size, takerFees, makerFees);
    }
    return null;
  }

  private fill(
    taker: RefOrder,
    takerSub: RefSub,
    maker: RefOrder,
    makerSub: RefSub,
    market: RefMarket,
    size: bigint,
    takerFees: Fees,
    makerFees: Fees,
  ): void {
    const id = taker.market;
    const side = sign(taker.lots);
    const makerBefore = this.position(makerSub, id).lots;
    const takerBefore = this.position(takerSub, id).lots;
    this.move(makerSub, id, -side * size, maker.price);
    this.move(takerSub, id, side * size, maker.price);
    market.last = maker.price;
    for (const [order, sub, fees] of [
      [maker, makerSub, makerFees],
      [taker, takerSub, takerFees],
    ] as const) {
      order.left -= size;
      order.status = order.left === 0n ? 'filled' : 'partiallyFilled';
      sub.cash -= fees.protocol + fees.originator;
      if (fees.originator > 0n) this.open(order.originator!, 0).cash += fees.originator;
    }
    if (maker.left === 0n) maker.resting = false;
    const net = makerFees.protocol + takerFees.protocol;
    const vault = floor(net * BigInt(this.config.vaultFeeSharePpm), M);
    const insurance = floor(net * BigInt(this.config.insuranceFeeSharePpm), M);
    this.subs[0]!.cash += vault;
    this.subs[1]!.cash += insurance;
    this.subs[2]!.cash += net - vault - insurance;
    this.closeReduceOnly(maker.sub, id, makerBefore);
    this.closeReduceOnly(taker.sub, id, takerBefore);
  }

  private move(sub: RefSub, id: number, lots: bigint, price: bigint): void {
    const unit = BigInt(this.markets[id]!.spec.quantaPerTickLot);
    const position = this.position(sub, id);
    const closed = sign(position.lots) === -sign(lots) ? min(abs(position.lots), abs(lots)) : 0n;
    if (closed > 0n) {
      const taken = ceil(position.cost * closed, abs(position.lots));
      sub.cash += sign(position.lots) * closed * price * unit - taken;
      position.cost -= taken;
    }
    position.cost += (lots + sign(position.lots) * closed) * price * unit;
    position.lots += lots;
  }

  private closeReduceOnly(sub: number, market: number, before: bigint): void {
    const after = this.position(this.subs[sub]!, market).lots;
    if (before === 0n || sign(after) === sign(before)) return;
    for (const order of this.orders) {
      if (order.resting && order.reduceOnly && order.sub === sub && order.market === market) {
        this.end(order, 'cancelled', 'reduceOnly');
      }
    }
  }

  private end(order: RefOrder, status: string, reason: string): void {
    order.status = status;
    order.reason = reason;
    order.resting = false;
  }

  /** Resting orders of a side, best first. */
  queue(market: number, side: bigint): RefOrder[] {
    return this.orders
      .filter((order) => order.resting && order.market === market && sign(order.lots) === side)
      .sort((a, b) =>
        a.price === b.price ? a.arrival - b.arrival : Number((b.price - a.price) * side),
      );
  }

  private fees(
    order: RefOrder,
    market: RefMarket,
    role: 'maker' | 'taker',
    size: bigint,
    price: bigint,
  ): Fees {
    const value = size * price * BigInt(market.spec.quantaPerTickLot);
    const rate = BigInt(role === 'maker' ? market.spec.makerFeePpm : market.spec.takerFeePpm);
    return {
      protocol: ceil(value * rate, M),
      originator: ceil(value * order.originatorFee, M),
    };
  }

  // Margin -----------------------------------------------------------------------------------------------------------

  position(sub: RefSub, market: number): { lots: bigint; cost: bigint } {
    return (sub.positions[market] ??= { lots: 0n, cost: 0n });
  }

  private value(market: number, lots: bigint): bigint {
    const { mark, spec } = this.markets[market]!;
    return lots * (mark ?? 0n) * BigInt(spec.quantaPerTickLot);
  }

  private required(market: number, value: bigint, which: 'initial' | 'maintenance'): bigint {
    const { tiers } = this.markets[market]!.spec;
    let sum = 0n;
    tiers.forEach((tier, i) => {
      const top = tiers[i + 1]?.floorQuanta ?? value;
      const inTier = max(0n, min(value, top) - tier.floorQuanta);
      sum +=
        inTier * BigInt(which === 'initial' ? tier.initialMarginPpm : tier.maintenanceMarginPpm);
    });
    return ceil(sum, M);
  }

  private restingLots(sub: RefSub, market: number, side: bigint): bigint {
    return this.restingOf(sub, market)
      .filter((order) => sign(order.lots) === side && !order.reduceOnly)
      .reduce((sum, order) => sum + order.left, 0n);
  }

  private restingOf(sub: RefSub, market: number): RefOrder[] {
    return this.orders.filter(
      (order) => order.resting && this.subs[order.sub] === sub && order.market === market,
    );
  }

  equity(sub: RefSub): bigint {
    return this.markets.reduce((sum, _market, id) => {
      const position = this.position(sub, id);
      return sum + (position.lots === 0n ? 0n : this.value(id, position.lots) - position.cost);
    }, sub.cash);
  }

  initial(sub: RefSub): bigint {
    return this.markets.reduce((sum, _market, id) => {
      const { lots } = this.position(sub, id);
      const worst = max(
        abs(lots + this.restingLots(sub, id, 1n)),
        abs(lots - this.restingLots(sub, id, -1n)),
      );
      return sum + this.required(id, this.value(id, worst), 'initial');
    }, 0n);
  }

  maintenance(sub: RefSub): bigint {
    return this.markets.reduce((sum, _market, id) => {
      const { lots } = this.position(sub, id);
      return sum + this.required(id, this.value(id, abs(lots)), 'maintenance');
    }, 0n);
  }

  withdrawable(sub: RefSub): bigint {
    const notional = this.markets.reduce(
      (sum, _market, id) => sum + this.value(id, abs(this.position(sub, id).lots)),
      0n,
    );
    const held = max(this.initial(sub), ceil(notional, 10n));
    return max(0n, min(sub.cash, this.equity(sub) - held));
  }

  private affordsOrder(order: RefOrder, c: PlaceOrder, market: RefMarket, sub: RefSub): boolean {
    const id = order.market;
    const { lots } = this.position(sub, id);
    const side = sign(order.lots);
    const sameSide = this.restingLots(sub, id, side);
    if (sign(lots) === -side && sameSide + abs(order.lots) <= abs(lots)) return true;
    // As if it rested already.
    const pretend: RefOrder = { ...order, resting: true, left: abs(order.lots) };
    this.orders.push(pretend);
    let free = this.equity(sub) - this.initial(sub);
    this.orders.pop();
    this.markets.forEach((other, otherId) => {
      const unit = BigInt(other.spec.quantaPerTickLot);
      for (const resting of this.restingOf(sub, otherId)) {
        if (resting.reduceOnly) continue;
        const rate = max(BigInt(other.spec.makerFeePpm), 0n) + resting.originatorFee;
        free -= ceil(resting.left * resting.price * unit * rate, M);
        free -= max(0n, sign(resting.lots) * (resting.price - other.mark!)) * resting.left * unit;
      }
    });
    const unit = BigInt(market.spec.quantaPerTickLot);
    const highest = max(max(BigInt(market.spec.makerFeePpm), BigInt(market.spec.takerFeePpm)), 0n);
    const feePrice = c.ioc ? market.mark! : order.price;
    free -= ceil(abs(order.lots) * feePrice * unit * (highest + order.originatorFee), M);
    if (!c.ioc) free -= max(0n, side * (order.price - market.mark!)) * abs(order.lots) * unit;
    return free >= 0n;
  }

  private affordsFill(
    sub: RefSub,
    id: number,
    lots: bigint,
    price: bigint,
    fees: Fees,
    offBook: bigint,
  ): boolean {
    const market = this.markets[id]!;
    const unit = BigInt(market.spec.quantaPerTickLot);
    const position = this.position(sub, id);
    const equityBefore = this.equity(sub);
    const maintenanceBefore = this.maintenance(sub);
    const equityAfter =
      equityBefore + lots * (market.mark! - price) * unit - fees.protocol - fees.originator;
    const before = position.lots;
    position.lots += lots;
    const worst = this.worst(sub, id, lots > 0n ? offBook : 0n, lots < 0n ? offBook : 0n);
    const initialAfter =
      this.initialWithout(sub, id) + this.required(id, this.value(id, worst), 'initial');
    const maintenanceAfter = this.maintenance(sub);
    position.lots = before;
    if (equityAfter >= initialAfter) return true;
    const reduces = sign(before) === -sign(lots) && abs(lots) <= abs(before);
    return (
      reduces &&
      equityAfter >= 0n &&
      equityAfter * maintenanceBefore >= equityBefore * maintenanceAfter
    );
  }

  private worst(sub: RefSub, id: number, offBids: bigint, offAsks: bigint): bigint {
    const { lots } = this.position(sub, id);
    return max(
      abs(lots + this.restingLots(sub, id, 1n) - offBids),
      abs(lots - this.restingLots(sub, id, -1n) + offAsks),
    );
  }

  private initialWithout(sub: RefSub, except: number): bigint {
    return this.markets.reduce(
      (sum, _market, id) =>
        id === except
          ? sum
          : sum + this.required(id, this.value(id, this.worst(sub, id, 0n, 0n)), 'initial'),
      0n,
    );
  }

  openInterest(market: number): bigint {
    return this.subs.reduce((sum, sub) => sum + max(0n, this.position(sub, market).lots), 0n);
  }

  // Time and mark ----------------------------------------------------------------------------------------------------

  private runTo(until: bigint): void {
    for (;;) {
      const dues: bigint[] = [];
      for (const order of this.orders) if (isLive(order)) dues.push(order.expiresMs * 1000n + 1n);
      for (const market of this.markets) if (market.markDue !== null) dues.push(market.markDue);
      const due = dues.reduce((least, time) => min(least, time), until + 1n);
      if (due > until) break;
      this.now = max(this.now, due);
      for (const order of this.orders) {
        if (isLive(order) && order.expiresMs * 1000n + 1n <= this.now) {
          this.end(order, 'expired', 'expired');
        }
      }
      for (const market of this.markets) {
        if (market.markDue === null || market.markDue > this.now) continue;
        market.markDue = null;
        this.stretch(market);
        this.recompute(market);
      }
      this.settleQuotes();
    }
    this.now = until;
  }

  private settleQuotes(): void {
    this.markets.forEach((market, id) => {
      const seen = this.touch(id).map(String).join(' ');
      if (seen === market.seen) return;
      this.stretch(market);
      market.seen = seen;
      market.basis = this.basisOf(market);
      market.markDue ??= this.now - (this.now % M) + M;
    });
  }

  private touch(id: number): [bigint, bigint, bigint | null] {
    return [
      this.queue(id, 1n)[0]?.price ?? 0n,
      this.queue(id, -1n)[0]?.price ?? 0n,
      this.markets[id]!.last,
    ];
  }

  private seenTouch(market: RefMarket): { bid: bigint; ask: bigint } {
    const [bid = '0', ask = '0'] = market.seen.split(' ');
    return { bid: BigInt(bid), ask: BigInt(ask) };
  }

  private basisOf(market: RefMarket): bigint | null {
    const { bid, ask } = this.seenTouch(market);
    if (bid === 0n || ask === 0n || market.index === null) return null;
    const room = floor(2n * market.index * BigInt(market.spec.maxMarkDeviationPpm), M);
    return max(-room, min(room, bid + ask - 2n * market.index));
  }

  /** Notes the basis until now, and steps the EMA at the last whole second. */
  private stretch(market: RefMarket): void {
    if (this.now > market.basisSince) {
      market.stretches.push({ from: market.basisSince, to: this.now, basis: market.basis });
      market.basisSince = this.now;
    }
    const boundary = this.now - (this.now % M);
    if (boundary <= market.emaAt) return;
    let sum = 0n;
    let time = 0n;
    const beyond: RefMarket['stretches'] = [];
    for (const { from, to, basis } of market.stretches) {
      const until = min(to, boundary);
      if (basis !== null && until > from) {
        sum += basis * (until - from);
        time += until - from;
      }
      if (to > boundary) beyond.push({ from: max(from, boundary), to, basis });
    }
    if (time > 0n) {
      const weight = min(150n, (boundary - market.emaAt) / M);
      const sample = (sum * 500_000n) / time;
      market.ema += ((sample - market.ema) * weight) / 150n;
    }
    market.stretches = beyond;
    market.emaAt = boundary;
  }

  private isFrozen(market: RefMarket): boolean {
    return market.index === null || this.now - market.indexAt > BigInt(this.config.indexStaleUs);
  }

  private recompute(market: RefMarket): void {
    if (this.isFrozen(market) || market.index === null) return;
    const { bid, ask } = this.seenTouch(market);
    const third = median([bid, ask, market.last ?? 0n].filter((price) => price > 0n));
    const legs = [market.index, max(1n, market.index + floor(market.ema, M))];
    const raw = median(third === null ? legs : [...legs, third])!;
    const room = floor(market.index * BigInt(market.spec.maxMarkDeviationPpm), M);
    market.mark = max(market.index - room, min(market.index + room, raw));
  }

  // Accounts ---------------------------------------------------------------------------------------------------------

  find(account: string, index: number): RefSub | undefined {
    return this.subs.find((sub) => sub.account === account && sub.index === index);
  }

  private open(account: string, index: number): RefSub {
    const found = this.find(account, index);
    if (found !== undefined) return found;
    const made: RefSub = {
      account,
      index,
      system: false,
      cash: 0n,
      netDeposits: 0n,
      positions: [],
      usedNonces: [],
      nonceFloor: -1n,
    };
    this.subs.push(made);
    return made;
  }

  private nonceScope(account: string): { used: bigint[]; floor: bigint } {
    let scope = this.accountNonces.get(account);
    if (scope === undefined) {
      scope = { used: [], floor: -1n };
      this.accountNonces.set(account, scope);
    }
    return scope;
  }
}

interface Fees {
  readonly protocol: bigint;
  readonly originator: bigint;
}

function isLive(order: RefOrder): boolean {
  return ['new', 'partiallyFilled'].includes(order.status);
}

function useNonce(scope: { used: bigint[]; floor: bigint }, nonce: bigint): void {
  scope.used.push(nonce);
  if (scope.used.length <= 1024) return;
  const lowest = scope.used.reduce((a, b) => min(a, b));
  scope.used.splice(scope.used.indexOf(lowest), 1);
  scope.floor = lowest;
}

function median(values: bigint[]): bigint | null {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const [first, second, third] = sorted;
  if (first === undefined || second === undefined) return first ?? null;
  return third === undefined ? floor(first + second, 2n) : second;
}

/**
 * Cost of an order near the limit of its account's margin, where the exact rule decides, beside the
 * same order of a rich account: placed and cancelled with many orders in many markets, with marks
 * that move, in batches, and the first order after a restart. Prints processor time an order in
 * microseconds and the ratio as JSON.
 *
 *     node --expose-gc --import tsx test/bench/admission.ts
 */
import type { NewOrder, PlaceOrder } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { marginSums } from '../../src/engine/margin/margin-sums.ts';
import { crossFree } from '../../src/engine/margin/margin.ts';
import { outcomeCode } from '../../src/engine/refusals.ts';
import type { State } from '../../src/engine/state.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import { quantaOf } from '../../src/num/money.ts';
import {
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG } from './engine-flow.ts';

raiseInliningLimits();

const PRICE = 100_000;
const RICH = 1_000_000_000_000_000n;
/** Below the margin of the fast accept path, and enough for the measured order. */
const SPARE = 900_000n;
const FAR_MS = 9_007_199_254_741n;
const ROUNDS = 5;

interface Shape {
  readonly markets: number;
  readonly ordersEach: number;
  readonly isolated?: boolean;
}

const SHAPES: readonly Shape[] = [
  { markets: 1, ordersEach: 200 },
  { markets: 100, ordersEach: 200 },
  { markets: 100, ordersEach: 200, isolated: true },
  { markets: 1, ordersEach: 990_000 },
];

class Account {
  readonly exchange = new Exchange(CONFIG);
  private atUs: number = CONFIG.genesisTimeUs;
  private nonce = 0n;
  private lastId = 0;
  private readonly subaccount: ReturnType<typeof subaccountId>;
  private readonly shape: Shape;

  constructor(shape: Shape) {
    this.shape = shape;
    for (let i = 0; i < shape.markets; i++) {
      const spec = parseMarketSpec(
        {
          symbol: `M${String(i)}`,
          tickSize: '0.1',
          lotSize: '0.00001',
          initialMargin: '0.05',
          maintenanceMargin: '0.02',
          priceBand: '0.1',
          markSource: 'external',
          maxQuantity: '1000',
          maxOpenOrders: 1_000_000,
          funding: { source: 'external' },
        },
        keccak,
      );
      if (!spec.ok) throw new Error(spec.error);
      this.exchange.apply({ kind: 'listMarket', timeUs: this.at(), spec: spec.value });
      this.index(i);
      this.mark(i, PRICE);
    }
    this.exchange.apply({
      kind: 'deposit',
      timeUs: this.at(),
      account: accountAddress(0),
      subaccountIndex: 0,
      amount: quanta(RICH),
    });
    this.subaccount = subaccountId(this.state.accounts.subaccounts.length - 1);
    for (let i = 0; i < shape.markets; i++) {
      if (shape.isolated !== true) continue;
      this.exchange.apply({
        kind: 'updateMargin',
        timeUs: this.at(),
        subaccount: this.subaccount,
        market: marketId(i),
        isolated: true,
        marginPpm: ppm(60_000),
        nonce: this.nonce++,
        expiresAtMs: FAR_MS,
        delegate: null,
      });
    }
    for (let i = 0; i < shape.markets * shape.ordersEach; i++) {
      const side = i % 2 === 0 ? 1 : -1;
      const away = 1 + (Math.floor(i / shape.markets) % 4999);
      this.place(i % shape.markets, side * (1 + (i % 7)), PRICE - side * away);
    }
  }

  get state(): State {
    return (this.exchange as unknown as { state: State }).state;
  }

  /** Withdraws all but a spare amount, so that the fast path accepts no order. */
  impoverish(): void {
    const { state } = this;
    const owner = state.subaccount(this.subaccount);
    const free = crossFree(state, owner) - quantaOf(marginSums(state, owner).cost);
    const outcome = this.exchange.apply({
      kind: 'withdraw',
      timeUs: this.at(),
      account: accountAddress(0),
      subaccountIndex: 0,
      amount: quanta(free - SPARE),
    });
    if (outcome !== 'ok') throw new Error(`not withdrawn: ${outcomeCode(outcome)}`);
  }

  /** Places an order of one lot in a market and cancels it. */
  placeAndCancel(market: number): void {
    this.place(market, 1, PRICE - 5000);
    this.cancelLast();
  }

  /** Places a batch of 100 orders in a market and cancels them. */
  placeBatch(market: number): void {
    const orders: NewOrder[] = [];
    for (let i = 0; i < 100; i++) {
      const terms = this.order(market, 1, PRICE - 5000);
      orders.push({
        market: terms.market,
        orderType: terms.orderType,
        lots: terms.lots,
        priceTicks: terms.priceTicks,
        ioc: false,
        postOnly: false,
        reduceOnly: false,
        nonce: terms.nonce,
        expiresAtMs: terms.expiresAtMs,
        clientId: null,
        originator: null,
        originatorFeePpm: terms.originatorFeePpm,
        triggerTicks: null,
        trailingPpm: null,
        periodMs: null,
        parent: null,
        attached: false,
      });
    }
    const at = this.at();
    const { subaccount } = this;
    const outcome = this.exchange.apply({
      kind: 'placeOrders',
      timeUs: at,
      subaccount,
      delegate: null,
      orders,
    });
    if (outcome !== 'ok') throw new Error(`no batch: ${outcomeCode(outcome)}`);
    const first = this.lastId + 1;
    this.lastId += 100;
    for (let id = first; id <= this.lastId; id++) this.cancel(id);
  }

  moveMark(i: number): void {
    this.mark(i % this.shape.markets, PRICE + (i % 3) - 1);
  }

  private place(market: number, size: number, price: number): void {
    const outcome = this.exchange.apply(this.order(market, size, price));
    if (outcome !== 'ok') throw new Error(`refused: ${outcomeCode(outcome)}`);
    this.lastId += 1;
  }

  private order(market: number, size: number, price: number): PlaceOrder {
    return {
      kind: 'placeOrder',
      timeUs: this.at(),
      subaccount: this.subaccount,
      market: marketId(market),
      orderType: 'limit',
      lots: lots(size),
      priceTicks: priceTicks(price),
      ioc: false,
      postOnly: false,
      reduceOnly: false,
      nonce: this.nonce++,
      expiresAtMs: FAR_MS,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    };
  }

  /** Cancels the order placed last; throws if margin rejected it. */
  private cancelLast(): void {
    this.cancel(this.lastId);
  }

  private cancel(id: number): void {
    const command = { kind: 'cancelOrder', timeUs: this.at(), orderId: orderId(id) } as const;
    if (this.exchange.apply(command) !== 'ok') throw new Error('the order was not resting');
  }

  private index(market: number): void {
    this.exchange.apply({
      kind: 'setIndex',
      timeUs: this.at(),
      market: marketId(market),
      priceTicks: priceTicks(PRICE),
      text: '10000',
    });
  }

  private mark(market: number, ticks: number): void {
    const at = this.at();
    const id = marketId(market);
    this.exchange.apply({ kind: 'setMark', timeUs: at, market: id, priceTicks: priceTicks(ticks) });
  }

  private at(): ReturnType<typeof timeUs> {
    return timeUs(this.atUs++);
  }
}

function processorUs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const WORK = {
  order: { count: 4000, run: (account: Account) => account.placeAndCancel(0) },
  orderInAnyMarket: {
    count: 4000,
    run: (account: Account, i: number, { markets }: Shape) => account.placeAndCancel(i % markets),
  },
  orderAfterAMark: {
    count: 4000,
    run: (account: Account, i: number) => {
      account.moveMark(i);
      account.placeAndCancel(0);
    },
  },
  batchOf100: { count: 40, run: (account: Account) => account.placeBatch(0) },
} as const;

const figures: Record<string, unknown>[] = [];
for (const shape of SHAPES) {
  const rich = new Account(shape);
  const poor = new Account(shape);
  poor.impoverish();
  for (const [name, { count, run }] of Object.entries(WORK)) {
    const times = { rich: [] as number[], poor: [] as number[] };
    for (let round = -2; round < ROUNDS; round++) {
      for (const [who, account] of [['rich', rich] as const, ['poor', poor] as const]) {
        const us = processorUs(() => {
          for (let i = 0; i < count; i++) run(account, i, shape);
        });
        if (round >= 0) times[who].push(us / count);
      }
    }
    const richUs = median(times.rich);
    const poorUs = median(times.poor);
    figures.push({ ...shape, work: name, richUs, poorUs, ratio: poorUs / richUs });
  }
}
console.log(JSON.stringify(figures, null, 1));

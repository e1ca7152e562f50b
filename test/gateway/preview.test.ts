/**
 * A preview equals what happens when the same request is sent next: refusal, orders, fees, margin
 * and positions. Random worlds have resting orders, positions, brackets, slices and liquidations.
 */
import seedrandom from 'seedrandom';
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/engine/exchange.ts';
import { previewOrders } from '../../src/gateway/preview.ts';
import { TrustOrderIds } from '../../src/gateway/order-ids.ts';
import { marketId, type Address } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { ALICE, BOB, Fixture, order, STRANGER, SYMBOL } from './fixture.ts';

const WORLDS = 3;
const REQUESTS = 50;

type Body = Record<string, unknown>;
interface OrderRecord extends Body {
  readonly status: string;
}

class Previewed extends Fixture {
  readonly ids = new TrustOrderIds(this.engine, keccak);

  constructor() {
    super();
    this.checks = false;
  }

  preview(
    endpoint: 'submitOrder' | 'submitOrders',
    input: unknown,
    as: Address,
    copy: Exchange = this.engine.fork(),
  ) {
    const context = { view: this.engine, nowUs: this.now, keccak, ids: this.ids };
    return previewOrders(context, copy, endpoint, input, { account: as, signer: as });
  }

  read(endpoint: 'getStats' | 'getPositions', account: Address): unknown {
    return this.call(endpoint, { account, subaccountIndex: 0 }, account).body;
  }
}

/** A request that is often, but not always, valid. */
function randomRequest(random: () => number, account: Address) {
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const isSell = random() < 0.5;
  const at = (spread: number): string =>
    (60_000 + Math.round((random() - 0.5) * spread)).toString();
  const quantity = `${isSell ? '-' : ''}${pick('0.05', '0.5', '2', '7', '0.00001', '0')}`;
  const flags = {
    ioc: random() < 0.3,
    postOnly: random() < 0.15,
    reduceOnly: random() < 0.15,
  };
  const kind = pick('limit', 'limit', 'limit', 'stopLoss', 'takeProfit', 'trailingStop', 'twap');
  const terms = {
    account,
    orderType: kind,
    price: pick(at(400), at(400), at(400), '60000.05', '1', '90000'),
    quantity,
    flags,
    ...(random() < 0.2 ? { clientId: pick('a', 'b', 'c') } : {}),
    ...(kind === 'stopLoss' || kind === 'takeProfit' ? { triggerPrice: at(800) } : {}),
    ...(kind === 'trailingStop' ? { trailingPercent: pick('1', '0', '0.5') } : {}),
    ...(kind === 'limit' && random() < 0.3
      ? {
          takeProfit: { triggerPrice: isSell ? '58000' : '62000' },
          stopLoss: { triggerPrice: isSell ? '63000' : '57000' },
        }
      : {}),
  };
  if (kind !== 'twap') return { endpoint: 'submitOrder', body: order(terms) } as const;
  const slice = (): Body => order({ ...terms, period: pick(1000, 60_000) });
  return { endpoint: 'submitOrders', body: { orders: [slice(), slice()] } } as const;
}

const comparable = (orders: readonly unknown[]): unknown[] =>
  (orders as OrderRecord[]).map((one) => ({ ...one }));

interface Seen {
  refused: number;
  rejected: number;
  filled: number;
  differences: string[];
}

/** `planted`: the copy is one command older than the exchange. */
function play(seed: string, planted: boolean): Seen {
  const random = seedrandom.alea(seed);
  const world = new Previewed();
  world.credit(STRANGER, 0, 20_000_000_000n);
  const seen: Seen = { refused: 0, rejected: 0, filled: 0, differences: [] };
  let older = world.engine.fork();
  for (let i = 0; i < REQUESTS; i++) {
    const who = [ALICE, BOB, STRANGER][Math.floor(random() * 3)]!;
    const { endpoint, body } = randomRequest(random, who);
    const hash = (): string => (i % 10 === 0 ? world.engine.stateHash() : world.engine.chainHash());
    const before = hash();
    const shown = world.preview(endpoint, body, who, planted ? older : world.engine.fork());
    expect(hash()).toBe(before);
    const held = { stats: world.read('getStats', who), positions: world.read('getPositions', who) };
    older = world.engine.fork();
    const reply = world.call(endpoint, body, who);
    const sent = reply.status === 200 ? reply.body : [];
    const orders = Array.isArray(sent) ? sent : (sent as { orders: unknown[] }).orders;
    const happened = {
      refusal: reply.status === 200 ? null : { status: reply.status, message: reply.body },
      orders: comparable(orders),
      before: reply.status === 200 ? held : null,
      after:
        reply.status === 200
          ? { stats: world.read('getStats', who), positions: world.read('getPositions', who) }
          : null,
    };
    const predicted = {
      refusal: shown.refusal,
      orders: comparable(shown.orders),
      before: shown.before,
      after: shown.after,
    };
    if (JSON.stringify(predicted) !== JSON.stringify(happened)) {
      seen.differences.push(`${seed} ${String(i)}: ${JSON.stringify([predicted, happened])}`);
    }
    const fees = Number(shown.fee);
    const lots = shown.fills.reduce((sum, { fee }) => sum + Number(fee), 0);
    expect(fees).toBeCloseTo(lots, 9);
    if (reply.status !== 200) seen.refused += 1;
    else if ((orders as OrderRecord[]).some(({ status }) => status === 'rejected'))
      seen.rejected += 1;
    if (shown.fills.length > 0) seen.filled += 1;
    if (random() < 0.1) world.wait(1000);
    if (random() < 0.1) {
      const price = 60_000 + Math.round((random() - 0.5) * 2000);
      world.setIndex(marketId(0), price * 10, String(price));
      older = world.engine.fork();
    }
  }
  return seen;
}

test('a preview is what the request does next, in random worlds', () => {
  const total: Seen = { refused: 0, rejected: 0, filled: 0, differences: [] };
  for (let i = 0; i < WORLDS; i++) {
    const seen = play(`preview ${String(i)}`, false);
    total.refused += seen.refused;
    total.rejected += seen.rejected;
    total.filled += seen.filled;
    total.differences.push(...seen.differences);
  }
  expect(total.differences).toEqual([]);
  // The worlds are not trivial.
  expect(Math.min(total.refused, total.rejected, total.filled)).toBeGreaterThan(7);
});

test('a preview of an older state is seen to differ', () => {
  expect(play('planted', true).differences.length).toBeGreaterThan(3);
});

test('a preview checks rights as the request does, and shows nothing of the account', () => {
  const world = new Previewed();
  const shown = world.preview('submitOrder', order({ account: ALICE }), BOB);
  expect(shown.refusal).toEqual({
    status: 403,
    message: 'Not delegated for account and subaccount',
  });
  expect([shown.before, shown.after]).toEqual([null, null]);
  for (const input of [null, [], 'x', 7, {}, { orders: 1 }, { account: 1 }]) {
    expect(world.preview('submitOrder', input, ALICE).refusal?.status).toBe(400);
    expect(world.preview('submitOrders', input, ALICE).refusal?.status).toBe(400);
  }
});

test('a protective order of a live parent is previewed by its id', () => {
  const world = new Previewed();
  const [parent] = world.call('submitOrder', order({ price: '59000', quantity: '1' })).body as [
    { readonly orderId: string },
  ];
  const leg = order({
    orderType: 'takeProfit',
    quantity: '-1',
    price: '62000',
    triggerPrice: '62000',
    parentOrderId: parent.orderId,
    flags: { ioc: false, postOnly: false, reduceOnly: true },
    symbol: SYMBOL,
  });
  const shown = world.preview('submitOrder', leg, ALICE);
  expect(shown.refusal).toBeNull();
  expect(shown.orders).toEqual(world.call('submitOrder', leg).body);
});

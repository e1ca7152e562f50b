/**
 * Random command sequences with a high density of relevant states: few accounts, few prices around
 * the mark, small collateral, orders that expire at the same instant, nonces out of order.
 */
import fc from 'fast-check';
import type { Command } from '../../src/engine/commands.ts';
import { parseExchangeConfig } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  accountId,
  address,
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';

export const USERS = ['a', 'b', 'c'].map((letter) => address(`0x${letter.repeat(40)}`));
const ORIGINATOR = address(`0x${'9'.repeat(40)}`);
export const START = timeUs(1_700_000_000_300_000);
const MARK = 1000;

function mustSpec(input: unknown) {
  const spec = parseMarketSpec(input, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

export const SPECS = [
  mustSpec({
    symbol: 'ONE',
    tickSize: '0.1',
    lotSize: '0.01',
    initialMargin: '0.1',
    maintenanceMargin: '0.05',
    makerFee: '0.0002',
    takerFee: '0.0005',
    maxOpenOrders: 4,
    maxOpenInterest: '1.5',
    minQuantity: '0.02',
    maxQuantity: '2',
  }),
  mustSpec({
    symbol: 'TWO',
    tickSize: '0.1',
    lotSize: '0.01',
    makerFee: '-0.0001',
    takerFee: '0.0005',
    marginTiers: [
      { notionalFloor: '0', initialMargin: '0.05', maintenanceMargin: '0.02' },
      { notionalFloor: '50', initialMargin: '0.2', maintenanceMargin: '0.1' },
    ],
  }),
];

export function configOf(selfTradeExpire: number) {
  const config = parseExchangeConfig({ selfTradeExpire, indexStaleMs: 4000 }, START);
  if (!config.ok) throw new Error(config.error);
  return config.value;
}

/** A command without its time; `waitUs` passes before it. */
export interface Step {
  readonly waitUs: number;
  readonly command: (atUs: ReturnType<typeof timeUs>, nonce: bigint) => Command;
  readonly text: string;
}

export const OPENING: readonly Step[] = [
  ...SPECS.map((spec) => step(0, (timeUs) => ({ kind: 'listMarket', timeUs, spec }))),
  ...USERS.map((account, i) =>
    step(0, (timeUs) => ({
      kind: 'deposit',
      timeUs,
      account,
      subaccountIndex: 0,
      amount: quanta([40_000_000n, 15_000_000n, 900_000_000n][i] ?? 1n),
    })),
  ),
  ...[0, 1].map((market) =>
    step(0, (timeUs) => ({
      kind: 'setIndex',
      timeUs,
      market: marketId(market),
      priceTicks: priceTicks(MARK),
      text: '100',
    })),
  ),
];

function step(waitUs: number, command: Step['command']): Step {
  const shown = JSON.stringify(command(timeUs(0), 0n), (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return { waitUs, command, text: `+${waitUs} ${shown}` };
}

/** Mostly the first, occasionally one of the others. */
function mostly<T>(usual: fc.Arbitrary<T>, ...odd: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 24, arbitrary: usual },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  );
}

const wait = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 900_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1_000_000, max: 6_000_000 }) },
);
const market = fc.constantFrom(0, 0, 0, 1);
/** Subaccount ids 5, 6, 7 are the users', since five system accounts come first; 3 is the house. */
const subaccount = mostly(fc.constantFrom(6, 7, 8), 3, 99);

const place = fc
  .record({
    wait,
    subaccount,
    market,
    size: mostly(fc.integer({ min: 2, max: 60 }), 0, 1, 201, 150),
    buys: fc.boolean(),
    price: mostly(
      fc.integer({ min: MARK - 12, max: MARK + 12 }),
      1,
      880,
      1130,
      1999,
      2001,
      3000,
      0,
    ),
    flags: fc.constantFrom(
      '',
      '',
      '',
      '',
      '',
      'ioc',
      'post',
      'reduce',
      'reduce',
      'reduce',
      'reduce ioc',
      'ioc post',
    ),
    late: mostly(fc.constant(0n), 1n, 40n),
    expiresInMs: mostly(fc.constantFrom(1_000_000n, 1_000_000n, 2000n), 0n, 400n, -1n),
    clientId: fc.constantFrom(null, null, null, null, 'x', 'y'),
    originatorFee: mostly(fc.constantFrom(0, 0, 500), 1500),
    delegate: mostly(fc.constant(null), 5),
  })
  .map((o) =>
    step(o.wait, (atUs, nonce) => ({
      kind: 'placeOrder',
      timeUs: atUs,
      subaccount: subaccountId(o.subaccount),
      market: marketId(o.market),
      orderType: 'limit',
      lots: lots(o.size === 0 ? 0 : o.buys ? o.size : -o.size),
      priceTicks: priceTicks(o.price),
      ioc: o.flags.includes('ioc'),
      postOnly: o.flags.includes('post'),
      reduceOnly: o.flags.includes('reduce'),
      nonce: nonce > o.late ? nonce - o.late : nonce,
      expiresAtMs: BigInt(atUs) / 1000n + o.expiresInMs,
      delegate: o.delegate === null ? null : accountId(o.delegate),
      clientId: o.clientId,
      originator: o.originatorFee > 0 ? ORIGINATOR : null,
      originatorFeePpm: ppm(o.originatorFee),
    })),
  );

const cancel = fc
  .record({ wait, id: fc.integer({ min: 1, max: 60 }) })
  .map((o) =>
    step(o.wait, (atUs) => ({ kind: 'cancelOrder', timeUs: atUs, orderId: orderId(o.id) })),
  );

const cancelAll = fc
  .record({ wait, subaccount: fc.constantFrom(6, 7, 8), market: fc.constantFrom(null, 0, 1) })
  .map((o) =>
    step(o.wait, (atUs) => ({
      kind: 'cancelAll',
      timeUs: atUs,
      subaccount: subaccountId(o.subaccount),
      market: o.market === null ? null : marketId(o.market),
    })),
  );

const setIndex = fc
  .record({ wait, market, price: fc.integer({ min: MARK - 25, max: MARK + 25 }) })
  .map((o) =>
    step(o.wait, (atUs) => ({
      kind: 'setIndex',
      timeUs: atUs,
      market: marketId(o.market),
      priceTicks: priceTicks(o.price),
      text: String(o.price),
    })),
  );

const money = fc
  .record({
    wait,
    user: fc.constantFrom(...USERS),
    to: fc.constantFrom(...USERS),
    index: fc.constantFrom(0, 0, 0, 1),
    amount: fc.oneof(fc.bigInt({ min: 1n, max: 20_000_000n }), fc.constantFrom(0n, 2_000_000_000n)),
    kind: fc.constantFrom('deposit', 'withdraw', 'transfer', 'transfer'),
  })
  .map((o) =>
    step(o.wait, (atUs, nonce): Command => {
      const amount = quanta(o.amount);
      if (o.kind !== 'transfer') {
        const kind = o.kind === 'deposit' ? 'deposit' : 'withdraw';
        return { kind, timeUs: atUs, account: o.user, subaccountIndex: o.index, amount };
      }
      return {
        kind: 'transfer',
        timeUs: atUs,
        from: o.user,
        fromIndex: o.index,
        to: o.to,
        toIndex: 0,
        amount,
        market: null,
        signer: o.user,
        nonce,
        expiresAtMs: BigInt(atUs) / 1000n + 1000n,
      };
    }),
  );

const mode = fc
  .record({ wait, user: fc.constantFrom(...USERS), mode: fc.constantFrom(null, 0, 1, 2) })
  .map((o) =>
    step(o.wait, (atUs) => ({
      kind: 'setSelfTradeMode',
      timeUs: atUs,
      account: o.user,
      mode: o.mode,
    })),
  );

const advance = wait.map((waitUs) =>
  step(waitUs, (atUs) => ({ kind: 'advanceTime', timeUs: atUs })),
);

/** Unbiased, since edge cases have their own weights here. */
export const anyStep = fc.noBias(
  fc.oneof(
    { weight: 14, arbitrary: place },
    { weight: 3, arbitrary: cancel },
    { weight: 1, arbitrary: cancelAll },
    { weight: 2, arbitrary: setIndex },
    { weight: 2, arbitrary: money },
    { weight: 1, arbitrary: mode },
    { weight: 1, arbitrary: advance },
  ),
);

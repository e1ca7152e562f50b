/** Random lives of accounts under stress: small collateral, marks that jump, isolated positions, funding, the vault, take-profits. */
import fc from 'fast-check';
import type { Command, NewOrder } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { parseExchangeConfig, parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  ppb,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
  type TimeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/ethers-ports.ts';

export const START = timeUs(1_700_000_000_300_000);
const NEVER = 9_007_199_254_741n;
export const USERS = ['a', 'b', 'c', 'd', 'e'].map((letter) => address(`0x${letter.repeat(40)}`));
const FIRST_USER = 5;

function specOf(market: Record<string, unknown>) {
  const spec = parseMarketSpec(
    { tickSize: '0.1', lotSize: '0.01', makerFee: '0.0002', takerFee: '0.0005', ...market },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

/** A market of its own mark and funding, one with a recorded mark and rate, and one whose mark is its last price. */
const SPECS = [
  specOf({
    symbol: 'ONE',
    initialMargin: '0.1',
    maintenanceMargin: '0.05',
    funding: { sampleIntervalMs: 1000, intervalMs: 5000, impactNotional: '20', marginCap: '4' },
    maxMarkDeviation: '0.2',
  }),
  specOf({
    symbol: 'TWO',
    makerFee: '-0.0001',
    markSource: 'external',
    marginTiers: [
      { notionalFloor: '0', initialMargin: '0.05', maintenanceMargin: '0.03' },
      { notionalFloor: '300', initialMargin: '0.2', maintenanceMargin: '0.1' },
    ],
    priceBand: '0.5',
    funding: { source: 'external' },
  }),
  specOf({ symbol: 'THREE', markSource: 'last', indexSource: 'mid', initialMargin: '0.2' }),
];

export interface Step {
  readonly waitUs: number;
  readonly command: (atUs: TimeUs, nonce: bigint) => Command;
}

const step = (waitUs: number, command: Step['command']): Step => ({ waitUs, command });

export function newExchange(): Exchange {
  const config = parseExchangeConfig(
    {
      indexStaleMs: 20_000,
      partialLiquidationNotional: '150',
      liquidationPauseMs: 700,
      minVaultDeposit: '1',
      vaultLockupMs: 3000,
    },
    START,
  );
  if (!config.ok) throw new Error(config.error);
  return new Exchange(config.value);
}

export const OPENING: readonly Step[] = [
  ...SPECS.map((spec) => step(0, (atUs) => ({ kind: 'listMarket', timeUs: atUs, spec }))),
  ...[...USERS, 'insurance' as const].map((account, i) =>
    step(0, (atUs) => ({
      kind: 'deposit',
      timeUs: atUs,
      account: account === 'insurance' ? newExchange().config.insuranceAccount : account,
      subaccountIndex: 0,
      amount: quanta(
        [30_000_000n, 20_000_000n, 60_000_000n, 15_000_000n, 2_000_000_000n, 5_000_000n][i]!,
      ),
    })),
  ),
  ...[0, 1, 2].flatMap((market) => [
    step(0, (atUs: TimeUs): Command => index(atUs, market, 1000)),
    step(0, (atUs: TimeUs): Command => mark(atUs, market, 1000)),
  ]),
];

function index(atUs: TimeUs, market: number, price: number): Command {
  return {
    kind: 'setIndex',
    timeUs: atUs,
    market: marketId(market),
    priceTicks: priceTicks(price),
    text: String(price),
  };
}

function mark(atUs: TimeUs, market: number, price: number): Command {
  return { kind: 'setMark', timeUs: atUs, market: marketId(market), priceTicks: priceTicks(price) };
}

const wait = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 900_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1_000_000, max: 9_000_000 }) },
);
const market = fc.constantFrom(0, 0, 1, 1, 2);
const user = fc.integer({ min: 0, max: USERS.length - 1 });
const near = fc.integer({ min: 960, max: 1040 });

const order = fc
  .record({
    wait,
    user,
    market,
    size: fc.integer({ min: 1, max: 300 }),
    buys: fc.boolean(),
    price: near,
    flags: fc.constantFrom('', '', '', '', 'ioc', 'reduce', 'reduce ioc'),
    protect: fc.constantFrom(false, false, false, true),
  })
  .map((o) =>
    step(o.wait, (atUs, nonce): Command => {
      const side = o.buys ? 1 : -1;
      const own: NewOrder = {
        market: marketId(o.market),
        orderType: 'limit',
        lots: lots(side * o.size),
        priceTicks: priceTicks(o.price),
        ioc: o.flags.includes('ioc'),
        postOnly: false,
        reduceOnly: o.flags.includes('reduce'),
        nonce,
        expiresAtMs: NEVER,
        clientId: null,
        originator: null,
        originatorFeePpm: ppm(0),
        triggerTicks: null,
        trailingPpm: null,
        periodMs: null,
        parent: null,
        attached: false,
      };
      const stop: NewOrder = {
        ...own,
        orderType: 'stopLoss',
        lots: lots(-side * o.size),
        priceTicks: priceTicks(side > 0 ? 1 : 1900),
        ioc: true,
        reduceOnly: true,
        triggerTicks: priceTicks(o.price - side * 15),
        attached: true,
      };
      const subaccount = subaccountId(FIRST_USER + o.user);
      const orders = o.protect && !own.reduceOnly ? [own, stop] : [own];
      return { kind: 'placeOrders', timeUs: atUs, subaccount, delegate: null, orders };
    }),
  );

const price = fc
  .record({
    wait,
    market: fc.constantFrom(0, 1),
    price: fc.oneof(near, near, fc.integer({ min: 700, max: 1300 })),
  })
  .map((o) =>
    step(o.wait, (atUs) => (o.market === 1 ? mark(atUs, 1, o.price) : index(atUs, 0, o.price))),
  );

const funding = fc
  .record({ wait, rate: fc.integer({ min: -30_000_000, max: 30_000_000 }) })
  .map((o) =>
    step(o.wait, (atUs) => ({
      kind: 'settleFunding',
      timeUs: atUs,
      market: marketId(1),
      ratePpb: ppb(o.rate),
    })),
  );

const margin = fc
  .record({
    wait,
    user,
    market,
    isolated: fc.boolean(),
    margin: fc.constantFrom(100_000, 200_000, 500_000, 1_000_000),
  })
  .map((o) =>
    step(o.wait, (atUs, nonce) => ({
      kind: 'updateMargin',
      timeUs: atUs,
      subaccount: subaccountId(FIRST_USER + o.user),
      market: marketId(o.market),
      isolated: o.isolated,
      marginPpm: ppm(o.margin),
      nonce,
      expiresAtMs: NEVER,
      delegate: null,
    })),
  );

const money = fc
  .record({
    wait,
    user,
    to: fc.oneof(user, fc.constant(-1), fc.constant(-1)),
    amount: fc.bigInt({ min: 1n, max: 30_000_000n }),
    kind: fc.constantFrom('deposit', 'withdraw', 'transfer', 'transfer', 'redeem', 'excess'),
    market,
  })
  .map((o) =>
    step(o.wait, (atUs, nonce): Command => {
      const amount = quanta(o.amount);
      const account = USERS[o.user]!;
      if (o.kind === 'deposit' || o.kind === 'withdraw') {
        return { kind: o.kind, timeUs: atUs, account, subaccountIndex: 0, amount };
      }
      const vault = VAULT;
      const other = o.to < 0 ? vault : USERS[o.to]!;
      const redeems = o.kind === 'redeem';
      return {
        kind: 'transfer',
        timeUs: atUs,
        from: redeems ? vault : account,
        fromIndex: 0,
        to: redeems ? account : other,
        toIndex: 0,
        amount,
        market: o.kind === 'excess' ? marketId(o.market) : null,
        signer: account,
        nonce,
        expiresAtMs: NEVER,
      };
    }),
  );
const VAULT = newExchange().config.clsAccount;

const cancelAll = fc.record({ wait, user }).map((o) =>
  step(o.wait, (atUs) => ({
    kind: 'cancelAll',
    timeUs: atUs,
    subaccount: subaccountId(FIRST_USER + o.user),
    market: null,
  })),
);

const advance = wait.map((waitUs) =>
  step(waitUs, (atUs) => ({ kind: 'advanceTime', timeUs: atUs })),
);

export const anyStep = fc.noBias(
  fc.oneof(
    { weight: 18, arbitrary: order },
    { weight: 8, arbitrary: price },
    { weight: 2, arbitrary: funding },
    { weight: 3, arbitrary: margin },
    { weight: 4, arbitrary: money },
    { weight: 1, arbitrary: cancelAll },
    { weight: 2, arbitrary: advance },
  ),
);

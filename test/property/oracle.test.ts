/**
 * Whole random runs in lockstep with the oracle: every kind of command and event, and every
 * reachable refusal and reason. Tables in test/tables and test/engine provoke the others in
 * lockstep. Nonces are tested separately, since a window of 1,024 fills slowly.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { Command, NewOrder } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { END_REASONS, outcomeCode, REFUSALS } from '../../src/engine/refusals.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { CommandGenerator } from '../../src/fuzz/generator.ts';
import { divergenceText } from '../../src/oracle/divergence.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import {
  accountId,
  address,
  lots,
  marketId,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { EFFORT } from '../setup/effort.ts';
import { GROUP_CODES } from '../tables/group-codes.ts';
import { RISK_CODES } from '../engine/refusal-cases.ts';
import { PLAIN_LIMIT } from '../setup/plain-limit.ts';

const COMMANDS = 500;
const reached = new Map<string, number>();
let applied = 0;

function note(what: string): void {
  reached.set(what, (reached.get(what) ?? 0) + 1);
}

function inWords(command: Command): string {
  return JSON.stringify(command, (_key, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
}

/** Applies one command to both sides and records the coverage. */
function step(
  lockstep: Lockstep,
  command: Command,
  emit: (event: never) => void = () => undefined,
): string {
  applied += 1;
  note(`command ${command.kind}`);
  const { outcome, divergence } = lockstep.apply(command, (event) => {
    emit(event as never);
    note(`event ${event.kind}`);
    if ('reason' in event && event.reason !== null) note(`reason ${event.reason}`);
    if (event.kind === 'liquidationStep') note(`${event.isolated ? 'isolated ' : ''}${event.step}`);
  });
  note(`outcome ${outcomeCode(outcome)}`);
  if (divergence !== null) throw new Error(`${divergenceText(divergence)}\n${inWords(command)}`);
  return outcomeCode(outcome);
}

/** Faults of a group, one field of its last order at a time. */
const SPOILED: readonly ((order: NewOrder) => Partial<NewOrder>)[] = [
  ({ lots: size }) => ({ lots: lots(-size) }),
  ({ lots: size }) => ({ lots: lots(size * 2) }),
  ({ priceTicks: price }) => ({ priceTicks: priceTicks(price + 1) }),
  ({ periodMs }) => ({ periodMs: (periodMs ?? 0n) + 1n }),
  ({ market }) => ({ market: marketId(market === 0 ? 1 : 0) }),
  ({ parent }) => ({ parent: parent === null ? orderId(1) : null }),
  () => ({ orderType: 'twap', periodMs: 1000n }),
  () => ({ orderType: 'limit' }),
  () => ({ triggerTicks: priceTicks(0) }),
  () => ({ triggerTicks: null }),
  () => ({ trailingPpm: 1 }),
  ({ ioc, reduceOnly }) => ({ ioc: !ioc, reduceOnly: !reduceOnly }),
  ({ attached }) => ({ attached: !attached }),
];

function spoiled(command: Command, roll: number): Command {
  if (command.kind === 'setMarketTerms' && roll % 20 === 0) {
    return { ...command, spec: { ...command.spec, symbol: `${command.spec.symbol}X` } };
  }
  const spoil = SPOILED[roll % 200];
  if (command.kind !== 'placeOrders' || spoil === undefined) return command;
  const last = command.orders.length - 1;
  const orders = command.orders.map((order, i) =>
    i === last ? { ...order, ...spoil(order) } : order,
  );
  return { ...command, orders };
}

test(
  'engine and oracle agree on runs with every kind of command',
  () => {
    fc.assert(
      fc.property(fc.constantFrom(...PROFILE_NAMES), fc.nat(999_999), (name, seed) => {
        const drawnProfile = drawProfile(String(seed), { name, commands: COMMANDS });
        // Episodes take most of a short run, so half of the runs have none.
        const profile = seed % 2 === 0 ? drawnProfile : { ...drawnProfile, episodeGap: 0 };
        const setup = setUp(profile);
        const exchange = new Exchange(setup.config);
        const generator = new CommandGenerator(profile, exchange, setup);
        const lockstep = new Lockstep(exchange);
        let roll = seed;
        for (;;) {
          const drawn = generator.next();
          if (drawn === null) break;
          roll = (roll * 48_271) % 2_147_483_647;
          step(lockstep, spoiled(drawn, roll), generator.observe);
        }
        const end = lockstep.compareAll();
        if (end !== null) throw new Error(divergenceText(end));
        expect(exchange.checkInvariants()).toEqual([]);
      }),
      { numRuns: 100 * EFFORT, endOnFailure: true },
    );
  },
  300_000 * EFFORT,
);

/** Not in random runs: 65,536 markets and delisting; the gateway refuses inverse contracts. */
const BEYOND_LIVES: ReadonlySet<string> = new Set([
  'price_off_tick',
  'quantity_off_lot',
  'trailing_percent_off_step',
  'too_many_markets',
  'inverse_market',
  'vault_not_priced',
]);
const COMMAND_KINDS = [
  ...['advanceTime', 'listMarket', 'deposit', 'withdraw', 'transfer', 'placeOrder', 'placeOrders'],
  ...['cancelOrder', 'cancelAll', 'setIndex', 'setMark', 'setSelfTradeMode', 'updateMargin'],
  ...['updateDelegate', 'updateSigners', 'settleFunding', 'tapeDepth', 'tapeTrade'],
  ...[
    'tapeSnapshot',
    'tapeQuotes',
    'tapeGap',
    'tapeBar',
    'tapeL3',
    'setMarketTerms',
    'setMarketStatus',
  ],
  'delistMarket',
];
const EVENT_KINDS = [
  ...['orderAccepted', 'orderRejected', 'orderRested', 'orderFilled', 'orderPending'],
  ...['orderReleased', 'orderEnded', 'tradePrinted', 'balanceChanged', 'positionChanged'],
  ...['oracleSet', 'markChanged', 'nonceUsed', 'selfTradeModeChanged', 'marketListed'],
  ...['tapeApplied', 'isolatedMarginChanged', 'marginChanged', 'fundingSampled'],
  ...['fundingSettled', 'liquidationStep', 'positionTransferred', 'vaultSharesChanged'],
  ...['delegateChanged', 'signersChanged', 'marketFrozen', 'marketTermsChanged'],
  ...['marketStatusChanged', 'marketDelisted'],
];
const STEPS = ['cancelOrders', 'order', 'insurance', 'takeover', 'adl', 'safe'];

test('nonces: the 1,024 highest of each identity, in any order (R-2.13)', () => {
  const owner = address(`0x${'a'.repeat(40)}`);
  const delegate = address(`0x${'b'.repeat(40)}`);
  // Dense, so that a window fills and dropped nonces recur.
  const use = fc.record({
    nonce: fc.bigInt({ min: 0n, max: 2400n }),
    by: fc.constantFrom(null, null, null, 5, 6),
    what: fc.constantFrom('order', 'order', 'order', 'order', 'order', 'order', 'revoke', 'grant'),
  });
  fc.assert(
    fc.property(fc.array(use, { minLength: 4000, maxLength: 4200, size: 'max' }), (uses) => {
      const lockstep = new Lockstep(new Exchange(DEFAULT_EXCHANGE_CONFIG));
      const at = timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs);
      const never = 9_007_199_254_741n;
      step(lockstep, { kind: 'listMarket', timeUs: at, spec: SPEC });
      const amount = quanta(1_000_000n);
      step(lockstep, { kind: 'deposit', timeUs: at, account: owner, subaccountIndex: 0, amount });
      for (const [i, { nonce, by, what }] of uses.entries()) {
        if (what !== 'order') {
          step(lockstep, {
            kind: 'updateDelegate',
            timeUs: at,
            account: owner,
            subaccountIndex: 0,
            delegate,
            // Rarely revoked, so that the delegate has a window to lose.
            delegated: what === 'grant' || i % 40 > 0,
            nonce: BigInt(i),
            expiresAtMs: never,
          });
        } else {
          step(lockstep, {
            ...ORDER,
            timeUs: at,
            nonce,
            expiresAtMs: never,
            delegate: by === null ? null : accountId(by === 5 ? 6 : 7),
          });
        }
      }
    }),
    { numRuns: 3 * EFFORT, endOnFailure: true },
  );
  for (const outcome of ['nonce_used', 'nonce_too_low', 'not_delegated']) {
    expect([...reached.keys()]).toContain(`outcome ${outcome}`);
  }
});

const SPEC = setUp(drawProfile('1', { name: 'matching' })).opening.flatMap((command) =>
  command.kind === 'listMarket' ? [command.spec] : [],
)[0]!;
/** Rejected without a mark; its nonce is used nevertheless. */
const ORDER = {
  ...PLAIN_LIMIT,
  kind: 'placeOrder',
  subaccount: subaccountId(6),
  lots: SPEC.minLots,
  priceTicks: priceTicks(100),
  ioc: true,
} as const;

test('a nonce below all kept ones is itself dropped (R-2.13)', () => {
  const lockstep = new Lockstep(new Exchange(DEFAULT_EXCHANGE_CONFIG));
  const at = timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs);
  step(lockstep, { kind: 'listMarket', timeUs: at, spec: SPEC });
  step(lockstep, {
    kind: 'deposit',
    timeUs: at,
    account: address(`0x${'a'.repeat(40)}`),
    subaccountIndex: 0,
    amount: quanta(1n),
  });
  const use = (nonce: bigint): string =>
    step(lockstep, { ...ORDER, timeUs: at, nonce, delegate: null });
  for (let i = 0n; i < 1024n; i++) expect(use(5000n + i)).toBe('ok');
  expect([use(500n), use(500n), use(400n), use(800n), use(4999n), use(4999n)]).toEqual([
    ...['ok', 'nonce_too_low', 'nonce_too_low', 'ok', 'ok', 'nonce_too_low'],
  ]);
});

test('refuses a settlement price beyond the band around the index (R-13.2)', () => {
  const lockstep = new Lockstep(new Exchange(DEFAULT_EXCHANGE_CONFIG));
  const at = timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs);
  const market = marketId(0);
  step(lockstep, { kind: 'listMarket', timeUs: at, spec: { ...SPEC, indexSource: 'oracle' } });
  step(lockstep, {
    kind: 'setIndex',
    timeUs: at,
    market,
    priceTicks: priceTicks(1000),
    text: '1000',
  });
  const band = Math.floor((1000 * SPEC.priceBandPpm) / 1e6);
  const delistedAt = (ticks: number): string =>
    step(lockstep, { kind: 'delistMarket', timeUs: at, market, priceTicks: priceTicks(ticks) });
  expect(delistedAt(1000 + band + 1)).toBe('price_outside_band');
  expect(delistedAt(1000 - band - 1)).toBe('price_outside_band');
  expect(delistedAt(1000 + band)).toBe('ok');
});

test('refuses an external index if the index is the book’s own mid (R-5.3a)', () => {
  const lockstep = new Lockstep(new Exchange(DEFAULT_EXCHANGE_CONFIG));
  const at = timeUs(DEFAULT_EXCHANGE_CONFIG.genesisTimeUs);
  step(lockstep, { kind: 'listMarket', timeUs: at, spec: { ...SPEC, indexSource: 'mid' } });
  const market = marketId(0);
  const index = {
    kind: 'setIndex',
    timeUs: at,
    market,
    priceTicks: priceTicks(1),
    text: '1',
  } as const;
  expect(step(lockstep, index)).toBe('index_source_not_oracle');
});

test('every command, event, refusal, reason and step of the ladder was reached in lockstep', () => {
  const kinds = [...reached.keys()];
  // The runs must reach the states that the rules cover.
  const provoked = new Set<string>([...GROUP_CODES, ...RISK_CODES]);
  const missing = [
    ...REFUSALS.filter((code) => !reached.has(`outcome ${code}`)),
    ...END_REASONS.filter((reason) => !reached.has(`reason ${reason}`)),
  ].filter((code) => !provoked.has(code) && !BEYOND_LIVES.has(code));
  expect(missing, 'never reached').toEqual([]);
  for (const kind of COMMAND_KINDS) expect(kinds).toContain(`command ${kind}`);
  for (const kind of EVENT_KINDS) expect(kinds).toContain(`event ${kind}`);
  for (const taken of STEPS) expect(kinds).toContain(taken);
});

afterAll(() => {
  const share = (prefix: string, all: number): string =>
    `${[...reached.keys()].filter((key) => key.startsWith(prefix)).length} of ${all} ${prefix.trim()}s`;
  console.log(
    `${applied.toLocaleString('en')} commands in lockstep reached ${share('command ', COMMAND_KINDS.length)}, ` +
      `${share('event ', EVENT_KINDS.length)}, ${share('outcome ', REFUSALS.length + 1)}`,
  );
});

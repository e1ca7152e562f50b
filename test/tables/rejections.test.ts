/**
 * Text tables of the engine: one row per command, its outcome last. Together with the lockstep and
 * gateway tests they provoke every code that this version can produce; the last test lists the
 * exceptions with reasons.
 */
import { expect, test } from 'vitest';
import type { Command, PlaceOrder } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { GROUP_CODES } from './group-codes.ts';
import { drafted } from './group-world.ts';
import { RISK_CODES } from '../engine/refusal-cases.ts';
import { END_REASONS, outcomeCode, REFUSALS } from '../../src/engine/refusals.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  address,
  lots,
  marketId,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { PLAIN_LIMIT } from '../setup/plain-limit.ts';

const NAMES = ['ann', 'bob', 'cat'];
const provoked = new Set<string>();

function specOf(changes: Record<string, unknown>) {
  const spec = parseMarketSpec(
    { symbol: 'T', tickSize: '1', lotSize: '1', makerFee: '0', takerFee: '0', ...changes },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
}

const addressOf = (name: string) => address(`0x${name.charCodeAt(0).toString(16).repeat(20)}`);

/**
 * Runs a table of `who side size @price flags → outcome`; outcome is a refusal, or status and
 * reason.
 */
function run(table: string, spec: Record<string, unknown> = {}): void {
  const exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const T = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
  let nonce = 0n;
  const apply = (command: Command): string => {
    const result = exchange.apply(command, (event) => {
      if ('reason' in event && event.kind !== 'balanceChanged' && event.reason !== null) {
        provoked.add(event.reason);
      }
    });
    const outcome = outcomeCode(result);
    provoked.add(outcome);
    expect(exchange.checkInvariants()).toEqual([]);
    return outcome;
  };
  apply({ kind: 'listMarket', timeUs: T, spec: specOf(spec) });
  for (const name of NAMES) {
    const amount = quanta(100_000_000_000n);
    apply({ kind: 'deposit', timeUs: T, account: addressOf(name), subaccountIndex: 0, amount });
  }
  apply({
    kind: 'setIndex',
    timeUs: T,
    market: marketId(0),
    priceTicks: priceTicks(100),
    text: '100',
  });
  for (const line of table.split('\n')) {
    const row = line.trim();
    if (row === '') continue;
    const [who = '', side = '', size = '', price = '', ...rest] = row.split(/\s+/);
    const expected = rest.slice(rest.indexOf('→') + 1).join(' ');
    const flags = rest.slice(0, rest.indexOf('→'));
    nonce += 1n;
    const outcome = apply({
      ...PLAIN_LIMIT,
      kind: 'placeOrder',
      timeUs: T,
      subaccount: subaccountId(6 + NAMES.indexOf(who)),
      lots: lots((side === 'buy' ? 1 : -1) * Number(size)),
      priceTicks: priceTicks(Number(price.slice(1))),
      ioc: flags.includes('ioc'),
      postOnly: flags.includes('post'),
      reduceOnly: flags.includes('reduce'),
      nonce,
      delegate: null,
      originator: flags.includes('fee') ? addressOf('cat') : null,
    });
    const order = exchange.order(exchange.lastOrderId);
    const shown =
      outcome === 'ok' ? [order?.status, order?.reason].filter(Boolean).join(' ') : outcome;
    expect(shown, row).toBe(expected);
  }
}

test('open interest stops a taker at the first fill beyond the limit, although a flip was admitted (D-5)', () => {
  run(
    `
    cat sell 6  @101         → new
    cat sell 6  @102         → new
    ann buy  6  @100         → new
    bob sell 6  @100         → filled
    bob buy  12 @102         → cancelled openInterest
    ann buy  4  @100         → rejected openInterest
    `,
    { maxOpenInterest: '9' },
  );
});

test('every end reason of an order (R-2.9)', () => {
  run(
    `
    ann buy  5  @99          → new
    bob sell 2  @99  post    → rejected postOnlyWouldCross
    bob sell 2  @100 ioc     → cancelled iocRemainder
    ann sell 5  @99          → cancelled selfTrade
    bob sell 1  @99  reduce  → rejected reduceOnly
    bob sell 5  @99          → filled
    bob buy  9  @500         → rejected priceBand
    bob buy  99999 @100      → rejected insufficientMargin
    ann buy  3  @111         → new
    bob sell 3  @1   ioc     → filled
    cat sell 4  @120         → new
    bob buy  4  @150         → cancelled priceBand
  `,
    { maxPrice: '1000' },
  );
});

test('reduce-only never grows or flips a position (R-2.7)', () => {
  run(`
    ann buy  5  @100         → new
    bob sell 5  @100         → filled
    cat buy  9  @99          → new
    ann sell 8  @99  reduce  → cancelled reduceOnly
    ann sell 1  @99  reduce  → rejected reduceOnly
    bob buy  2  @98  reduce  → new
  `);
});

test('refusals by market state, from before its first price to its delisting', () => {
  const exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const { genesisTimeUs, indexStaleUs, treasuryAccount } = DEFAULT_EXCHANGE_CONFIG;
  const spec = specOf({});
  const market = marketId(0);
  const price = priceTicks(100);
  let nonce = 0n;
  let at = genesisTimeUs;
  const apply = (command: Command): void => {
    expect(exchange.apply(command)).toBe('ok');
  };
  const reasonOf = (command: Command): string => {
    const reasons: string[] = [];
    const outcome = exchange.apply(command, (event) => {
      if (event.kind === 'orderRejected') reasons.push(event.reason);
    });
    return reasons[0] ?? outcomeCode(outcome);
  };
  const order = (more: Partial<PlaceOrder> = {}): Command => ({
    ...PLAIN_LIMIT,
    kind: 'placeOrder',
    timeUs: at,
    subaccount: subaccountId(6),
    market,
    lots: lots(1),
    priceTicks: price,
    delegate: null,
    nonce: ++nonce,
    ...more,
  });
  const index = (): Command => ({
    kind: 'setIndex',
    timeUs: at,
    market,
    priceTicks: price,
    text: '',
  });
  const expectNext = (command: Command, expected: string): void => {
    expect(reasonOf(command)).toBe(expected);
    provoked.add(expected);
  };
  apply({ kind: 'listMarket', timeUs: at, spec });
  const amount = quanta(100_000_000_000n);
  apply({ kind: 'deposit', timeUs: at, account: addressOf('ann'), subaccountIndex: 0, amount });
  expectNext(order(), 'noMarkPrice');
  apply(index());
  expectNext(order({ originator: treasuryAccount }), 'originator_not_allowed');
  at = timeUs(at + indexStaleUs + 1);
  expectNext(order(), 'staleIndex');
  apply({ kind: 'setMarketStatus', timeUs: at, market, status: 'halted' });
  expectNext(order(), 'halted');
  const finer = { ...spec, tickSize: '0.5' };
  expectNext({ kind: 'setMarketTerms', timeUs: at, market, spec: finer }, 'market_terms_immutable');
  const far = priceTicks(1000);
  expectNext({ kind: 'delistMarket', timeUs: at, market, priceTicks: far }, 'price_outside_band');
  apply({ kind: 'delistMarket', timeUs: at, market, priceTicks: null });
  expectNext(order(), 'delisted');
  expectNext(index(), 'market_delisted');
});

test('codes that no test provokes belong to later versions, or are checked elsewhere', () => {
  const exchange = new Exchange(DEFAULT_EXCHANGE_CONFIG);
  const T = DEFAULT_EXCHANGE_CONFIG.genesisTimeUs;
  const market = marketId(0);
  const price = priceTicks(5);
  const one = lots(1);
  const list = (changes: Record<string, unknown>): Command => ({
    kind: 'listMarket',
    timeUs: T,
    spec: { ...specOf({ indexSource: 'mid' }), ...changes },
  });
  const order = (changes: Partial<PlaceOrder>): Command => ({
    ...PLAIN_LIMIT,
    kind: 'placeOrder',
    timeUs: T,
    subaccount: subaccountId(6),
    delegate: null,
    nonce: 1n,
    lots: one,
    priceTicks: price,
    ...changes,
  });
  const rows: readonly (readonly [Command, string])[] = [
    [{ kind: 'setIndex', timeUs: T, market, priceTicks: price, text: '5' }, 'market_not_found'],
    [list({}), 'ok'],
    [list({}), 'symbol_already_listed'],
    [list({ symbol: 'U', quantaPerTickLot: 0.5 }), 'market_spec_invalid'],
    [
      { kind: 'setIndex', timeUs: T, market, priceTicks: price, text: '5' },
      'index_source_not_oracle',
    ],
    [
      { kind: 'setIndex', timeUs: T, market, priceTicks: priceTicks(0), text: '0' },
      'price_not_positive',
    ],
    [
      { kind: 'setIndex', timeUs: T, market, priceTicks: priceTicks(2 ** 31), text: '' },
      'price_too_high',
    ],
    [{ kind: 'setMark', timeUs: T, market, priceTicks: price }, 'mark_source_not_external'],
    [
      { kind: 'tapeTrade', timeUs: T, market, priceTicks: price, lots: lots(0) },
      'tape_level_invalid',
    ],
    [
      {
        kind: 'tapeDepth',
        timeUs: T,
        market,
        levels: [{ side: 'bid', priceTicks: priceTicks(0), lots: one }],
      },
      'tape_level_invalid',
    ],
    [{ kind: 'cancelOrder', timeUs: T, orderId: orderId(9) }, 'order_not_found'],
    [
      {
        kind: 'deposit',
        timeUs: T,
        account: addressOf('ann'),
        subaccountIndex: 0,
        amount: quanta(2n ** 62n),
      },
      'ok',
    ],
    [
      {
        kind: 'deposit',
        timeUs: T,
        account: addressOf('ann'),
        subaccountIndex: 0,
        amount: quanta(1n),
      },
      'amount_exceeds_exchange_limit',
    ],
    [order({ priceTicks: priceTicks(5.5) }), 'price_off_tick'],
    [order({ lots: lots(0.5) }), 'quantity_off_lot'],
    [
      {
        kind: 'placeOrders',
        timeUs: T,
        subaccount: subaccountId(6),
        delegate: null,
        orders: [drafted({ size: 1, price: 5, orderType: 'trailingStop', trailingPpm: 0.5 }, 1n)],
      },
      'trailing_percent_off_step',
    ],
    [
      { kind: 'setSelfTradeMode', timeUs: T, account: addressOf('zed'), mode: 1 },
      'account_not_found',
    ],
  ];
  for (const [command, outcome] of rows) {
    expect(
      outcomeCode(exchange.apply(command)),
      JSON.stringify(command, (_key, v: unknown) => String(v)),
    ).toBe(outcome);
    provoked.add(outcome);
  }
  const lockstep = [
    // test/property/lockstep.test.ts asserts that it reaches these.
    ...[
      'nonce_used',
      'client_id_in_use',
      'request_expired',
      'quantity_zero',
      'quantity_below_minimum',
    ],
    ...[
      'quantity_above_maximum',
      'flags_conflict',
      'originator_fee_too_high',
      'amount_exceeds_available',
    ],
    ...['amount_not_positive', 'transfer_not_allowed', 'subaccount_not_found'],
    ...['user', 'expired', 'openOrders'],
    // test/tables/groups.test.ts asserts that it reaches these.
    ...GROUP_CODES,
    // test/engine provokes these: permissions, isolated, vault, funding, liquidation, tape.
    ...RISK_CODES,
    'impact_needs_levels',
  ];
  const never = [...REFUSALS, ...END_REASONS].filter(
    (code) => !provoked.has(code) && !lockstep.includes(code),
  );
  expect(never).toEqual([
    // scenarios/nonce-windows.yaml; 65,536 markets; and a fee without an originator, which the
    // gateway refuses first.
    'nonce_too_low',
    'too_many_markets',
    'inverse_market',
    'originator_missing',
    // No rule produces it since frozen positions of the vault have a value; codes are never reused.
    'vault_not_priced',
  ]);
});

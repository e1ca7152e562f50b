/** Every field of every event reaches the chain hash, or is fixed by what is hashed before it. */
import { expect, test } from 'vitest';
import { moneyOf } from '../../../src/num/money.ts';
import { codeOf } from '../../../src/base/code-of.ts';
import { RollingHash } from '../../../src/base/rolling-hash.ts';
import { ORDER_STATUSES } from '../../../src/engine/book/order-table.ts';
import * as hashes from '../../../src/engine/chain-hash/hash-event.ts';
import { recordHasher } from '../../../src/engine/chain-hash/hash-record.ts';
import type { EngineEvent } from '../../../src/engine/events.ts';
import { END_REASONS } from '../../../src/engine/refusals.ts';
import {
  CAUSES,
  EVENTS,
  LEDGER_CODES,
  type EventKind,
  type EventOf,
} from '../../../src/engine/schema/event-schema.ts';
import { State } from '../../../src/engine/state.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../../src/gateway/exchange-config.ts';
import { timeUs, type OrderId } from '../../../src/num/units.ts';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../../src/fuzz/fuzz-run.ts';
import { PROFILE_NAMES } from '../../../src/fuzz/profile.ts';
import { changesOf, pathsOf, textOf, type Change } from './change-fields.ts';
import { EVENT_EXAMPLES } from './event-examples.ts';
import { withoutOneWord } from './planted-omissions.ts';

const KINDS = Object.keys(EVENTS) as EventKind[];
type HashEvent<E> = (hash: RollingHash, cause: number, event: E) => void;

/**
 * The function that the engine calls for each kind. Per-fill events are hashed from their fields, without an
 * object.
 */
const HASHES: { readonly [Kind in EventKind]: HashEvent<EventOf<Kind>> } = {
  orderAccepted: (hash, cause, e) => {
    hashes.hashOrderAccepted(hash, cause, e.orderId);
  },
  orderRejected: (hash, cause, e) => {
    hashes.hashOrderRejected(hash, cause, e.orderId, e.reason);
  },
  orderRested: (hash, cause, e) => {
    hashes.hashOrderRested(hash, cause, e.orderId, e.priceTicks, e.remainingLots);
  },
  orderFilled: (hash, cause, e) => {
    hashes.hashOrderFilled(
      hash,
      cause,
      e.orderId,
      e.role,
      e.tradeId,
      e.priceTicks,
      e.lots,
      e.remainingLots,
      moneyOf(e.feeQuanta),
      moneyOf(e.originatorFeeQuanta),
      moneyOf(e.realizedPnlQuanta),
      moneyOf(e.realizedFundingQuanta),
    );
  },
  orderEnded: (hash, cause, e) => {
    const status = codeOf(ORDER_STATUSES, e.status);
    const reason = e.reason === null ? 0 : codeOf(END_REASONS, e.reason) + 1;
    hashes.hashOrderEnded(hash, cause, e.orderId, status, reason, e.remainingLots);
  },
  tradePrinted: (hash, cause, e) => {
    hashes.hashTradePrinted(hash, cause, e.market, e.tradeId, e.priceTicks, e.lots);
  },
  balanceChanged: (hash, cause, e) => {
    const [delta, balance] = [moneyOf(e.deltaQuanta), moneyOf(e.balanceQuanta)];
    hashes.hashBalanceChanged(hash, cause, e.subaccount, LEDGER_CODES[e.reason], delta, balance);
  },
  positionChanged: (hash, cause, e) => {
    hashes.hashPositionChanged(hash, cause, e.subaccount, e.market, e.lots, moneyOf(e.costQuanta));
  },
  oracleSet: hashes.hashOracleSet,
  markChanged: hashes.hashMarkChanged,
  tapeApplied: hashes.hashTapeApplied,
  orderPending: hashes.hashOrderPending,
  orderReleased: hashes.hashOrderReleased,
  nonceUsed: hashes.hashNonceUsed,
  selfTradeModeChanged: hashes.hashSelfTradeModeChanged,
  marketListed: hashes.hashMarketListed,
  isolatedMarginChanged: hashes.hashIsolatedMarginChanged,
  marginChanged: hashes.hashMarginChanged,
  fundingSampled: hashes.hashFundingSampled,
  fundingSettled: hashes.hashFundingSettled,
  liquidationStep: hashes.hashLiquidationStep,
  positionTransferred: hashes.hashPositionTransferred,
  vaultSharesChanged: hashes.hashVaultSharesChanged,
  delegateChanged: hashes.hashDelegateChanged,
  signersChanged: hashes.hashSignersChanged,
  marketFrozen: hashes.hashMarketFrozen,
  marketTermsChanged: hashes.hashMarketTermsChanged,
  marketStatusChanged: hashes.hashMarketStatusChanged,
  marketDelisted: hashes.hashMarketDelisted,
};

/**
 * Fields that a chain hash need not hold: the command holds them, or the order that the id names.
 */
const OF_ORDER = ['market', 'subaccount'];
const OF_COMMAND = [
  ...['clientId', 'delegate', 'expiresAtMs', 'ioc', 'lots', 'market', 'nonce', 'orderType'],
  ...['originator', 'originatorFeePpm', 'postOnly', 'priceTicks', 'reduceOnly', 'subaccount'],
];
const FIXED: { readonly [Kind in EventKind]?: readonly string[] } = {
  orderAccepted: OF_COMMAND,
  orderRejected: OF_COMMAND,
  orderRested: OF_ORDER,
  orderFilled: OF_ORDER,
  orderReleased: OF_ORDER,
  orderEnded: OF_ORDER,
  orderPending: OF_ORDER,
  marketListed: ['spec'],
};

function hexOf(hashOf: HashEvent<never>, event: EngineEvent, cause = 1): string {
  const hash = new RollingHash();
  hashOf(hash, cause, event as never);
  hash.commit();
  return hash.hex();
}

function changes(event: EngineEvent): Change<EngineEvent>[] {
  return [...changesOf(EVENTS[event.kind].body, event)];
}

/**
 * Paths of changes that leave the hash as it was, or give that of another change; `fixed` fields
 * are not changed.
 */
function unseen(hashOf: HashEvent<never>, event: EngineEvent, fixed: readonly string[]): string[] {
  const images = new Map([[hexOf(hashOf, event), textOf(event)]]);
  const paths = new Set<string>();
  for (const { path, record } of changes(event)) {
    if (fixed.includes(topOf(path))) continue;
    const image = hexOf(hashOf, record);
    const text = textOf(record);
    if ((images.get(image) ?? text) !== text) paths.add(path.replaceAll(/\.\d+/g, ''));
    images.set(image, text);
  }
  return [...paths];
}

const topOf = (path: string): string => path.split('.')[0] ?? path;

test.each(KINDS)('every field of %s reaches the chain hash, or is fixed before it', (kind) => {
  const event: EngineEvent = EVENT_EXAMPLES[kind];
  const fixed = FIXED[kind] ?? [];
  expect(unseen(HASHES[kind] as HashEvent<never>, event, fixed)).toEqual([]);
  const base = hexOf(HASHES[kind], event);
  const same = changes(event).filter(
    ({ record }) => hexOf(HASHES[kind] as HashEvent<never>, record) === base,
  );
  expect([...new Set(same.map(({ path }) => topOf(path)))].sort()).toEqual([...fixed].sort());
  const tried = new Set(changes(event).map(({ path }) => path.replaceAll(/\.\d+/g, '')));
  expect([...tried].sort()).toEqual([...new Set(pathsOf(EVENTS[kind].body))].sort());
});

test.each(KINDS)('the engine hashes %s as the schema says, by its cause', (kind) => {
  const bySchema = hashes.hashEventOf(kind) as HashEvent<never>;
  const byEngine = HASHES[kind] as HashEvent<never>;
  const event: EngineEvent = EVENT_EXAMPLES[kind];
  for (const { record } of [{ record: event }, ...changes(event)]) {
    expect(hexOf(byEngine, record)).toBe(hexOf(bySchema, record));
  }
  const causes = CAUSES.map((_, cause) => hexOf(byEngine, event, cause));
  expect(new Set(causes).size).toBe(CAUSES.length);
});

test('the time of an event reaches the chain hash when it changes', () => {
  const hexAt = (nowUs: number): string => {
    const state = new State(DEFAULT_EXCHANGE_CONFIG);
    state.context.begin(timeUs(1), undefined);
    state.nowUs = timeUs(nowUs);
    state.context.hashing().commit();
    return state.hash.hex();
  };
  expect(new Set([hexAt(1), hexAt(2), hexAt(3)]).size).toBe(3);
});

test('no two events of all kinds have one hash', () => {
  const all = KINDS.map((kind) => hexOf(HASHES[kind] as HashEvent<never>, EVENT_EXAMPLES[kind]));
  expect(new Set(all).size).toBe(KINDS.length);
});

test.each(KINDS)('a chain hash of %s that lacks a word is found, with its fields', (kind) => {
  const { body, tag } = EVENTS[kind];
  for (const { shape, lost } of withoutOneWord(body)) {
    const hashBody = recordHasher(shape);
    const faulty: HashEvent<object> = (hash, cause, event) => {
      hash.int(tag | (cause << 8));
      hashBody(hash, event);
    };
    const found = unseen(faulty, EVENT_EXAMPLES[kind], FIXED[kind] ?? []);
    expect(found).toEqual(expect.arrayContaining([...lost]));
  }
});

test('emitted events have the fields of their schema, and an order id fixes owner and market', () => {
  const kinds = new Set<EventKind>();
  for (const name of PROFILE_NAMES) {
    const orders = new Map<OrderId, string>();
    runFuzz(drawProfile('fields', { name, commands: 700 }), {
      onEvent: (event) => {
        kinds.add(event.kind);
        const fields = EVENTS[event.kind].body.fields.map((field) => field.name);
        expect(Object.keys(event).sort()).toEqual(
          ['kind', 'seq', 'index', 'timeUs', 'cause', ...fields].sort(),
        );
        if (!('orderId' in event)) return;
        const owner = `${String(event.subaccount)} in ${String(event.market)}`;
        expect(orders.get(event.orderId) ?? owner).toBe(owner);
        orders.set(event.orderId, owner);
      },
      after: () => null,
    });
  }
  expect(kinds.size).toBeGreaterThan(24);
});

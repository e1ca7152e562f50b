/**
 * Each stream invariant detects a false event stream: a valid run with one event changed, dropped
 * or repeated.
 */
import { expect, test } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { STATE_INVARIANTS } from '../../src/engine/invariants/invariants.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import type { ProfileName } from '../../src/fuzz/profile.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { STREAM_INVARIANTS, streamInvariants } from '../../src/fuzz/stream-checker.ts';

/** Invariant violated by a run whose events are altered. */
function saidOf(
  lie: (event: EngineEvent) => readonly EngineEvent[],
  name: ProfileName = 'swarm',
  seed = 'lies 5',
): string | null {
  const checker = streamInvariants(1);
  const { failure } = runFuzz(drawProfile(seed, { name, commands: 1500 }), {
    ...checker,
    onEvent: (event) => {
      for (const altered of lie(event)) checker.onEvent?.(altered);
    },
  });
  return failure?.violation.invariant ?? null;
}

/** Alters the nth event of a kind. */
function once(
  kind: EngineEvent['kind'],
  change: (event: EngineEvent) => readonly EngineEvent[],
  nth = 3,
  counts: (event: EngineEvent) => boolean = () => true,
): (event: EngineEvent) => readonly EngineEvent[] {
  let seen = 0;
  return (event) => {
    if (event.kind !== kind || !counts(event)) return [event];
    seen += 1;
    return seen === nth ? change(event) : [event];
  };
}

const patched = (fields: object) => (event: EngineEvent) => [{ ...event, ...fields }];

/** From some order on, each order of a subaccount repeats the previous nonce. */
function nonceOfBefore(): (event: EngineEvent) => readonly EngineEvent[] {
  const before = new Map<number, bigint>();
  return (event) => {
    if (event.kind !== 'orderAccepted' || event.orderType !== 'limit') return [event];
    const nonce = before.get(event.subaccount) ?? event.nonce;
    before.set(event.subaccount, event.nonce);
    return [event.orderId > 50 ? { ...event, nonce } : event];
  };
}

test.each<[string, string, (event: EngineEvent) => readonly EngineEvent[]]>([
  ['a repeated event', 'monotoneSequence', once('markChanged', (event) => [event, event])],
  ['an event from the past', 'monotoneSequence', once('orderEnded', patched({ timeUs: 1 }))],
  ['a nonce used again', 'nonceNeverReused', nonceOfBefore()],
  [
    'a fill with too large a remainder',
    'orderLife',
    once('orderFilled', patched({ remainingLots: 1e9 })),
  ],
  [
    'an order that ends with a wrong remainder',
    'orderLife',
    once('orderEnded', patched({ remainingLots: 77 })),
  ],
  [
    'a position that changes without a fill',
    'positionsFollowFills',
    once('positionChanged', patched({ lots: 12345 }), 9),
  ],
  [
    'an entry that does not add up',
    'ledgerAddsUp',
    once('balanceChanged', patched({ balanceQuanta: 5n })),
  ],
  [
    'a funding settlement that creates money',
    'ledgerAddsUp',
    once('fundingSettled', patched({ roundingQuanta: 7n })),
  ],
  [
    'a print at another price',
    'fillsMatchTrades',
    // A recorded trade may have no fill.
    once('tradePrinted', patched({ priceTicks: 1 }), 9, ({ cause }) => cause === 'command'),
  ],
])('%s is detected', (_what, invariant, lie) => {
  expect(saidOf(lie)).toBe(invariant);
});

test('an order at a wrong price is detected in a market without recorded liquidity', () => {
  const lie = once('orderRested', patched({ priceTicks: 3 }));
  expect(saidOf(lie, 'money', 'lies 7')).toBe('feedRebuildsBook');
});

test('a market that is frozen twice is detected', () => {
  const lie = once('marketFrozen', patched({ frozen: true }), 2);
  expect(saidOf(lie, 'solvency', 'lies 3')).toBe('frozenMarketsRest');
});

test('a position transferred at a wrong price is detected', () => {
  const lie = once('positionTransferred', patched({ priceTicks: 1, reason: 'adl' }), 1);
  expect(saidOf(lie, 'stress')).toBe('transfersAtSettlement');
});

test('a valid run has no violation', () => {
  expect(saidOf((event) => [event])).toBeNull();
});

test('invariants have unique names, a rule and a statement', () => {
  const named = [
    ...STATE_INVARIANTS.map(({ name, rule, says }) => ({ name, rule, says })),
    ...STREAM_INVARIANTS.map(({ invariant, rule, says }) => ({ name: invariant, rule, says })),
  ];
  expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
  for (const { rule, says } of named) {
    expect(rule).toMatch(/^R-\d/);
    expect(says).toMatch(/^[a-z]/);
  }
});

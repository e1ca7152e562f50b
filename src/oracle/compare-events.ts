/** Comparison of events, in order per kind and entity; interleaving of entities is not compared. */
import type { EngineEvent } from '../engine/events.ts';
import { equal, type Comparison, type Plain } from './divergence.ts';
import type { Emitted, World } from './world.ts';

/** The rule behind an event's numbers. */
const RULES: Readonly<Record<EngineEvent['kind'], string>> = {
  orderAccepted: 'R-2.8',
  orderRejected: 'R-2.8',
  orderRested: 'R-2.5',
  orderFilled: 'R-2.5',
  orderPending: 'R-2.8',
  orderReleased: 'R-4.3',
  orderEnded: 'R-2.9',
  tradePrinted: 'R-2.5',
  balanceChanged: 'R-1.6',
  positionChanged: 'R-5.2',
  oracleSet: 'R-5.3',
  markChanged: 'R-5.3',
  nonceUsed: 'R-2.13',
  selfTradeModeChanged: 'R-2.4',
  marketListed: 'R-1.2',
  tapeApplied: 'D-15',
  isolatedMarginChanged: 'R-5.6',
  marginChanged: 'R-5.7',
  fundingSampled: 'R-7.1',
  fundingSettled: 'R-7.3',
  liquidationStep: 'R-6.2',
  positionTransferred: 'R-6.5',
  vaultSharesChanged: 'R-8.2',
  delegateChanged: 'R-9.3',
  signersChanged: 'R-9.1',
  marketFrozen: 'R-5.3b',
  marketTermsChanged: 'R-13.1',
  marketStatusChanged: 'R-13.2',
  marketDelisted: 'R-13.2',
};

/** The rule behind a field common to all events. */
const FIELD_RULES: Readonly<Record<string, string>> = { timeUs: 'R-12.1', cause: 'R-12.1' };

type Fields = Readonly<Record<string, Plain | undefined>>;

/** The entity that an event is about. */
function topicOf(event: { readonly kind: string }): string {
  const { orderId, subaccount, market } = event as unknown as Fields;
  if (orderId !== undefined) return `${event.kind} of order ${String(orderId)}`;
  const where = market === undefined ? '' : ` in market ${String(market)}`;
  return subaccount === undefined
    ? `${event.kind}${where}`
    : `${event.kind} of subaccount ${String(subaccount)}${where}`;
}

function byTopic<T extends { readonly kind: string }>(events: readonly T[]): Map<string, T[]> {
  const topics = new Map<string, T[]>();
  for (const event of events) {
    const topic = topicOf(event);
    const list = topics.get(topic);
    if (list === undefined) topics.set(topic, [event]);
    else list.push(event);
  }
  return topics;
}

export function compareEvents(to: Comparison, world: World, emitted: readonly EngineEvent[]): void {
  // Usually even the interleaving is the same, which needs no topics.
  if (isAlike(world.emitted, emitted)) return;
  const expected = byTopic(world.emitted);
  const found = byTopic(emitted);
  for (const [topic, events] of expected) compareTopic(to, topic, events, found.get(topic) ?? []);
  for (const [topic, events] of found) {
    if (!expected.has(topic)) compareTopic(to, topic, [], events);
  }
}

function isAlike(expected: readonly Emitted[], emitted: readonly EngineEvent[]): boolean {
  if (expected.length !== emitted.length) return false;
  return expected.every((wanted, i) => {
    const other = emitted[i] as unknown as Fields;
    for (const field of Object.keys(wanted)) {
      if (!isSame(wanted[field] ?? null, other[field])) return false;
    }
    return true;
  });
}

const isSame = (value: Plain, other: Plain | undefined): boolean =>
  value === other || equal(value, plain(other));

function compareTopic(
  to: Comparison,
  topic: string,
  expected: readonly Emitted[],
  emitted: readonly EngineEvent[],
): void {
  const rule = RULES[(expected[0] ?? emitted[0])?.kind ?? 'orderEnded'];
  for (const [i, wanted] of expected.entries()) {
    const other = emitted[i] as unknown as Fields | undefined;
    if (other === undefined) {
      to.differ(rule, `event ${i + 1}: ${topic}`, text(wanted), 'missing');
      return;
    }
    for (const [field, value] of Object.entries(wanted)) {
      if (equal(value, plain(other[field]))) continue;
      to.differ(
        FIELD_RULES[field] ?? rule,
        `${field} of event ${i + 1}: ${topic}`,
        String(value),
        String(other[field]),
      );
      return;
    }
  }
  const extra = emitted[expected.length];
  if (extra === undefined) return;
  to.differ(rule, `event ${expected.length + 1}: ${topic}`, 'missing', text(extra));
}

const plain = (value: unknown): Plain =>
  Array.isArray(value) ? value.join(' ') : (value as Plain);

function text(event: object): string {
  return Object.entries(event)
    .filter(([field]) => field !== 'kind')
    .map(([field, value]) => `${field} ${String(value)}`)
    .join(', ');
}

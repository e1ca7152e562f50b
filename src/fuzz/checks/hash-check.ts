/**
 * Chain hash and state hash of an exchange depend on all of its input and state.
 *
 * - Each command with one field changed has another hash. So has each event.
 * - The chain hash is the one of commands, outcomes and events by their schema.
 * - The state hash is the SHA-256 of parameters and live state as a snapshot has them.
 */
import { ArchiveWriter } from '../../base/archive.ts';
import { RollingHash } from '../../base/rolling-hash.ts';
import { sha256Hex } from '../../base/sha256.ts';
import { hashCommand, hashCommandBySchema } from '../../engine/chain-hash/hash-command.ts';
import {
  hashBalanceChanged,
  hashEventOf,
  hashOrderFilled,
  hashOrderRested,
  hashPositionChanged,
  hashTradePrinted,
} from '../../engine/chain-hash/hash-event.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { EngineEvent } from '../../engine/events.ts';
import { moneyOf } from '../../num/money.ts';
import { outcomeNumber, type Outcome } from '../../engine/refusals.ts';
import type { Engine } from '../../engine/read/views.ts';
import { schemaOf } from '../../engine/schema/command-schema.ts';
import { CAUSES, EVENTS, LEDGER_CODES } from '../../engine/schema/event-schema.ts';
import { archiveConfig } from '../../engine/snapshot/config-archive.ts';
import type { Checker, Violation } from '../checker.ts';
import { alterField } from './altered.ts';

type HashEvent = (hash: RollingHash, cause: number, event: EngineEvent) => void;

/** By kind. */
const EVENT_HASHERS = Object.fromEntries(
  (Object.keys(EVENTS) as EngineEvent['kind'][]).map((kind) => [
    kind,
    hashEventOf(kind) as HashEvent,
  ]),
) as Readonly<Record<EngineEvent['kind'], HashEvent>>;

/** The functions by which the exchange hashes frequent events without a record of them. */
const FAST: { readonly [Kind in EngineEvent['kind']]?: HashOf<Kind> } = {
  orderRested: (hash, cause, { orderId, priceTicks, remainingLots }) => {
    hashOrderRested(hash, cause, orderId, priceTicks, remainingLots);
  },
  orderFilled: (hash, cause, event) => {
    hashOrderFilled(
      hash,
      cause,
      event.orderId,
      event.role,
      event.tradeId,
      event.priceTicks,
      event.lots,
      event.remainingLots,
      moneyOf(event.feeQuanta),
      moneyOf(event.originatorFeeQuanta),
      moneyOf(event.realizedPnlQuanta),
      moneyOf(event.realizedFundingQuanta),
    );
  },
  tradePrinted: (hash, cause, { market, tradeId, priceTicks, lots }) => {
    hashTradePrinted(hash, cause, market, tradeId, priceTicks, lots);
  },
  balanceChanged: (hash, cause, { subaccount, reason, deltaQuanta, balanceQuanta }) => {
    const [delta, balance] = [moneyOf(deltaQuanta), moneyOf(balanceQuanta)];
    hashBalanceChanged(hash, cause, subaccount, LEDGER_CODES[reason], delta, balance);
  },
  positionChanged: (hash, cause, { subaccount, market, lots, costQuanta }) => {
    hashPositionChanged(hash, cause, subaccount, market, lots, moneyOf(costQuanta));
  },
};

type HashOf<Kind extends EngineEvent['kind']> = (
  hash: RollingHash,
  cause: number,
  event: Extract<EngineEvent, { kind: Kind }>,
) => void;

/** Fields of events that the command or the order with that id fixes, so no hash needs them. */
const TERMS = [
  ...['subaccount', 'market', 'orderType', 'lots', 'priceTicks', 'ioc', 'postOnly'],
  ...['reduceOnly', 'nonce', 'expiresAtMs', 'delegate', 'clientId', 'originator'],
  'originatorFeePpm',
];
const OWNER = ['subaccount', 'market'];
const FIXED: Readonly<Partial<Record<EngineEvent['kind'], readonly string[]>>> = {
  orderAccepted: TERMS,
  orderRejected: TERMS,
  orderRested: OWNER,
  orderFilled: OWNER,
  orderReleased: OWNER,
  orderEnded: OWNER,
  orderPending: OWNER,
  marketListed: ['spec'],
};

/** Values that share a word of the hash with "none". */
const SAME_AS_NONE = new Set(['triggerTicks', 'sourceTicks', 'indexTicks', 'bestBidTicks']);

export function hashCheck(every: number): Checker {
  const chain = new RollingHash();
  let events: EngineEvent[] = [];
  const tried = new Map<EngineEvent['kind'], number>();
  const state = (engine: Engine): Violation | null =>
    isHashOfState(engine)
      ? null
      : broken(engine, 'the state hash is not that of the live state in its snapshot');
  return {
    onEvent: (event) => events.push(event),
    after: (engine, command, outcome) => {
      const emitted = events;
      events = [];
      const { seq } = engine;
      hashCommandBySchema(chain, command);
      hashEvents(chain, command, emitted);
      closeCommand(chain, outcome);
      if (chain.hex() !== engine.chainHash()) {
        return broken(engine, `the chain hash of ${command.kind} is not the one by the schema`);
      }
      const blind =
        every === 1
          ? blindAnywhere(command, emitted)
          : (blindCommand(command, seq) ?? blindEvent(emitted, tried));
      if (blind !== null) return broken(engine, `the hash does not depend on ${blind}`);
      return seq % every === 0 ? state(engine) : null;
    },
    end: state,
  };
}

function hashEvents(chain: RollingHash, command: Command, events: readonly EngineEvent[]): void {
  let hashedUs: number = command.timeUs;
  for (const event of events) {
    if (event.timeUs !== hashedUs) {
      hashedUs = event.timeUs;
      chain.intNum(-1, hashedUs);
    }
    EVENT_HASHERS[event.kind](chain, CAUSES.indexOf(event.cause), event);
  }
}

function closeCommand(chain: RollingHash, outcome: Outcome): void {
  chain.int(outcomeNumber(outcome));
  chain.commit();
}

/** Alterations of one field that are tried in a short run. */
const TURNS = 6;

/** The same for every field, so that the result does not depend on the number of the command. */
function blindAnywhere(command: Command, events: readonly EngineEvent[]): string | null {
  const { fields } = schemaOf(command).body;
  for (let turn = 0; turn < TURNS * fields.length; turn += 1) {
    const found = blindCommand(command, turn);
    if (found !== null) return found;
  }
  for (const event of events) {
    for (let turn = 0; turn < TURNS * EVENTS[event.kind].body.fields.length; turn += 1) {
      const found = blindFields(event, turn, Math.floor(turn / TURNS));
      if (found !== null) return found;
    }
  }
  return null;
}

/** The field that the hash of a command does not depend on; null if there is none. */
function blindCommand(command: Command, seq: number): string | null {
  const { body } = schemaOf(command);
  if (body.fields.length === 0) return null;
  const { field, record } = alterField(body, command, seq, Math.floor(seq / body.fields.length));
  const altered = record as Command;
  // The sign of a price says its side; a price of 0 is refused.
  if (field.endsWith('side') && hasNoPrice(command)) return null;
  const [one, other] = [new RollingHash(), new RollingHash()];
  try {
    hashCommand(one, command);
    hashCommand(other, altered);
  } catch {
    // The altered value is outside of the range of its field.
    return null;
  }
  return hexOf(one) === hexOf(other) ? `${field} of ${command.kind}` : null;
}

/** Alterations of an event in a long run. */
const ALTERED = 3;

/** Tries the kind of event that was tried least: rare kinds have few turns. */
function blindEvent(
  events: readonly EngineEvent[],
  tried: Map<EngineEvent['kind'], number>,
): string | null {
  const countOf = ({ kind }: EngineEvent): number => tried.get(kind) ?? 0;
  let [event] = events;
  if (event === undefined) return null;
  for (const other of events) if (countOf(other) < countOf(event)) event = other;
  const from = countOf(event);
  tried.set(event.kind, from + ALTERED);
  for (let turn = from; turn < from + ALTERED; turn += 1) {
    const { length } = EVENTS[event.kind].body.fields;
    const found = blindFields(event, turn, Math.floor(turn / Math.max(1, length)));
    if (found !== null) return found;
  }
  return null;
}

function hasNoPrice(command: Command): boolean {
  if ('levels' in command) return command.levels.some(({ priceTicks }) => priceTicks === 0);
  return command.kind === 'tapeL3' && command.priceTicks === 0;
}

function blindFields(event: EngineEvent, nth: number, turn: number): string | null {
  const { kind } = event;
  const { body } = EVENTS[kind];
  const { field, record } = alterField(body, event, nth, turn);
  const fast = slowFault(event, nth + turn) ?? slowFault(record as EngineEvent, nth + turn);
  if (fast !== null) return fast;
  const name = field.split(/[.[]/, 1)[0] ?? '';
  if (FIXED[kind]?.includes(name) === true || SAME_AS_NONE.has(name)) return null;
  const [one, other] = [new RollingHash(), new RollingHash()];
  EVENT_HASHERS[kind](one, 0, event);
  EVENT_HASHERS[kind](other, 0, record as EngineEvent);
  return hexOf(one) === hexOf(other) ? `${field} of ${kind}` : null;
}

/** Amounts beside the largest whole number that a double has exactly, of both signs. */
const AMOUNTS = [1n, -1n].flatMap((sign) =>
  [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 62n + 1n].map((amount) => sign * amount),
);

/** Whether a frequent event has another hash than by its schema, also with a large amount. */
function slowFault(event: EngineEvent, turn: number): string | null {
  const fast = FAST[event.kind] as HashEvent | undefined;
  if (fast === undefined) return null;
  const amounts = Object.entries(event).filter(([name]) => name.endsWith('Quanta'));
  const [name] = amounts[turn % Math.max(1, amounts.length)] ?? [null];
  const large = name === null ? event : { ...event, [name]: AMOUNTS[turn % AMOUNTS.length] };
  for (const one of [event, large]) {
    const [own, wanted] = [new RollingHash(), new RollingHash()];
    fast(own, turn % CAUSES.length, one);
    EVENT_HASHERS[event.kind](wanted, turn % CAUSES.length, one);
    if (hexOf(own) !== hexOf(wanted))
      return `${name ?? 'all fields'} of ${event.kind} by its schema`;
  }
  return null;
}

function hexOf(hash: RollingHash): string {
  hash.commit();
  return hash.hex();
}

const NOTHING_KEPT: ExchangeConfig['retention'] = {
  tradesPerMarket: 0,
  candleMinutesPerMarket: 0,
  endedOrdersPerAccount: 0,
  transfersPerSubaccount: 0,
  vaultSnapshotsPerHolder: 0,
};

/**
 * Whether the state hash is that of parameters and live state, cut out of the snapshot. A text of
 * the state may equal the marker at its end, so each place of the marker is tried.
 */
function isHashOfState(engine: Engine): boolean {
  const snapshot = engine.snapshot();
  const chain = markerOf(engine.chainHash());
  const from = placeOf(snapshot, chain, 0) + chain.length;
  const end = markerOf('history');
  const wanted = engine.stateHash();
  const parameters = new ArchiveWriter();
  archiveConfig(parameters, { ...engine.config, retention: NOTHING_KEPT });
  const head = parameters.bytes();
  for (let to = placeOf(snapshot, end, from); to >= 0; to = placeOf(snapshot, end, to + 1)) {
    const bytes = new Uint8Array(head.length + to - from);
    bytes.set(head);
    bytes.set(snapshot.subarray(from, to), head.length);
    if (sha256Hex(bytes) === wanted) return true;
  }
  return false;
}

/** A text as an archive has it. */
function markerOf(text: string): Uint8Array {
  const writer = new ArchiveWriter();
  writer.section(text);
  return writer.bytes();
}

/** Place of these bytes at `from` or after it; −1 if there is none. */
function placeOf(bytes: Uint8Array, marker: Uint8Array, from: number): number {
  const last = bytes.length - marker.length;
  for (let at = from; at <= last; at += 1) {
    let i = 0;
    while (i < marker.length && bytes[at + i] === marker[i]) i += 1;
    if (i === marker.length) return at;
  }
  return -1;
}

function broken({ seq }: Engine, what: string): Violation {
  return {
    invariant: 'hash',
    rule: 'docs/DETERMINISM.md',
    says: 'hashes depend on every field of commands, events and state',
    detail: `after command ${String(seq)}: ${what}`,
  };
}

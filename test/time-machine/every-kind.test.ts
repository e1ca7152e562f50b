/**
 * Every command and every event of the engine in every view: as text, as requests, as a step of a
 * scenario, as a test, and in expressions. Kinds are those of the engine's schemas, so a new kind
 * fails here until it has its text.
 */
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/engine/schema/command-schema.ts';
import { EVENTS } from '../../src/engine/schema/event-schema.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { PROFILE_NAMES, type ProfileName } from '../../src/fuzz/profile.ts';
import { parseCommand } from '../../src/journal/format/command-json.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { compilePredicate, type Predicate } from '../../src/time-machine/expression/compile.ts';
import { scopeOf } from '../../src/time-machine/expression/scope.ts';
import { FIELDS, NAMES, type ValueType } from '../../src/time-machine/expression/value-types.ts';
import { isRecord, type Scope, type Value } from '../../src/time-machine/expression/values.ts';
import { Timeline, type Instant, type Step } from '../../src/time-machine/timeline.ts';
import {
  accountView,
  instantView,
  orderView,
  type InstantView,
} from '../../src/time-machine/views/instant-view.ts';
import { eventTree } from '../../src/time-machine/views/event-tree.ts';
import { whyStep } from '../../src/time-machine/views/why-step.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { eventText } from '../../src/web/time-machine/event-text.ts';
import { randomJournal } from './journals.ts';

const COMMAND_KINDS = Object.keys(COMMANDS) as readonly (keyof typeof COMMANDS)[];
const EVENT_KINDS = Object.keys(EVENTS) as readonly EngineEvent['kind'][];
/** The command and the fills of the same step say it. */
const WITHOUT_SENTENCE: readonly EngineEvent['kind'][] = [
  'orderAccepted',
  'tradePrinted',
  'positionChanged',
  'nonceUsed',
];
/** Text that a missing case or a value without text leaves. */
const HOLE = /undefined|NaN|\[object|Infinity/;
const COMMANDS_OF_RUN = 150;
/** Checked events of a kind in one step. */
const EVENTS_OF_KIND = 20;
const MOST_RUNS = 150;
/** Commands between two checks of all texts. */
const WORDS_EVERY = 8;
/** A scenario has a most length. */
const STEPS_OF_KIND = 20;

const commandKinds = new Set<string>();
const eventKinds = new Set<string>();
const sentenceKinds = new Set<string>();
const scenarioSteps = new Map<string, string[]>();

/** Data that a worker clones and that a page writes as JSON, without a hole in its text. */
function mustBePlain(value: unknown, name: string): void {
  const copies = [structuredClone(value), JSON.parse(JSON.stringify(value))];
  if (copies.every((copy) => isDeepStrictEqual(copy, value))) return;
  for (const copy of copies) expect(copy, name).toEqual(value);
}

function checkStep(view: InstantView, step: Step, instant: Instant, name: string): void {
  const { kind } = step.command;
  const shown = view.step!;
  commandKinds.add(kind);
  const { title, json, curl, scenario, test } = shown.forms;
  // A title is more than the name of the kind.
  expect(title, name).not.toBe(kind);
  for (const text of [title, curl, ...shown.why]) expect(text, name).not.toMatch(HOLE);
  for (const text of [title, ...shown.why]) expect(text, name).not.toMatch(/\bnull\b/);
  expect(curl, name).toMatch(/^curl -X (?:POST|DELETE) "\$URL\/\w+/);
  expect(parseCommand(JSON.parse(json), step.command.timeUs), name).toEqual(step.command);
  expect(test, name).toContain(json);
  expect(shown.why.length, name).toBeGreaterThan(0);
  const steps = scenarioSteps.get(kind) ?? [];
  if (steps.length < STEPS_OF_KIND) steps.push(`  ${scenario}`);
  scenarioSteps.set(kind, steps);
  for (const event of shown.events) expect(eventText(event), name).not.toMatch(HOLE);
  for (const event of someOf(step.events)) {
    eventKinds.add(event.kind);
    const alone = { ...step, events: [{ ...event, index: 0 }] };
    const [row] = eventTree(instant.engine, alone.events);
    expect(eventText(row!).length, name).toBeGreaterThan(event.kind.length);
    const sentences = whyStep(instant.engine, alone);
    // The first one of a refused command is the refusal.
    const says = sentences[step.outcome === 'ok' ? 0 : 1] ?? 'It changed nothing';
    if (!says.startsWith('It changed nothing')) sentenceKinds.add(event.kind);
    expect(has(kind, event.kind).test(scopeOf({ engine: instant.engine, ...step })), name).toBe(
      true,
    );
  }
}

/** A step over a day has thousands of events of one kind: the first ones of each. */
function someOf(events: readonly EngineEvent[]): readonly EngineEvent[] {
  const counts = new Map<EngineEvent['kind'], number>();
  return events.filter(({ kind }) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    return count <= EVENTS_OF_KIND;
  });
}

/** Texts of a few words have no other value, so an expression may refuse other words. */
function mustBeWords(scope: Scope, name: string): void {
  const mustBeOneOf = (value: Value, type: ValueType | undefined): void => {
    if (value === null || type?.kind !== 'text' || type.words === undefined) return;
    expect(type.words, name).toContain(value);
  };
  mustBeOneOf(scope.name('outcome'), NAMES['outcome']);
  for (const of of ['events', 'markets', 'accounts'] as const) {
    for (const item of [scope.name(of)].flat()) mustBeWordsOf(item, mustBeOneOf);
  }
}

function mustBeWordsOf(
  item: Value,
  mustBeOneOf: (value: Value, type: ValueType | undefined) => void,
): void {
  if (!isRecord(item)) return;
  for (const [field, type] of Object.entries(FIELDS[item.record])) {
    if (type.kind === 'text') mustBeOneOf(item.get(field), type);
    else if (field === 'orders') {
      for (const order of [item.get(field)].flat()) mustBeWordsOf(order, mustBeOneOf);
    }
  }
}

const predicates = new Map<string, Predicate>();

/** Whether the command and an event have these kinds, as an expression. */
function has(command: string, event: string): Predicate {
  const text = `command.kind == "${command}" && events.some(e => e.kind == "${event}")`;
  const found = predicates.get(text) ?? compilePredicate(text);
  predicates.set(text, found);
  return found;
}

/** Every instant of a run, with each of its accounts and orders. */
function checkRun(profile: ProfileName, seed: string): void {
  const { bytes, commands } = randomJournal(seed, COMMANDS_OF_RUN, { profile });
  const timeline = Timeline.open(bytes);
  for (let seq = 0; seq <= commands; seq++) {
    const instant = timeline.seek(seq);
    const { engine, step } = instant;
    const name = `${seed} ${String(seq)} ${step?.command.kind ?? ''}`;
    const market = seq % Math.max(1, engine.markets().length);
    const view = instantView(instant, { market, accounts: 5 });
    mustBePlain(view, name);
    if (step === null) continue;
    checkStep(view, step, instant, name);
    if (seq % WORDS_EVERY === 0) mustBeWords(scopeOf({ engine, ...step }), name);
    for (const event of someOf(step.events)) {
      if ('subaccount' in event) mustBePlain(accountView(instant, event.subaccount), name);
      if ('orderId' in event) mustBePlain(orderView(instant, event.orderId), name);
    }
  }
}

/** Each profile once, and further runs until every kind occurs. */
beforeAll(() => {
  for (let run = 0; run < MOST_RUNS; run++) {
    const isWhole =
      commandKinds.size === COMMAND_KINDS.length && eventKinds.size === EVENT_KINDS.length;
    if (isWhole && run >= PROFILE_NAMES.length) return;
    const profile = PROFILE_NAMES[run % PROFILE_NAMES.length]!;
    checkRun(profile, `kinds ${profile} ${String(run)}`);
  }
}, 120_000);

describe('every kind', () => {
  it.each(COMMAND_KINDS)('command %s occurs, and has its text in every view', (kind) => {
    expect(commandKinds).toContain(kind);
  });

  it.each(EVENT_KINDS)('event %s occurs, and has its text in every view', (kind) => {
    expect(eventKinds).toContain(kind);
    expect(sentenceKinds.has(kind)).toBe(!WITHOUT_SENTENCE.includes(kind));
  });

  it('is a step that a scenario accepts', () => {
    const text = `orrery: 1\ntitle: Commands\nsteps:\n${[...scenarioSteps.values()].flat().join('\n')}\n`;
    const parsed = parseScenario(text, 'commands.yaml', keccak);
    expect(parsed.ok ? [] : parsed.problems).toEqual([]);
  });
});

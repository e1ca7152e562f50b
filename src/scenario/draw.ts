/**
 * Random values of a crowd: `{ draw: logUniform, from: 300, to: 6000, step: 1 }` is drawn for each
 * member. The value is a function of the scenario's seed, the member's name, the field, the source
 * text of the draw, and its `salt`. Adding or removing a step therefore does not change other
 * draws, and equal draws of a field give a member equal values.
 *
 * Values are exact multiples of the step. `logUniform` is uniform in the logarithm: as many members
 * are between 300 and 600 as between 3000 and 6000.
 */
import { exp } from '../num/special/exp.ts';
import { ln } from '../num/special/ln.ts';
import { formatDecimal, parseDecimal, stepsExact, type Decimal } from '../num/decimal.ts';
import { RandomStreams } from '../virtual-time/rng.ts';
import { DRAW_SHAPE } from './language.ts';
import { fieldOf, textOf } from './node-fields.ts';
import { checkShape } from './shape.ts';
import {
  childPath,
  itemPath,
  type MapNode,
  type Problem,
  type ScalarNode,
  type SourceNode,
} from './source-node.ts';

/** Max number of values of a draw: those of 32 random bits. */
const MAX_VALUES = 2 ** 32;

/** Required keys of each distribution; the other's keys are not allowed. */
const RANGE_KEYS = ['from', 'to', 'step'] as const;

const isDraw = (node: MapNode): boolean => node.entries.has('draw');

/** All draws in a node, with their paths. */
export function drawsIn(node: SourceNode, path: string): { node: MapNode; path: string }[] {
  switch (node.kind) {
    case 'scalar':
      return [];
    case 'list':
      return node.items.flatMap((item, i) => drawsIn(item, itemPath(path, i)));
    case 'map':
      if (isDraw(node)) return [{ node, path }];
      return [...node.entries].flatMap(([key, { value }]) => drawsIn(value, childPath(path, key)));
  }
}

/** Appends the faults of a draw, shape included. */
export function checkDraw(node: MapNode, path: string, problems: Problem[]): void {
  const before = problems.length;
  checkShape(node, DRAW_SHAPE, path, problems);
  if (problems.length > before) return;
  const isChoice = textOf(node, 'draw') === 'choice';
  const needed: readonly string[] = isChoice ? ['of'] : RANGE_KEYS;
  const strange: readonly string[] = isChoice ? RANGE_KEYS : ['of'];
  const word = String(textOf(node, 'draw'));
  for (const key of needed) {
    if (node.entries.has(key)) continue;
    problems.push({ place: node.place, path, message: `a draw of ${word} needs "${key}"` });
  }
  for (const key of strange) {
    const entry = node.entries.get(key);
    if (entry === undefined) continue;
    problems.push({ place: entry.keyPlace, path, message: `a draw of ${word} has no "${key}"` });
  }
  if (problems.length === before && !isChoice) checkRange(node, path, problems);
}

function checkRange(node: MapNode, path: string, problems: Problem[]): void {
  const [from, to, step] = RANGE_KEYS.map((key) => decimalOf(node, key));
  if (from === undefined || to === undefined || step === undefined) return;
  const refuse = (key: string, message: string): void => {
    const place = fieldOf(node, key)?.place ?? node.place;
    problems.push({ place, path: childPath(path, key), message });
  };
  if (step.digits <= 0n) {
    refuse('step', 'must be more than 0');
    return;
  }
  const [first, last] = [stepsExact(from, step), stepsExact(to, step)];
  const stepText = String(textOf(node, 'step'));
  if (first === null)
    refuse('from', `${String(textOf(node, 'from'))} is not a multiple of ${stepText}`);
  if (last === null) refuse('to', `${String(textOf(node, 'to'))} is not a multiple of ${stepText}`);
  if (first === null || last === null) return;
  if (first > last) {
    refuse('to', `${String(textOf(node, 'to'))} is below "from"`);
  } else if (last - first >= MAX_VALUES || !isSafe(first) || !isSafe(last)) {
    refuse('step', `leaves more than ${String(MAX_VALUES)} values; take a larger step`);
  } else if (textOf(node, 'draw') === 'logUniform' && first <= 0n && last >= 0n) {
    refuse('from', 'the range of logUniform must not contain 0');
  }
}

/**
 * The map with each draw replaced by the member's value. Its draws must have passed `checkDraw`.
 */
export function withDrawnValues(map: MapNode, seed: number, member: string): MapNode {
  return drawnMap(map, { seed, member }, '');
}

/** Seed and member of a draw. */
interface Drawer {
  readonly seed: number;
  readonly member: string;
}

function drawnMap(map: MapNode, drawer: Drawer, path: string): MapNode {
  const entries = [...map.entries].map(([key, entry]) => {
    const value = drawnNode(entry.value, drawer, childPath(path, key));
    return [key, { ...entry, value }] as const;
  });
  return { ...map, entries: new Map(entries) };
}

/** `path` is the field's path within its map. */
function drawnNode(node: SourceNode, drawer: Drawer, path: string): SourceNode {
  switch (node.kind) {
    case 'scalar':
      return node;
    case 'map':
      return isDraw(node) ? drawnValue(node, drawer, path) : drawnMap(node, drawer, path);
    case 'list': {
      const items = node.items.map((item, i) => drawnNode(item, drawer, itemPath(path, i)));
      return { ...node, items };
    }
  }
}

function drawnValue(node: MapNode, { seed, member }: Drawer, path: string): ScalarNode {
  const { place } = node;
  const word = String(textOf(node, 'draw'));
  const choices = choicesOf(node);
  const terms = word === 'choice' ? choices.map(({ text }) => text) : rangeText(node);
  // JSON separates the parts of the name unambiguously.
  const name = JSON.stringify([member, path, word, terms, textOf(node, 'salt') ?? '0']);
  const unit = new RandomStreams(String(seed)).stream(name).next();
  const chosen = choices[Math.floor(unit * choices.length)];
  if (chosen !== undefined) return { ...chosen, place };
  return { kind: 'scalar', type: 'number', text: drawn(node, word, unit), place };
}

/** Decimal text of the value for a uniform number in [0, 1). */
function drawn(node: MapNode, word: string, unit: number): string {
  const [from, to, step] = RANGE_KEYS.map((key) => decimalOf(node, key));
  if (from === undefined || to === undefined || step === undefined) return '0';
  const first = Number(stepsExact(from, step));
  const last = Number(stepsExact(to, step));
  const count = word === 'logUniform' ? logUniform(first, last, unit) : uniform(first, last, unit);
  return formatDecimal(BigInt(count) * step.digits, step.scale);
}

const uniform = (first: number, last: number, unit: number): number =>
  first + Math.floor(unit * (last - first + 1));

/** Negative ranges mirror positive ones. */
function logUniform(first: number, last: number, unit: number): number {
  if (last < 0) return -logUniform(-last, -first, unit);
  const value = Math.floor(exp(ln(first) + unit * (ln(last + 1) - ln(first))));
  return Math.min(last, Math.max(first, value));
}

function choicesOf(node: MapNode): ScalarNode[] {
  const list = fieldOf(node, 'of');
  if (list?.kind !== 'list') return [];
  return list.items.filter((item): item is ScalarNode => item.kind === 'scalar');
}

const rangeText = (node: MapNode): (string | null)[] => RANGE_KEYS.map((key) => textOf(node, key));

const decimalOf = (node: MapNode, key: string): Decimal | undefined =>
  parseDecimal(textOf(node, key) ?? '') ?? undefined;

const isSafe = (count: bigint): boolean => Number.isSafeInteger(Number(count));

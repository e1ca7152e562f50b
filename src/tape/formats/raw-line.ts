/**
 * How recorders write the messages of a feed, one a line: with the time of receipt in front (`1723161255030314667 {…}`, as hftbacktest's
 * collector does), bare, or as cryptofeed's captures have them: `1626992741.06217: {…}`, and `<url> -> 1626992741.30: {…}` for what was
 * answered over HTTP. Such a capture also says when it connected (`<url> <-> 1626992740.18`), what it sent (`<url> <- …`) and how it was set.
 */
import { timeUs, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { shown, timeOf } from './numbers.ts';

export interface RawLine {
  /** When the message was received; null when the line does not say. */
  readonly localUs: TimeUs | null;
  readonly json: string;
  /** What was asked for over HTTP; null of a message of a feed. */
  readonly url: string | null;
}

const RECEIVED = /^(?:(\S+) -> )?([0-9]+(?:\.[0-9]+)?):?$/;
const OF_THE_RECORDER = /^(?:\S+ <->? [0-9]|configuration:)/;

/** Null for what a recorder says of itself. Throws `TapeError` without its line, which the caller adds. */
export function rawLine(text: string): RawLine | null {
  const brace = text.indexOf('{');
  const head = (brace < 0 ? text : text.slice(0, brace)).trim();
  const json = brace < 0 ? '' : text.slice(brace);
  if (head === '' && json !== '') return { localUs: null, json, url: null };
  const match = RECEIVED.exec(head);
  if (match !== null && json !== '') {
    return { localUs: timeOf(match[2], 'receive time'), json, url: match[1] ?? null };
  }
  // An answer that is a list is no book.
  if (OF_THE_RECORDER.test(head) || /^\S+ -> [0-9.]+: \[/.test(text)) return null;
  throw new TapeError(`expected \`<time of receipt> <json>\`, got ${text.slice(0, 60)}`);
}

/** What a URL asks for by this name. */
export function askedFor(url: string, name: string): string | null {
  return new RegExp(`[?&]${name}=([^&]+)`).exec(url)?.[1] ?? null;
}

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parseObject(source: string): Json {
  try {
    const value: unknown = JSON.parse(source);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new TapeError(`not a JSON object: ${source.slice(0, 60)}`);
}

export function milliseconds(body: Json, field: string): TimeUs {
  const value = body[field];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > 9e12) {
    throw new TapeError(`\`${field}\` is ${shown(textOf(value))}, not a time in milliseconds`);
  }
  return timeUs(value * 1000);
}

/** A value as the text that the readers of numbers take. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return value === undefined ? undefined : JSON.stringify(value);
}

/**
 * Parses lines of recorded feed messages. Formats: with time of receipt (`1723161255030314667 {…}`,
 * hftbacktest's collector); bare JSON; and cryptofeed's captures, `1626992741.06217: {…}`, or
 * `<url> -> 1626992741.30: {…}` for HTTP responses. Captures also log connections (`<url> <->
 * 1626992740.18`), sent messages (`<url> <- …`) and the configuration.
 */
import { timeUs, type TimeUs } from '../../num/units.ts';
import { TapeError } from '../record.ts';
import { shown, timeOf } from './numbers.ts';

export interface RawLine {
  /** Time of receipt; null if the line has none. */
  readonly localUs: TimeUs | null;
  readonly json: string;
  /** URL of the HTTP request; null for a feed message. */
  readonly url: string | null;
}

const RECEIVED = /^(?:(\S+) -> )?([0-9]+(?:\.[0-9]+)?):?$/;
const OF_THE_RECORDER = /^(?:\S+ <->? [0-9]|configuration:)/;

/**
 * Null for log lines of the recorder. Throws `TapeError` without line number, which the caller
 * adds.
 */
export function rawLine(text: string): RawLine | null {
  const brace = text.indexOf('{');
  const head = (brace < 0 ? text : text.slice(0, brace)).trim();
  const json = brace < 0 ? '' : text.slice(brace);
  if (head === '' && json !== '') return { localUs: null, json, url: null };
  const match = RECEIVED.exec(head);
  if (match !== null && json !== '') {
    return { localUs: timeOf(match[2], 'receive time'), json, url: match[1] ?? null };
  }
  // A response that is a list is not a book.
  if (OF_THE_RECORDER.test(head) || /^\S+ -> [0-9.]+: \[/.test(text)) return null;
  throw new TapeError(`expected \`<time of receipt> <json>\`, got ${text.slice(0, 60)}`);
}

/** Value of a query parameter of a URL. */
export function queryParameter(url: string, name: string): string | null {
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
    // Reported below.
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

/** A value as text for the number readers. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return value === undefined ? undefined : JSON.stringify(value);
}

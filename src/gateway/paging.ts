/**
 * Pagination of lists. A cursor names the last entry shown, not an offset. New entries
 * come before it, so no entry is repeated or skipped. Cursors hold no state and no rights and
 * survive a restart.
 *
 * A cursor's text has the place's integers in base 36, a hash of the other request parameters and a
 * checksum of eight hex digits each. A mistyped cursor, or one from another request, is rejected.
 */
import { sha256Hex } from '../base/sha256.ts';
import { ENDPOINTS, type ListId, type Pages } from '../contract/endpoints.ts';
import { limitRange, MESSAGES } from '../contract/messages.ts';
import type { Moment, Retained } from '../engine/read/views.ts';
import type { TimeUs } from '../num/units.ts';
import type { PageInfo } from './context.ts';
import type { Fields } from './fields.ts';
import { RequestError } from './request-error.ts';

/** Key of an entry in its list: integers ≥ 0. */
export type Place = readonly number[];

const CURSOR = /^([0-9a-z]{1,11}(?:-[0-9a-z]{1,11}){0,2})\.([0-9a-f]{8})\.([0-9a-f]{8})$/;
const PAGE_FIELDS = ['limit', 'cursor'];

/** A list beside the contract, by the name that its cursors have. */
interface NamedList {
  readonly id: string;
  readonly pages: Pages;
}

/** The requested page. */
export class Paging {
  /** Max entries of the page; Infinity: unlimited. */
  readonly limit: number;
  /** Last entry shown; null on the first page. */
  readonly after: Place | null;
  private readonly name: string;
  private readonly parameters: string;

  /**
   * Throws `RequestError` naming limit or cursor. `places`: number of integers in an entry's key.
   */
  constructor(list: ListId | NamedList, fields: Fields, places: number) {
    const { limit, max } = (typeof list === 'string' ? ENDPOINTS[list] : list).pages;
    this.name = typeof list === 'string' ? list : list.id;
    this.limit = readLimit(fields, limit ?? Infinity, max);
    this.parameters = digits(fields.canonicalText(PAGE_FIELDS));
    this.after = fields.has('cursor') ? this.decode(fields.text('cursor'), places) : null;
  }

  /** Cursor of the page after this entry. */
  cursorAt(place: Place): string {
    const integers = place.map((part) => part.toString(36)).join('-');
    return `${integers}.${this.parameters}.${this.check(integers, this.parameters)}`;
  }

  private decode(text: string, places: number): Place {
    const [, integers = '', parameters = '', check = ''] = CURSOR.exec(text) ?? [];
    const place = integers.split('-').map((part) => Number.parseInt(part, 36));
    const sound = place.length === places && place.every((part) => Number.isSafeInteger(part));
    if (!sound || check !== this.check(integers, parameters)) {
      throw new RequestError(MESSAGES.cursorUnknown);
    }
    if (parameters !== this.parameters) throw new RequestError(MESSAGES.cursorOfOther);
    return place;
  }

  private check(integers: string, parameters: string): string {
    return digits(`${this.name} ${integers} ${parameters}`);
  }
}

/** One page: the contract's body and its pagination. */
export class Page implements PageInfo {
  readonly body: unknown;
  readonly next: string | null;
  readonly keptSinceMs: number | null;

  constructor(body: unknown, next: string | null, keptSinceMs: number | null) {
    this.body = body;
    this.next = next;
    this.keptSinceMs = keptSinceMs;
  }
}

/** Start of retention if a request reaches back beyond it, to `fromUs`; otherwise null. */
export function retentionStart(fromUs: number, keptSinceUs: TimeUs | null): number | null {
  return keptSinceUs !== null && fromUs < keptSinceUs ? Math.floor(keptSinceUs / 1000) : null;
}

/** A page of current entries, such as markets; `items` ascend by their constant places. */
export function pageOfAll<T>(
  paging: Paging,
  items: readonly T[],
  placeOf: (item: T) => Place,
  encode: (item: T) => unknown,
): Page {
  const { after, limit } = paging;
  const left =
    after === null ? items : items.filter((item) => comparePlaces(placeOf(item), after) > 0);
  const shown = limit === Infinity ? left : left.slice(0, limit);
  const last = shown.at(-1);
  const next =
    last === undefined || shown.length === left.length ? null : paging.cursorAt(placeOf(last));
  return new Page(shown.map(encode), next, null);
}

/**
 * Integers in the key of `pageOfMoments`: time, sequence number, and number of such entries shown.
 */
export const MOMENT_PLACES = 3;

/**
 * A page of dated entries, newest first, back to `fromUs`. The cursor counts entries of one moment
 * already shown. `read` returns the newest entries not after a moment.
 */
export function pageOfMoments<T extends Moment>(
  paging: Paging,
  fromUs: number,
  read: (limit: number, upTo: Moment | undefined) => Retained<T>,
  encode: (entry: T) => unknown,
): Page {
  const [timeUs = 0, seq = 0, alike = 0] = paging.after ?? [];
  const upTo = paging.after === null ? undefined : { timeUs, seq };
  const { items: found, keptSinceUs } = read(paging.limit + alike + 1, upTo);
  const left = found.slice(Math.min(alike, countAlike(found, upTo)));
  const shown = left.slice(0, paging.limit);
  const last = shown.at(-1);
  let next: string | null = null;
  if (last !== undefined && left.length > shown.length) {
    const before = last.timeUs === timeUs && last.seq === seq ? alike : 0;
    next = paging.cursorAt([last.timeUs, last.seq, before + countAlike(shown.toReversed(), last)]);
  }
  return new Page(shown.map(encode), next, retentionStart(fromUs, keptSinceUs));
}

/** Number of leading entries of one moment. */
function countAlike(entries: readonly Moment[], moment: Moment | undefined): number {
  if (moment === undefined) return 0;
  const { timeUs, seq } = moment;
  const end = entries.findIndex((entry) => entry.timeUs !== timeUs || entry.seq !== seq);
  return end === -1 ? entries.length : end;
}

function comparePlaces(a: Place, b: Place): number {
  for (const [i, part] of a.entries()) {
    const difference = part - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A limit from 1 to `max`; errors have the contract's text. */
function readLimit(fields: Fields, fallback: number, max: number): number {
  if (!fields.has('limit')) return fallback;
  const limit = fields.integer('limit');
  if (limit < 1n || limit > BigInt(max)) {
    throw new RequestError(limitRange(max, limit.toString()));
  }
  return Number(limit);
}

/** Hash of a text as eight hex digits. */
function digits(text: string): string {
  const bytes = new Uint8Array(2 * text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[2 * i] = unit & 0xff;
    bytes[2 * i + 1] = unit >> 8;
  }
  return sha256Hex(bytes).slice(0, 8);
}

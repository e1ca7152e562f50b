/**
 * Lists page by page. A page's cursor names the last entry that was shown, never a number of entries: what is new meanwhile comes
 * before it, so nothing is shown twice and nothing is passed over. Cursors hold no state and no rights; they outlive a restart.
 *
 * The text is the place's integers in base 36, eight digits that stand for the request's other parameters and eight over all of it, so
 * that a cursor that was mistyped, or is given with another request, is refused instead of answering from anywhere.
 */
import { sha256Hex } from '../base/sha256.ts';
import { ENDPOINTS, type ListId } from '../contract/endpoints.ts';
import { limitRange, MESSAGES } from '../contract/messages.ts';
import type { Moment, Retained } from '../engine/read/views.ts';
import type { TimeUs } from '../num/units.ts';
import type { PageInfo } from './context.ts';
import type { Fields } from './fields.ts';
import { RequestError } from './request-error.ts';

/** What an entry is found by among its list: integers ≥ 0. */
export type Place = readonly number[];

const CURSOR = /^([0-9a-z]{1,11}(?:-[0-9a-z]{1,11}){0,2})\.([0-9a-f]{8})\.([0-9a-f]{8})$/;
const PAGE_FIELDS = ['limit', 'cursor'];

/** The page that a request asks for. */
export class Paging {
  /** Entries of the page; Infinity: all there are. */
  readonly limit: number;
  /** The last entry that was shown; null on the first page. */
  readonly after: Place | null;
  private readonly endpoint: ListId;
  private readonly parameters: string;

  /** Throws `RequestError` naming limit or cursor. `places` is how many integers name an entry of this list. */
  constructor(endpoint: ListId, fields: Fields, places: number) {
    const { limit, most } = ENDPOINTS[endpoint].pages;
    this.endpoint = endpoint;
    this.limit = readLimit(fields, limit ?? Infinity, most);
    this.parameters = digits(fields.canonicalText(PAGE_FIELDS));
    this.after = fields.has('cursor') ? this.decode(fields.text('cursor'), places) : null;
  }

  /** The cursor after this entry. */
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
    return digits(`${this.endpoint} ${integers} ${parameters}`);
  }
}

/** One page: the contract's body, and what stands beside it. */
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

/** What retention has taken from a request that reaches back to `fromUs`. */
export function cutAt(fromUs: number, keptSinceUs: TimeUs | null): number | null {
  return keptSinceUs !== null && fromUs < keptSinceUs ? Math.floor(keptSinceUs / 1000) : null;
}

/**
 * A page of what there is now, such as markets: `items` in ascending order of their places, which do not change while an item is there.
 */
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

/** How many integers place an entry of `pageOfMoments`: its time, its sequence number, and how many such were shown. */
export const MOMENT_PLACES = 3;

/**
 * A page of dated entries, newest first, of a request that reaches back to `fromUs`. One command may make several at one time: the cursor
 * says how many of them were shown. `read` answers the newest entries that are not after a moment.
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
  return new Page(shown.map(encode), next, cutAt(fromUs, keptSinceUs));
}

/** How many entries at the front are of one moment. */
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

/** A limit in 1…most, in the contract's words. */
function readLimit(fields: Fields, fallback: number, most: number): number {
  if (!fields.has('limit')) return fallback;
  const limit = fields.integer('limit');
  if (limit < 1n || limit > BigInt(most)) {
    throw new RequestError(limitRange(most, limit.toString()));
  }
  return Number(limit);
}

/** Eight hex digits that stand for a text. */
function digits(text: string): string {
  const bytes = new Uint8Array(2 * text.length);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[2 * i] = unit & 0xff;
    bytes[2 * i + 1] = unit >> 8;
  }
  return sha256Hex(bytes).slice(0, 8);
}

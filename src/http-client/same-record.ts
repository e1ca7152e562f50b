/** Trades and fills have no number, so their records are compared. */
import { stringifyExact } from '../contract/exact-json.ts';

/** A record of a feed or of a read. */
export type Data = Readonly<Record<string, unknown>>;

export interface Compared {
  /** Of the record without the id of its order. */
  readonly text: string;
  readonly orderId: unknown;
}

export function compared(record: Data): Compared {
  const { order_id: orderId = null, ...rest } = record;
  return { text: stringifyExact(rest), orderId };
}

/** A fill that is read later has no id if its order is not kept any more. */
export function isSame(one: Compared, other: Compared | undefined): boolean {
  if (one.text !== other?.text) return false;
  return one.orderId === other.orderId || one.orderId === null || other.orderId === null;
}

/** The last delivered records of a series, all of one time. */
export interface Tail {
  readonly time: number;
  /** Number of records of that time. */
  alike: number;
  /** The last of them. */
  readonly last: Compared[];
}

const MOST = 20;

export function noteIn(tail: Tail | undefined, time: number, record: Data): Tail {
  const noted = tail?.time === time ? tail : { time, alike: 0, last: [] };
  noted.alike += 1;
  if (noted.last.push(compared(record)) > MOST) noted.last.shift();
  return noted;
}

/**
 * Number of the records up to the last delivered one, of all that are known of that time. Equal
 * records in a row are counted. 0: none of them was delivered.
 */
export function placeAfter({ alike, last }: Tail, records: readonly Data[]): number {
  const known = records.map(compared);
  let place = 0;
  let longest = 0;
  for (let at = 1; at <= known.length; at++) {
    let length = 0;
    while (length < at && isSameBack(last, length, known[at - 1 - length])) length += 1;
    const isNearer = Math.abs(at - alike) < Math.abs(place - alike);
    if (length > longest || (length > 0 && length === longest && isNearer)) {
      place = at;
      longest = length;
    }
  }
  return place;
}

/** `back`: counted from the end. */
function isSameBack(some: readonly Compared[], back: number, other?: Compared): boolean {
  const one = some.at(-1 - back);
  return one !== undefined && isSame(one, other);
}

/**
 * Sequences of orders from the test suites of other matching engines, with the assertions of those
 * suites. Orders and asserted numbers are theirs; the notation is this project's. A row is one
 * request:
 *
 * <id> buy|sell <size> @<price>|market [ioc|post] [stop <price>] [by <account>] [→
 * <maker>:<size>@<price> …] [! <id> …] [= <bids> | <asks>] [Σ …]
 *     cancel <id> [gone]
 *
 * `→`: the trades, in order, each with the resting order and its price; a row without it trades
 * nothing, unless `→ …` marks trades that the suite does not assert. `!`: orders ended by
 * self-trade prevention. `=`: the book, best first, `price:size` per level, `…` beyond the suite's
 * assertion. `Σ`: orders/volume of the bids, then of the asks. A `stop` waits until the last price
 * reaches it, a `post` only rests. Each order has its own account unless `by` names one. A market
 * order never rests. If an engine moves an order, the rows are a cancel and a new order.
 */
export interface Suite {
  readonly engine: string;
  /** Repository and file. */
  readonly source: string;
  /** Every trade of the suite is between 0 and twice this, the band of its market. */
  readonly mark: string;
  /**
   * Order that ends when two orders of an account meet: 0 the incoming, 1 the resting, 2
   * both.
   */
  readonly selfTradeExpire?: 0 | 1 | 2;
  /** Rows before each of the sequences. */
  readonly before?: string;
  readonly sequences: Readonly<Record<string, string>>;
}

interface Expected {
  readonly text: string;
  /** null: the suite does not assert them. */
  readonly trades: readonly string[] | null;
  readonly ends: readonly string[];
  readonly book: { readonly bids: readonly string[]; readonly asks: readonly string[] } | null;
  readonly totals: readonly string[] | null;
}

interface Place extends Expected {
  readonly kind: 'place';
  readonly id: string;
  readonly side: 'buy' | 'sell';
  readonly size: string;
  /** null at the market. */
  readonly price: string | null;
  readonly ioc: boolean;
  readonly postOnly: boolean;
  /** Its trigger; null if it is placed at once. */
  readonly stop: string | null;
  readonly by: string;
}

interface Cancel extends Expected {
  readonly kind: 'cancel';
  readonly id: string;
  /** It has ended before. */
  readonly gone: boolean;
}

export type Row = Place | Cancel;

/** Throws for an invalid row. */
export function rowsOf(table: string): Row[] {
  const rows: string[] = [];
  for (const line of table.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    // A row may continue on the next line.
    if (line.startsWith('=')) rows.push(`${rows.pop() ?? ''} ${line}`);
    else rows.push(line);
  }
  return rows.map(rowOf);
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

function rowOf(text: string): Row {
  const [request = '', ...sections] = text.split(/(?=[→!=Σ])/);
  const section = (mark: string): string | undefined =>
    sections.find((each) => each.startsWith(mark))?.slice(1);
  const trades = words(section('→') ?? '');
  const [bids, asks] = (section('=') ?? '').split('|').map(words);
  const totals = section('Σ');
  const expected: Expected = {
    text,
    trades: trades[0] === '…' ? null : trades,
    ends: words(section('!') ?? ''),
    book: bids === undefined || asks === undefined ? null : { bids, asks },
    totals: totals === undefined ? null : words(totals),
  };
  if (section('=') !== undefined && expected.book === null)
    throw new Error(`invalid book: ${text}`);
  return { ...requestOf(words(request), text), ...expected };
}

const TERMS = new Set(['ioc', 'post', 'stop', 'by']);

type Request = Omit<Place, keyof Expected> | Omit<Cancel, keyof Expected>;

function requestOf([first = '', second = '', ...more]: string[], text: string): Request {
  if (first === 'cancel') return { kind: 'cancel', id: second, gone: more[0] === 'gone' };
  const [size = '', at = '', ...terms] = more;
  const isPlace = (second === 'buy' || second === 'sell') && /^(@[\d.]+|market)$/.test(at);
  if (!isPlace) throw new Error(`invalid request: ${text}`);
  const known = terms.every(
    (term, i) => TERMS.has(term) || terms[i - 1] === 'by' || terms[i - 1] === 'stop',
  );
  if (!known) throw new Error(`invalid terms: ${text}`);
  const after = (word: string): string | null => {
    const i = terms.indexOf(word);
    return i < 0 ? null : (terms[i + 1] ?? null);
  };
  return {
    kind: 'place',
    id: first,
    side: second,
    size,
    price: at === 'market' ? null : at.slice(1),
    ioc: at === 'market' || terms.includes('ioc'),
    postOnly: terms.includes('post'),
    stop: after('stop'),
    by: after('by') ?? `of ${first}`,
  };
}

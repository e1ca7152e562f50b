/**
 * Reads of a host and its twin, at bounds of the contract. A virtual clock stands still between
 * commands, so all reads after a command are sent at once.
 */
import { ENDPOINTS, type Endpoint, type EndpointId } from '../../contract/endpoints.ts';
import type { Address } from '../../num/units.ts';
import type { Dice } from '../dice.ts';
import { alteredRequest } from './altered-request.ts';
import type { Probe } from './divergence.ts';
import type { HostReply, TwinHost } from './twin-host.ts';
import type { Twin } from './twin.ts';

/** Both replies to one request. */
interface ReplyPair {
  readonly endpoint: EndpointId;
  readonly request: Readonly<Record<string, unknown>>;
  readonly twin: HostReply;
  readonly host: HostReply;
  readonly probe: Probe;
}

interface Read {
  readonly endpoint: EndpointId;
  readonly request: Readonly<Record<string, unknown>>;
  readonly caller: Address | null;
}

/** A read, and the most pages of it. */
export interface PagedRead extends Read {
  readonly pages: number;
}

interface Readers {
  readonly host: TwinHost;
  readonly twin: Twin;
  readonly users: readonly Address[];
  readonly symbols: readonly string[];
  readonly dice: Dice;
}

/** Max levels of a book request. */
export const MAX_LEVELS = 5000;
/** Pages of one list in turn, of one to three entries: they end between entries of one moment. */
const MOST_PAGES = 12;
const INTERVALS = ['1m', '5m', '1h', '1d'];
const LISTS = (Object.keys(ENDPOINTS) as EndpointId[]).filter(
  (id) => (ENDPOINTS[id] as Endpoint).pages !== undefined,
);

export class HostReads {
  private readonly readers: Readers;
  /** Times in replies so far, in ms: bounds of ranges. */
  private readonly times: number[] = [];

  constructor(readers: Readers) {
    this.readers = readers;
  }

  /** The current records of an account and a market, and lists in pages. */
  round(account: Address, symbol: string): readonly PagedRead[] {
    const { dice } = this.readers;
    const owner = { account, subaccountIndex: 0 };
    const reads: Read[] = [
      { endpoint: 'getBook', request: { symbol, depth: 20 }, caller: null },
      { endpoint: 'getPrice', request: { symbol }, caller: null },
      { endpoint: 'getSummary', request: { symbol }, caller: null },
      { endpoint: 'getTrades', request: { symbol, limit: 5 }, caller: null },
      { endpoint: 'getBalance', request: { account }, caller: account },
      { endpoint: 'getStats', request: owner, caller: account },
      { endpoint: 'getPositions', request: owner, caller: account },
      { endpoint: 'listOrders', request: { ...owner, status: 'open', limit: 20 }, caller: account },
      { endpoint: 'getTransferMax', request: owner, caller: account },
      {
        endpoint: 'getTransferMax',
        request: { ...owner, feedId: this.feedOf(symbol) },
        caller: account,
      },
      { endpoint: 'getMargin', request: owner, caller: account },
      { endpoint: 'getTime', request: {}, caller: null },
      this.deepBook(symbol),
    ];
    for (let i = 0; i < 3; i += 1) reads.push(this.altered(dice.pick(reads), account));
    const lists = [0, 1].map(() => this.listRead(dice.pick(LISTS), account, symbol));
    return [
      ...reads.map((read) => ({ ...read, pages: 1 })),
      ...lists.map((read) => ({ ...read, pages: MOST_PAGES })),
    ];
  }

  async all(reads: readonly PagedRead[]): Promise<readonly ReplyPair[]> {
    const pairs = await Promise.all(reads.map((read) => this.pages(read)));
    return pairs.flat();
  }

  /** Follows the cursors of both hosts, each of its own. */
  private async pages(read: PagedRead): Promise<readonly ReplyPair[]> {
    const { endpoint, request, caller, pages: most } = read;
    const { host, twin } = this.readers;
    const pairs: ReplyPair[] = [];
    let cursors: { readonly twin?: string; readonly host?: string } = {};
    while (pairs.length < most) {
      const asked = (cursor: string | undefined): Readonly<Record<string, unknown>> =>
        cursor === undefined ? request : { ...request, cursor };
      const expected = twin.call(endpoint, asked(cursors.twin), caller);
      const actual = await host.call(endpoint, asked(cursors.host), caller);
      pairs.push({
        endpoint,
        request: asked(cursors.host),
        twin: expected,
        host: actual,
        probe: { kind: 'call', endpoint, request, account: caller, page: pairs.length },
      });
      this.noteTimes(expected.body);
      const next = { twin: expected.page?.next ?? null, host: actual.page?.next ?? null };
      if (next.twin === null || next.host === null) break;
      cursors = { twin: next.twin, host: next.host };
    }
    return pairs;
  }

  /** The feed of a market: its isolated margin is transferable, too. */
  private feedOf(symbol: string): string {
    const { engine } = this.readers.twin;
    const market = engine.markets().find(({ spec }) => spec.symbol === symbol);
    return market?.spec.feedId ?? engine.config.cashFeedId;
  }

  private deepBook(symbol: string): Read {
    const depth = this.readers.dice.pick([0, 1, MAX_LEVELS, MAX_LEVELS + 1]);
    return { endpoint: 'getBook', request: { symbol, depth }, caller: null };
  }

  /** A list with a small or an extreme limit, and a range that ends at or beside an entry. */
  private listRead(endpoint: EndpointId, account: Address, symbol: string): Read {
    const { dice } = this.readers;
    const { request: schema, pages, access } = ENDPOINTS[endpoint] as Endpoint;
    const has = (name: string): boolean =>
      Object.hasOwn((schema as { properties?: object }).properties ?? {}, name);
    const max = pages?.max ?? 1;
    const limit = dice.chance(800)
      ? dice.pick([1, 2, 3])
      : dice.pick([-1, 0, max, max + 1, 2 ** 31, 2 ** 53 - 1]);
    const request: Record<string, unknown> = { limit };
    if (has('account')) request['account'] = account;
    if (has('subaccountIndex')) request['subaccountIndex'] = 0;
    if (has('symbol') && (access === 'public' || dice.chance(500))) request['symbol'] = symbol;
    if (has('interval')) request['interval'] = dice.pick(INTERVALS);
    if (has('status') && dice.chance(700)) {
      request['status'] = dice.pick(['open', 'active', 'filled', 'closed']);
    }
    for (const bound of ['from', 'to']) {
      if (has(bound) && dice.chance(400)) request[bound] = this.edge();
    }
    return { endpoint, request, caller: access === 'public' ? null : account };
  }

  /** A time of an entry, or one beside it. */
  private edge(): number {
    const { dice, times } = this;
    if (times.length === 0 || dice.chance(100)) return dice.pick([0, 1, 2 ** 53 - 1]);
    return dice.pick(times) + dice.pick([-1, 0, 0, 0, 1]);
  }

  private get dice(): Dice {
    return this.readers.dice;
  }

  private altered({ endpoint, request, caller }: Read, account: Address): Read {
    const changed = alteredRequest(endpoint, request, this.dice);
    return { endpoint, request: changed, caller: caller === null ? null : account };
  }

  private noteTimes(body: unknown): void {
    if (!Array.isArray(body)) return;
    for (const entry of body.slice(0, 3) as unknown[]) {
      if (typeof entry !== 'object' || entry === null) continue;
      const time = Number((entry as { time?: unknown }).time);
      if (!Number.isSafeInteger(time) || this.times.includes(time)) continue;
      this.times.push(time);
      if (this.times.length > 64) this.times.shift();
    }
  }
}

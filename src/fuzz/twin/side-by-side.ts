/**
 * A host and its twin side by side: each request goes to both. The first difference is kept with
 * the request that shows it.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import { stringifyExact } from '../../contract/exact-json.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import type { EventSink } from '../../engine/events.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { orderId, type Address } from '../../num/units.ts';
import { actOf, type RequestForm } from '../report/request-form.ts';
import { compareReplies, type ReplyDifference } from './compare-replies.ts';
import { MAX_LEVELS, type HostReads, type PagedRead } from './host-reads.ts';
import type { HostDivergence, Fields, Probe } from './divergence.ts';
import { commandOfSim } from './sim-command.ts';
import { Twin } from './twin.ts';
import { TwinFeeds } from './twin-feeds.ts';
import type { BookLevels, HostReply, SimVerb, TwinHost } from './twin-host.ts';

export interface Sides {
  readonly host: TwinHost;
  /** Configuration of the host; its genesis is the host's current time. */
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
  /** Accounts that can log in at the host and have no holdings there yet. */
  readonly users: readonly Address[];
  readonly keccak: Keccak;
}

/** Tokens live for a day; a subscription is renewed before. */
const TOKEN_MS = 20 * 3_600_000;

export class SideBySide {
  readonly twin: Twin;
  /** Number of requests that both answered. */
  requests = 0;
  /** Number of uses of each endpoint and simulation verb. */
  readonly used: Record<string, number> = {};
  divergence: HostDivergence | null = null;
  private readonly sides: Sides;
  private readonly feeds: TwinFeeds;
  private readonly observed: EventSink[] = [];
  /** Time of the subscriptions of accounts, by the host's clock. */
  private renewedMs: number;
  /** Whether there are subscriptions. */
  private comparesUpdates = false;

  constructor(sides: Sides) {
    this.sides = sides;
    const { config, markets, users, keccak } = sides;
    this.twin = new Twin(config, markets, keccak, () => (event) => {
      for (const observe of this.observed) observe(event);
    });
    this.feeds = new TwinFeeds(this.twin.engine, users, (id) => this.twin.orderIdOf(orderId(id)));
    this.observed.push((event) => {
      this.feeds.observe(event);
    });
    this.renewedMs = this.twin.engine.nowUs / 1000;
  }

  /** Passes later events of the twin. */
  observe(sink: EventSink): void {
    this.observed.push(sink);
  }

  /** Moves both clocks to a command, and sends its request. */
  async deliver(command: Command, before?: (act: CallForm) => Promise<void>): Promise<void> {
    await this.advance(Math.ceil(command.timeUs / 1000));
    const act = actOf(command, this.twin.engine, (id) => this.twin.orderIdOf(id));
    await this.perform(act, command, before);
  }

  /** A host's clock has millisecond resolution. */
  async advance(toMs: number): Promise<void> {
    if (toMs * 1000 <= this.twin.engine.nowUs) return;
    // Subscriptions of accounts end with their tokens. A repetition of a read has none: one that
    // begins here lacks the updates before it.
    const ends = this.comparesUpdates && toMs - this.renewedMs >= TOKEN_MS;
    if (ends) await this.compareUpdates(false);
    this.twin.advanceToMs(toMs);
    const twin = { status: 200, body: { time: toMs } };
    const host = await this.sides.host.sim('clock', { toMs });
    this.note('clock', 'simulation', twin, host, this.lastCommand());
    if (!ends) return;
    await this.sides.host.renewUpdates?.();
    this.feeds.forgetAccounts();
    this.renewedMs = toMs;
  }

  private async perform(
    act: RequestForm,
    command: Command,
    before?: (act: CallForm) => Promise<void>,
  ): Promise<void> {
    if (this.divergence !== null) return;
    switch (act.kind) {
      case 'call':
        // System accounts have no wallet that could log in.
        if (!this.sides.users.includes(act.account)) break;
        await before?.(act);
        await this.compareCall(act.endpoint, act.request, act.account);
        break;
      case 'money':
        await this.compareSim(act.verb, { ...act.fields }, command);
        break;
      case 'price': {
        const { verb, symbol, value } = act;
        if (verb === 'fundingRate') {
          await this.compareSim('funding', { symbol, rate: value }, command);
        } else await this.compareSim(verb, { symbol, price: value }, command);
        break;
      }
      default:
    }
  }

  async compareCall(endpoint: EndpointId, request: Fields, account: Address | null): Promise<void> {
    const { length } = this.twin.commands;
    const twin = this.twin.call(endpoint, request, account);
    const reply = await this.sides.host.call(endpoint, request, account);
    this.note(endpoint, endpoint, twin, reply, {
      commands: length,
      probe: { kind: 'call', endpoint, request, account, page: 0 },
    });
  }

  /** A recorded request of `/sim`. */
  compareControl(verb: SimVerb, fields: Fields): Promise<void> {
    return this.compareSim(verb, fields, commandOfSim(this.twin.engine, verb, fields));
  }

  private async compareSim(verb: SimVerb, fields: Fields, command: Command): Promise<void> {
    const { length } = this.twin.commands;
    // The index text as sent, which the API returns.
    const sent =
      command.kind === 'setIndex' ? { ...command, text: String(fields['price']) } : command;
    const twin = this.twin.apply(sent);
    const host = await this.sides.host.sim(verb, fields);
    this.note(verb, 'simulation', twin, host, {
      commands: length,
      probe: { kind: 'sim', verb, fields },
    });
  }

  /** Reads in pages, all at once. */
  async compareReads(reads: HostReads, asked: readonly PagedRead[]): Promise<void> {
    const { length } = this.twin.commands;
    for (const { endpoint, request, twin, host, probe } of await reads.all(asked)) {
      this.note(endpoint, endpoint, twin, host, { commands: length, probe, asked: request });
    }
  }

  /** a snapshot and the deltas since then yield the book. */
  async compareFeed(symbol: string): Promise<void> {
    if (this.divergence !== null) return;
    const whole = this.twin.call('getBook', { symbol, depth: MAX_LEVELS }, null);
    const { bids, asks } = whole.body as BookLevels;
    const twin: HostReply = { status: 200, body: { bids, asks } };
    const difference = (book: BookLevels): ReplyDifference | null =>
      compareReplies('getBook', twin, { status: 200, body: book });
    const fromFeed = await this.sides.host.bookOfFeed?.(
      symbol,
      (book) => difference(book) === null,
    );
    if (fromFeed === undefined || fromFeed === null) return;
    this.count('bookFeed');
    const found = difference(fromFeed);
    if (found !== null) this.diverge('bookFeed', { ...found, rule: 'R-11.4' }, this.feedProbe());
    const fault = this.sides.host.feedFault?.() ?? null;
    if (fault === null) return;
    const [path, expected, rule] = ['message', 'the one that follows', 'R-11.4'];
    this.diverge('bookFeed', { path, expected, actual: fault, rule }, this.feedProbe());
  }

  /** the updates of all other feeds. `isLast`: batches, which come some time later, too. */
  async compareUpdates(isLast: boolean): Promise<void> {
    const { host, markets, users } = this.sides;
    if (this.divergence !== null || host.takeUpdates === undefined) return;
    if (!this.comparesUpdates) this.renewedMs = this.twin.engine.nowUs / 1000;
    this.comparesUpdates = true;
    const found: { fault: string | null } = { fault: null };
    const symbols = markets.map(({ symbol }) => symbol);
    await host.takeUpdates(symbols, users, (updates) => {
      for (const some of updates) {
        found.fault = this.feeds.take(some);
        if (found.fault !== null) return true;
      }
      found.fault = this.feeds.fault(isLast);
      return found.fault === null;
    });
    this.count('updates');
    const { fault } = found;
    if (fault === null) return;
    const [path, expected, rule] = ['message', 'what the state requires', 'R-11.4'];
    this.diverge('feeds', { path, expected, actual: fault, rule }, this.feedProbe());
  }

  /** All feeds of all markets. */
  async compareFeeds(isLast: boolean): Promise<void> {
    for (const { symbol } of this.sides.markets) await this.compareFeed(symbol);
    await this.compareUpdates(isLast);
  }

  private lastCommand(): Shown {
    return { commands: this.twin.commands.length, probe: { kind: 'command' } };
  }

  private feedProbe(): Shown {
    return { commands: this.twin.commands.length, probe: { kind: 'feeds' } };
  }

  private count(what: string): void {
    this.requests += 1;
    this.used[what] = (this.used[what] ?? 0) + 1;
  }

  private note(
    what: string,
    kind: EndpointId | 'simulation',
    twin: HostReply,
    host: HostReply,
    shown: Shown,
  ): void {
    this.count(what);
    const difference = compareReplies(kind, twin, host);
    if (difference !== null) this.diverge(what, difference, shown);
  }

  private diverge(what: string, difference: ReplyDifference, shown: Shown): void {
    const { probe, commands } = shown;
    const request = shown.asked ?? requestOf(probe);
    const { path, expected, actual, rule } = difference;
    const asked = Object.keys(request).length === 0 ? '' : ` of ${stringifyExact(request)}`;
    this.divergence ??= {
      violation: {
        invariant: `host ${what}`,
        rule,
        says: 'a host replies as the rules require',
        detail: `request ${String(this.requests)}, ${what}${asked}: ${path} is ${actual}, expected ${expected} by the rules`,
      },
      difference,
      probe,
      commands,
      timeMs: this.twin.engine.nowUs / 1000,
    };
  }
}

function requestOf(probe: Probe): Fields {
  if (probe.kind === 'sim') return probe.fields;
  return probe.kind === 'call' ? probe.request : {};
}

interface Shown {
  readonly commands: number;
  readonly probe: Probe;
  /** The request of a later page: that of the probe with a cursor. */
  readonly asked?: Fields;
}

export type CallForm = Extract<RequestForm, { kind: 'call' }>;

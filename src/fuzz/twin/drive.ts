/**
 * Drives a host and its twin through the same random requests, up to the first difference in
 * replies. Commands that only a journal can express are omitted.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import { stringifyExact } from '../../contract/exact-json.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import type { EventSink } from '../../engine/events.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { orderId, type Address } from '../../num/units.ts';
import { Dice } from '../dice.ts';
import { CommandGenerator } from '../generator.ts';
import type { Violation } from '../checker.ts';
import { ACTIONS, type Action, type FuzzProfile } from '../profile.ts';
import { actOf, type RequestForm } from '../report/request-form.ts';
import { openingOf } from '../run-setup.ts';
import { compareReplies, type ReplyDifference } from './compare-replies.ts';
import type { BookLevels, HostReply, SimVerb, TwinHost } from './twin-host.ts';
import { alteredRequest } from './altered-request.ts';
import { HostReads, MAX_LEVELS } from './host-reads.ts';
import { Twin } from './twin.ts';
import { TwinFeeds } from './twin-feeds.ts';

export interface DriveOptions {
  readonly host: TwinHost;
  /** Configuration of the host; its genesis is the host's current time. */
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
  /** Accounts that can log in at the host and have no holdings there yet. */
  readonly users: readonly Address[];
  readonly keccak: Keccak;
  /** Called after each request; true ends the drive. */
  readonly onRequest?: (requests: number) => boolean;
}

export interface DriveResult {
  /** Number of requests that both answered. */
  readonly requests: number;
  /** Number of uses of each endpoint and simulation verb. */
  readonly used: Readonly<Record<string, number>>;
  readonly divergence: Violation | null;
  /** Requests of the twin as a journal, up to the divergence. */
  readonly commands: readonly Command[];
}

/** Actions that a host does not offer, or that would revoke the wallets' rights. */
const LEFT_OUT: readonly Action[] = [
  'depth',
  'print',
  'snapshot',
  'gap',
  'bar',
  'single',
  'list',
  'selfTrade',
  'signers',
  'delegate',
];
/** Requests between comparisons of reads. */
const READ_EVERY = 2;
/** Tokens live for a day; a subscription is renewed before. */
const TOKEN_MS = 20 * 3_600_000;
/** Altered requests among 1,000. */
const ALTERED = 120;

export async function driveHost(profile: FuzzProfile, options: DriveOptions): Promise<DriveResult> {
  const drive = new Drive(profile, options);
  return drive.run();
}

class Drive {
  private readonly options: DriveOptions;
  private readonly twin: Twin;
  private readonly generator: CommandGenerator;
  private readonly dice: Dice;
  private readonly reads: HostReads;
  private readonly feeds: TwinFeeds;
  private readonly used: Record<string, number> = {};
  private requests = 0;
  /** Time of the subscriptions of accounts, by the host's clock. */
  private renewedMs: number;
  private divergence: Violation | null = null;

  constructor(profile: FuzzProfile, options: DriveOptions) {
    this.options = options;
    const { config, markets, users, keccak } = options;
    let observe: EventSink = () => undefined;
    this.twin = new Twin(config, markets, keccak, () => (event) => {
      observe(event);
    });
    const mix = Object.fromEntries(
      ACTIONS.map((action) => [action, LEFT_OUT.includes(action) ? 0 : profile.mix[action]]),
    ) as FuzzProfile['mix'];
    const hosted = { ...profile, mix, openingTicks: markets.map(openingTicksOf) };
    const opening = openingOf(hosted, config, markets, users).filter(
      ({ kind }) => kind !== 'listMarket' && kind !== 'tapeDepth' && kind !== 'tapeTrade',
    );
    const setup = { config, specs: markets, users, opening };
    this.generator = new CommandGenerator(hosted, this.twin.engine, setup);
    this.feeds = new TwinFeeds(this.twin.engine, users, (id) => this.twin.orderIdOf(orderId(id)));
    observe = (event) => {
      this.generator.observe(event);
      this.feeds.observe(event);
    };
    this.renewedMs = this.twin.engine.nowUs / 1000;
    this.dice = Dice.of(profile.seed, 'reads');
    const symbols = markets.map(({ symbol }) => symbol);
    const { twin, dice } = this;
    this.reads = new HostReads({ host: options.host, twin, users, symbols, dice });
  }

  async run(): Promise<DriveResult> {
    const { onRequest } = this.options;
    await this.compareCall('getMarkets', {}, null);
    // Subscribes to feeds now, so that all later updates are compared.
    for (const { symbol } of this.options.markets) await this.compareFeed(symbol);
    await this.compareUpdates(false);
    while (this.divergence === null) {
      const command = this.generator.next();
      if (command === null) break;
      await this.deliver(command);
      if (this.requests % READ_EVERY === 0) await this.read();
      if (onRequest?.(this.requests) === true) break;
    }
    for (const { symbol } of this.options.markets) await this.compareFeed(symbol);
    await this.compareUpdates(true);
    const { requests, used, divergence, twin } = this;
    return { requests, used, divergence, commands: twin.commands };
  }

  private async deliver(command: Command): Promise<void> {
    await this.advance(command.timeUs);
    const act = actOf(command, this.twin.engine, (id) => this.twin.orderIdOf(id));
    await this.perform(act, command);
  }

  /** A host's clock has millisecond resolution. */
  private async advance(toUs: number): Promise<void> {
    const toMs = Math.ceil(toUs / 1000);
    if (toMs * 1000 <= this.twin.engine.nowUs) return;
    // Subscriptions of accounts end with their tokens.
    const ends = toMs - this.renewedMs >= TOKEN_MS;
    if (ends) await this.compareUpdates(false);
    this.twin.advanceToMs(toMs);
    const twin = { status: 200, body: { time: toMs } };
    this.note('clock', 'simulation', twin, await this.options.host.sim('clock', { toMs }));
    if (!ends) return;
    await this.options.host.renewUpdates?.();
    this.feeds.forgetAccounts();
    this.renewedMs = toMs;
  }

  private async perform(act: RequestForm, command: Command): Promise<void> {
    if (this.divergence !== null) return;
    switch (act.kind) {
      case 'call':
        // System accounts have no wallet that could log in.
        if (!this.options.users.includes(act.account)) break;
        if (this.dice.chance(ALTERED)) {
          const altered = alteredRequest(act.endpoint, act.request, this.dice);
          await this.compareCall(act.endpoint, altered, act.account);
        }
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

  private async compareCall(
    endpoint: EndpointId,
    request: Readonly<Record<string, unknown>>,
    account: Address | null,
  ): Promise<void> {
    const twin = this.twin.call(endpoint, request, account);
    const reply = await this.options.host.call(endpoint, request, account);
    this.note(endpoint, endpoint, twin, reply, request);
  }

  private async compareSim(
    verb: SimVerb,
    fields: Readonly<Record<string, unknown>>,
    command: Command,
  ): Promise<void> {
    // The index text as sent, which the API returns.
    const sent =
      command.kind === 'setIndex' ? { ...command, text: String(fields['price']) } : command;
    const twin = this.twin.apply(sent);
    this.note(verb, 'simulation', twin, await this.options.host.sim(verb, fields));
  }

  /** Compares all reads of one account and one market. */
  private async read(): Promise<void> {
    const account = this.dice.pick(this.options.users);
    const { symbol } = this.dice.pick(this.options.markets);
    if (this.dice.chance(30)) {
      await this.compareFeed(symbol);
      await this.compareUpdates(false);
    }
    if (this.divergence !== null) return;
    for (const { endpoint, request, twin, host } of await this.reads.round(account, symbol)) {
      this.note(endpoint, endpoint, twin, host, request);
    }
  }

  /** a snapshot and the deltas since then yield the book. */
  private async compareFeed(symbol: string): Promise<void> {
    if (this.divergence !== null) return;
    const whole = this.twin.call('getBook', { symbol, depth: MAX_LEVELS }, null);
    const { bids, asks } = whole.body as BookLevels;
    const twin: HostReply = { status: 200, body: { bids, asks } };
    const difference = (book: BookLevels): ReplyDifference | null =>
      compareReplies('getBook', twin, { status: 200, body: book });
    const fromFeed = await this.options.host.bookOfFeed?.(
      symbol,
      (book) => difference(book) === null,
    );
    if (fromFeed === undefined || fromFeed === null) return;
    this.requests += 1;
    this.used['bookFeed'] = (this.used['bookFeed'] ?? 0) + 1;
    const found = difference(fromFeed);
    if (found !== null) this.divergence = this.describe('bookFeed', { ...found, rule: 'R-11.4' });
    const fault = this.options.host.feedFault?.() ?? null;
    if (fault === null) return;
    this.divergence ??= this.describe('bookFeed', {
      path: 'message',
      expected: 'the one that follows',
      actual: fault,
      rule: 'R-11.4',
    });
  }

  /** the updates of all other feeds. `isLast`: batches, which come some time later, too. */
  private async compareUpdates(isLast: boolean): Promise<void> {
    const { host, markets, users } = this.options;
    if (this.divergence !== null || host.takeUpdates === undefined) return;
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
    this.requests += 1;
    this.used['updates'] = (this.used['updates'] ?? 0) + 1;
    const { fault } = found;
    if (fault === null) return;
    const [path, expected, rule] = ['message', 'what the state requires', 'R-11.4'];
    this.divergence = this.describe('feeds', { path, expected, actual: fault, rule });
  }

  private note(
    what: string,
    kind: EndpointId | 'simulation',
    twin: HostReply,
    host: HostReply,
    request: Readonly<Record<string, unknown>> = {},
  ): void {
    this.requests += 1;
    this.used[what] = (this.used[what] ?? 0) + 1;
    const difference = compareReplies(kind, twin, host);
    if (difference !== null) this.divergence ??= this.describe(what, difference, request);
  }

  private describe(
    what: string,
    { path, expected, actual, rule }: ReplyDifference,
    request: Readonly<Record<string, unknown>> = {},
  ): Violation {
    const asked = Object.keys(request).length === 0 ? '' : ` of ${stringifyExact(request)}`;
    return {
      invariant: `host ${what}`,
      rule,
      says: 'a host replies as the rules require',
      detail: `request ${String(this.requests)}, ${what}${asked}: ${path} is ${actual}, expected ${expected} by the rules`,
    };
  }
}

/** About 1,000 of the collateral for a lot of size one; any price is valid. */
const openingTicksOf = ({ maxPriceTicks }: MarketSpec): number => Math.min(maxPriceTicks, 600_000);

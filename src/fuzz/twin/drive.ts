/**
 * Drives a host and its twin through the same random requests, and stops where they first answer differently. Commands are drawn as for
 * the engine, from what the twin knows; what only a journal can say is left out.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import type { EventSink } from '../../engine/events.ts';
import type { Keccak } from '../../gateway/ports.ts';
import type { Address } from '../../num/units.ts';
import { Dice } from '../dice.ts';
import { CommandGenerator } from '../generator.ts';
import type { Violation } from '../checker.ts';
import { ACTIONS, type Action, type FuzzProfile } from '../profile.ts';
import { actOf, type RequestForm } from '../report/request-form.ts';
import { openingOf } from '../run-setup.ts';
import { compareReplies, type ReplyDifference } from './compare-replies.ts';
import type { BookLevels, HostReply, SimVerb, TwinHost } from './twin-host.ts';
import { Twin } from './twin.ts';

export interface DriveOptions {
  readonly host: TwinHost;
  /** As the host was opened: its genesis is the host's time now. */
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
  /** Accounts that the host lets log in, and that hold nothing there yet. */
  readonly users: readonly Address[];
  readonly keccak: Keccak;
  /** After each request; true ends the drive. */
  readonly onRequest?: (requests: number) => boolean;
}

export interface DriveResult {
  /** Requests that both answered. */
  readonly requests: number;
  /** How often each endpoint and simulation verb was used. */
  readonly used: Readonly<Record<string, number>>;
  readonly divergence: Violation | null;
  /** What the twin was asked: a journal up to the divergence. */
  readonly commands: readonly Command[];
}

/** What a host cannot be told, or what would take the wallets' rights away. */
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
/** Reads are compared after so many requests. */
const READ_EVERY = 4;
/** As many levels as may be asked for. */
const MOST_LEVELS = 5000;

export async function driveHost(profile: FuzzProfile, options: DriveOptions): Promise<DriveResult> {
  const drive = new Drive(profile, options);
  return drive.run();
}

class Drive {
  private readonly options: DriveOptions;
  private readonly twin: Twin;
  private readonly generator: CommandGenerator;
  private readonly dice: Dice;
  private readonly used: Record<string, number> = {};
  private requests = 0;
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
    const told = { ...profile, mix, openingTicks: markets.map(openingTicksOf) };
    const opening = openingOf(told, config, markets, users).filter(
      ({ kind }) => kind !== 'listMarket' && kind !== 'tapeDepth' && kind !== 'tapeTrade',
    );
    const setup = { config, specs: markets, users, opening };
    this.generator = new CommandGenerator(told, this.twin.engine, setup);
    observe = this.generator.observe;
    this.dice = Dice.of(profile.seed, 'reads');
  }

  async run(): Promise<DriveResult> {
    const { onRequest } = this.options;
    await this.compareCall('getMarkets', {}, null);
    // Feeds begin here, so that what they tell from now on is compared.
    for (const { symbol } of this.options.markets) await this.compareFeed(symbol);
    while (this.divergence === null) {
      const command = this.generator.next();
      if (command === null) break;
      await this.deliver(command);
      if (this.requests % READ_EVERY === 0) await this.read();
      if (onRequest?.(this.requests) === true) break;
    }
    for (const { symbol } of this.options.markets) await this.compareFeed(symbol);
    const { requests, used, divergence, twin } = this;
    return { requests, used, divergence, commands: twin.commands };
  }

  private async deliver(command: Command): Promise<void> {
    await this.advance(command.timeUs);
    const act = actOf(command, this.twin.engine, (id) => this.twin.orderIdOf(id));
    await this.perform(act, command);
  }

  /** A host's clock goes in milliseconds. */
  private async advance(toUs: number): Promise<void> {
    const toMs = Math.ceil(toUs / 1000);
    if (toMs * 1000 <= this.twin.engine.nowUs) return;
    this.twin.advanceToMs(toMs);
    const twin = { status: 200, body: { time: toMs } };
    this.note('clock', 'simulation', twin, await this.options.host.sim('clock', { toMs }));
  }

  private async perform(act: RequestForm, command: Command): Promise<void> {
    if (this.divergence !== null) return;
    switch (act.kind) {
      case 'call':
        // The exchange's own accounts have no wallet that could log in.
        if (!this.options.users.includes(act.account)) break;
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
    this.note(endpoint, endpoint, twin, await this.options.host.call(endpoint, request, account));
  }

  private async compareSim(
    verb: SimVerb,
    fields: Readonly<Record<string, unknown>>,
    command: Command,
  ): Promise<void> {
    // An index is known by the text that was sent.
    const sent =
      command.kind === 'setIndex' ? { ...command, text: String(fields['price']) } : command;
    const twin = this.twin.apply(sent);
    this.note(verb, 'simulation', twin, await this.options.host.sim(verb, fields));
  }

  /** One account and one market, as all of their reads show them. */
  private async read(): Promise<void> {
    const account = this.dice.pick(this.options.users);
    const { symbol } = this.dice.pick(this.options.markets);
    if (this.dice.chance(30)) await this.compareFeed(symbol);
    const owner = { account, subaccountIndex: 0 };
    const reads: [EndpointId, Record<string, unknown>, Address | null][] = [
      ['getBook', { symbol, depth: 20 }, null],
      ['getPrice', { symbol }, null],
      ['getSummary', { symbol }, null],
      ['getTrades', { symbol, limit: 5 }, null],
      ['getBalance', { account }, account],
      ['getStats', owner, account],
      ['getPositions', owner, account],
      ['listOrders', { ...owner, status: 'open', limit: 20 }, account],
      ['getTransferMax', owner, account],
      ['getTime', {}, null],
    ];
    for (const [endpoint, request, caller] of reads) {
      if (this.divergence !== null) return;
      await this.compareCall(endpoint, request, caller);
    }
  }

  /** a client that knows a snapshot and the deltas since has the book. */
  private async compareFeed(symbol: string): Promise<void> {
    if (this.divergence !== null) return;
    const whole = this.twin.call('getBook', { symbol, depth: MOST_LEVELS }, null);
    const { bids, asks } = whole.body as BookLevels;
    const twin: HostReply = { status: 200, body: { bids, asks } };
    const difference = (book: BookLevels): ReplyDifference | null =>
      compareReplies('getBook', twin, { status: 200, body: book });
    const told = await this.options.host.bookOfFeed?.(symbol, (book) => difference(book) === null);
    if (told === undefined || told === null) return;
    this.requests += 1;
    this.used['bookFeed'] = (this.used['bookFeed'] ?? 0) + 1;
    const found = difference(told);
    if (found !== null) this.divergence = this.describe('bookFeed', { ...found, rule: 'R-11.4' });
  }

  private note(
    what: string,
    kind: EndpointId | 'simulation',
    twin: HostReply,
    host: HostReply,
  ): void {
    this.requests += 1;
    this.used[what] = (this.used[what] ?? 0) + 1;
    const difference = compareReplies(kind, twin, host);
    if (difference !== null) this.divergence ??= this.describe(what, difference);
  }

  private describe(what: string, { path, expected, actual, rule }: ReplyDifference): Violation {
    return {
      invariant: `host ${what}`,
      rule,
      says: 'a host answers what the rules say',
      detail: `request ${String(this.requests)}, ${what}: ${path} is ${actual}, by the rules it is ${expected}`,
    };
  }
}

/** About 1,000 of the collateral for a lot of size one; any price will do. */
const openingTicksOf = ({ maxPriceTicks }: MarketSpec): number => Math.min(maxPriceTicks, 600_000);

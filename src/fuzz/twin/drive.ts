/**
 * Drives a host and its twin through the same random requests, up to the first difference in
 * replies. Commands that only a journal can express are omitted.
 */
import type { Command } from '../../engine/commands.ts';
import type { MarketSpec } from '../../engine/config.ts';
import type { Violation } from '../checker.ts';
import { Dice } from '../dice.ts';
import { CommandGenerator } from '../generator.ts';
import { ACTIONS, type Action, type FuzzProfile } from '../profile.ts';
import { openingOf } from '../run-setup.ts';
import { alteredRequest } from './altered-request.ts';
import { HostReads } from './host-reads.ts';
import type { HostDivergence } from './divergence.ts';
import { FurtherRequests } from './further-requests.ts';
import { SideBySide, type Sides } from './side-by-side.ts';
import {
  mustBeConfig,
  mustBeFunction,
  mustBeMarkets,
  mustBeOptional,
  mustBeProfile,
  mustBeTexts,
  mustHave,
} from '../fuzz-error.ts';

export interface DriveOptions extends Sides {
  /** Called after each request; true ends the drive. */
  readonly onRequest?: (requests: number) => boolean;
}

export interface DriveResult {
  /** Number of requests that both answered. */
  readonly requests: number;
  /** Number of uses of each endpoint and simulation verb. */
  readonly used: Readonly<Record<string, number>>;
  readonly divergence: Violation | null;
  /** The same, with the request that shows it. */
  readonly shown: HostDivergence | null;
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
/** Altered requests among 1,000. */
const ALTERED = 120;
/** Per mille of commands after which a request follows that no command becomes. */
const FURTHER = 100;

/** Rejects with `FuzzError` for other arguments. */
export async function driveHost(profile: FuzzProfile, options: DriveOptions): Promise<DriveResult> {
  mustBeProfile('profile', profile);
  mustHave('options', options, ['host', 'config', 'markets', 'users', 'keccak']);
  const { host, config, markets, users, keccak, onRequest } = options;
  mustHave('host', host, ['call', 'sim']);
  mustBeConfig('config', config);
  mustBeMarkets('markets', markets);
  mustBeTexts('users', users);
  mustBeFunction('keccak', keccak);
  mustBeOptional('onRequest', onRequest, mustBeFunction);
  const drive = new Drive(profile, options);
  return drive.run();
}

class Drive {
  private readonly options: DriveOptions;
  private readonly sides: SideBySide;
  private readonly generator: CommandGenerator;
  private readonly dice: Dice;
  private readonly reads: HostReads;
  private readonly further: FurtherRequests;

  constructor(profile: FuzzProfile, options: DriveOptions) {
    this.options = options;
    const { config, markets, users } = options;
    this.sides = new SideBySide(options);
    const { twin } = this.sides;
    const mix = Object.fromEntries(
      ACTIONS.map((action) => [action, LEFT_OUT.includes(action) ? 0 : profile.mix[action]]),
    ) as FuzzProfile['mix'];
    const hosted = { ...profile, mix, openingTicks: markets.map(openingTicksOf) };
    const opening = openingOf(hosted, config, markets, users).filter(
      ({ kind }) => kind !== 'listMarket' && kind !== 'tapeDepth' && kind !== 'tapeTrade',
    );
    const setup = { config, specs: markets, users, opening };
    const generator = new CommandGenerator(hosted, twin.engine, setup);
    this.generator = generator;
    this.sides.observe((event) => {
      generator.observe(event);
    });
    this.dice = Dice.of(profile.seed, 'reads');
    const symbols = markets.map(({ symbol }) => symbol);
    const { dice } = this;
    this.further = new FurtherRequests({ twin, users, dice: Dice.of(profile.seed, 'further') });
    this.reads = new HostReads({ host: options.host, twin, users, symbols, dice });
  }

  async run(): Promise<DriveResult> {
    const { sides } = this;
    const { onRequest } = this.options;
    await sides.compareCall('getMarkets', {}, null);
    // Subscribes to feeds now, so that all later updates are compared.
    await sides.compareFeeds(false);
    while (sides.divergence === null) {
      const command = this.generator.next();
      if (command === null) break;
      await sides.deliver(command, async ({ endpoint, request, account }) => {
        if (!this.dice.chance(ALTERED)) return;
        await sides.compareCall(endpoint, alteredRequest(endpoint, request, this.dice), account);
      });
      await this.askFurther();
      if (sides.requests % READ_EVERY === 0) await this.read();
      if (onRequest?.(sides.requests) === true) break;
    }
    await sides.compareFeeds(true);
    const { requests, used, divergence, twin } = sides;
    const { commands } = twin;
    const violation = divergence?.violation ?? null;
    return { requests, used, divergence: violation, shown: divergence, commands };
  }

  /** Looks orders up by name, and sometimes cancels some or changes delegates. */
  private async askFurther(): Promise<void> {
    const { dice, sides, further } = this;
    const account = dice.pick(this.options.users);
    const asked = [
      ...(dice.chance(FURTHER) ? [further.write(account)] : []),
      ...(dice.chance(2 * FURTHER) ? [further.read(account)] : []),
    ];
    for (const { endpoint, request, caller } of asked) {
      if (sides.divergence !== null) return;
      await sides.compareCall(endpoint, request, caller);
    }
  }

  /** Compares all reads of one account and one market. */
  private async read(): Promise<void> {
    const { sides } = this;
    const account = this.dice.pick(this.options.users);
    const { symbol } = this.dice.pick(this.options.markets);
    if (this.dice.chance(30)) {
      await sides.compareFeed(symbol);
      await sides.compareUpdates(false);
    }
    if (sides.divergence !== null) return;
    await sides.compareReads(this.reads, this.reads.round(account, symbol));
  }
}

/** About 1,000 of the collateral for a lot of size one; any price is valid. */
const openingTicksOf = ({ maxPriceTicks }: MarketSpec): number => Math.min(maxPriceTicks, 600_000);

/**
 * A stream of commands drawn from a profile, which contains the seed. Draws depend only on the dice
 * and on the state of the exchange under test. Pass it every event (`observe`), then call `next`.
 */
import { must } from '../base/assert.ts';
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import { timeUs } from '../num/units.ts';
import { Dice } from './dice.ts';
import { drawAim, type Planned } from './generate/aims.ts';
import { Context } from './generate/draw-context.ts';
import { moneyInShortfall, untilHour } from './generate/crisis.ts';
import { untilDay, untilEdge } from './generate/edges.ts';
import { EpisodeTurns } from './generate/episodes/episodes.ts';
import {
  makeBatch,
  makeBracket,
  makeIceberg,
  makeProtect,
  makeTrailing,
  makeTwap,
} from './generate/groups.ts';
import {
  makeDeposit,
  makeExcess,
  makeTransfer,
  makeVaultDeposit,
  makeVaultRedeem,
  makeWithdraw,
} from './generate/draw-money.ts';
import { makeDelisting, makeStatus, makeTerms } from './generate/draw-operator.ts';
import { makeCancel, makeCancelAll, makeOrder } from './generate/draw-orders.ts';
import { withOtherReference } from './generate/other-reference.ts';
import { reviving } from './generate/revive.ts';
import { makeFundingRate, makeIndex, makeMark, makeSource } from './generate/prices.ts';
import {
  makeDelegate,
  makeListing,
  makeMargin,
  makeSelfTrade,
  makeSigners,
} from './generate/settings.ts';
import {
  makeBar,
  makeDepth,
  makeGap,
  makePrint,
  makeSingleOrder,
  recordedOrders,
  makeSnapshot,
} from './generate/tape.ts';
import { ACTIONS, type Action, type FuzzProfile } from './profile.ts';
import { setUp, type RunSetup } from './run-setup.ts';
import { World, type KnownMarket } from './fuzz-world.ts';
import { mustBeProfile, mustHave } from './fuzz-error.ts';

const MAKERS: Readonly<Record<Exclude<Action, 'again' | 'aim'>, (context: Context) => Command>> = {
  order: makeOrder,
  batch: makeBatch,
  bracket: makeBracket,
  protect: makeProtect,
  trailing: makeTrailing,
  twap: makeTwap,
  iceberg: makeIceberg,
  cancel: (context) => (hasOrders(context) ? makeCancel(context) : makeOrder(context)),
  cancelAll: makeCancelAll,
  index: makeIndex,
  mark: makeMark,
  fundingRate: makeFundingRate,
  deposit: makeDeposit,
  withdraw: makeWithdraw,
  transfer: makeTransfer,
  vaultDeposit: makeVaultDeposit,
  vaultRedeem: makeVaultRedeem,
  excess: makeExcess,
  margin: makeMargin,
  delegate: makeDelegate,
  signers: makeSigners,
  selfTrade: makeSelfTrade,
  depth: makeDepth,
  print: makePrint,
  snapshot: makeSnapshot,
  gap: makeGap,
  bar: makeBar,
  single: (context) => makeSingleOrder(context),
  list: makeListing,
  terms: makeTerms,
  status: makeStatus,
  delist: makeDelisting,
  advance: (context) => ({ kind: 'advanceTime', timeUs: context.nowUs }),
};

/** Cancels would leave an empty book: with few live orders most become orders. */
const hasOrders = ({ world, faulty, dice }: Context): boolean =>
  faulty || world.live.length >= ENOUGH_ORDERS || (world.live.length > 0 && dice.chance(250));

const ENOUGH_ORDERS = 8;

/** Whether a market has no mark yet, or its source is stale. */
const isSilent = ({ frozen, priced, status }: KnownMarket): boolean =>
  (!priced || frozen) && status !== 'delisted' && status !== 'halted';

/** Per mille of faulty commands that have no other fault than one reference. */
const OTHER_REFERENCE = 300;

/** Per mille of single recorded orders that more of the same market follow. */
const RECORDINGS = 200;

/** Commands that may be sent again. */
const MOST_RECENT = 64;

export class CommandGenerator {
  readonly profile: FuzzProfile;
  readonly setup: RunSetup;
  /** Receives every event of the exchange. */
  readonly observe: EventSink;
  private readonly context: Context;
  private readonly wheel: readonly Action[];
  private made = 0;
  /** The newest commands, in a ring. */
  private readonly recent: Command[] = [];
  /** What is left of an aim or an episode. */
  private plan: readonly Planned[] = [];
  private readonly episodes: EpisodeTurns;
  /** The number of commands after which the next episode begins. */
  private episodeAt: number;

  /** `view`: the exchange under test, opened with `setup.config`. */
  constructor(profile: FuzzProfile, view: ExchangeView, given?: RunSetup) {
    mustBeProfile('profile', profile);
    mustHave('view', view, ['config', 'markets', 'nowUs']);
    const setup = given ?? setUp(profile);
    mustHave('setup', setup, ['config', 'specs', 'users', 'opening']);
    this.profile = profile;
    this.setup = setup;
    const world = new World(view, profile.openingTicks);
    world.knowMarkets();
    this.observe = world.observe;
    const context = new Context(profile, setup, Dice.of(profile.seed, 'commands'), world);
    this.context = context;
    this.episodes = new EpisodeTurns(context.dice, profile);
    this.episodeAt = setup.opening.length + profile.episodeGap;
    this.wheel = ACTIONS.flatMap((action) =>
      Array.from({ length: profile.mix[action] }, () => action),
    );
  }

  /** The next command; null after the profile's number of commands. */
  next(): Command | null {
    if (this.made === this.profile.commands) return null;
    const opening = this.setup.opening[this.made];
    const command = opening ?? this.planned() ?? this.beginEpisode() ?? this.draw();
    this.recent[this.made % MOST_RECENT] = command;
    this.made += 1;
    return command;
  }

  private draw(): Command {
    const { context, profile } = this;
    const { dice, world } = context;
    context.wait(this.pause());
    context.faulty = dice.chance(profile.faultPermille);
    context.mismatched = false;
    const action = dice.pick(this.wheel);
    if (action === 'again') return this.again();
    if (action === 'aim') {
      this.plan = drawAim(context);
      return this.planned() ?? makeIndex(context);
    }
    if (action === 'single' && !context.faulty && dice.chance(RECORDINGS)) {
      this.plan = recordedOrders(context);
      return this.planned() ?? makeSingleOrder(context);
    }
    const relief = context.faulty ? null : moneyInShortfall(context);
    if (relief !== null) return relief;
    const revived = context.faulty ? null : reviving(context);
    if (revived !== null) return revived;
    const silent = context.faulty ? undefined : world.markets.find(isSilent);
    if (silent !== undefined && dice.chance(silent.priced ? profile.prices.revivePermille : 250)) {
      return makeSource(context, silent);
    }
    if (!context.faulty || !dice.chance(OTHER_REFERENCE)) return MAKERS[action](context);
    context.faulty = false;
    return withOtherReference(context, MAKERS[action](context));
  }

  /** The first command of an episode; null between two of them. */
  private beginEpisode(): Command | null {
    const { context, profile, made } = this;
    const { episodeGap } = profile;
    if (episodeGap === 0) return null;
    if (made < this.episodeAt && !this.episodes.meetsDay(context)) return null;
    context.faulty = false;
    context.mismatched = false;
    this.plan = this.episodes.next(context);
    this.episodeAt = made + this.plan.length + 1 + context.dice.below(2 * episodeGap);
    return this.planned();
  }

  /** The next command of an aim or an episode; null if there is none. */
  private planned(): Command | null {
    while (this.plan.length > 0) {
      const [next, ...rest] = this.plan;
      this.plan = rest;
      const command = next?.(this.context) ?? null;
      if (command !== null) return command;
    }
    return null;
  }

  /** Repeats a recent request, like a network that delivers twice or late. */
  private again(): Command {
    const { dice, nowUs } = this.context;
    const newest = this.recent[(this.made - 1) % MOST_RECENT];
    const known = dice.chance(500) ? newest : dice.pick(this.recent);
    return { ...must(known, 'the opening has commands'), timeUs: nowUs };
  }

  private pause(): number {
    const { context } = this;
    const { dice } = context;
    const { stillPermille, pauseUs, jumpPermille, jumpUs, edgePermille, dayShare } =
      this.profile.time;
    const { hourPermille } = this.profile.crisis;
    if (hourPermille > 0 && dice.chance(hourPermille)) return untilHour(context);
    if (dayShare > 0 && dice.below(10_000) < dayShare) return untilDay(context);
    if (dice.chance(edgePermille)) return untilEdge(context);
    if (dice.chance(stillPermille)) return 0;
    return 1 + dice.below(dice.chance(jumpPermille) ? jumpUs : pauseUs);
  }

  /** Time of the last command. */
  get nowUs(): number {
    return timeUs(this.context.nowUs);
  }
}

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
import { Context } from './generate/draw-context.ts';
import { moneyInShortfall, untilHour } from './generate/crisis.ts';
import { untilDay, untilEdge } from './generate/edges.ts';
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
import { makeFundingRate, makeIndex, makeMark } from './generate/prices.ts';
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
  makeSnapshot,
} from './generate/tape.ts';
import { ACTIONS, type Action, type FuzzProfile } from './profile.ts';
import { setUp, type RunSetup } from './run-setup.ts';
import { World } from './fuzz-world.ts';

const MAKERS: Readonly<Record<Exclude<Action, 'again'>, (context: Context) => Command>> = {
  order: makeOrder,
  batch: makeBatch,
  bracket: makeBracket,
  protect: makeProtect,
  trailing: makeTrailing,
  twap: makeTwap,
  iceberg: makeIceberg,
  cancel: makeCancel,
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
  single: makeSingleOrder,
  list: makeListing,
  terms: makeTerms,
  status: makeStatus,
  delist: makeDelisting,
  advance: (context) => ({ kind: 'advanceTime', timeUs: context.nowUs }),
};

export class CommandGenerator {
  readonly profile: FuzzProfile;
  readonly setup: RunSetup;
  /** Receives every event of the exchange. */
  readonly observe: EventSink;
  private readonly context: Context;
  private readonly wheel: readonly Action[];
  private made = 0;
  private last: Command | null = null;

  /** `view`: the exchange under test, opened with `setup.config`. */
  constructor(profile: FuzzProfile, view: ExchangeView, setup: RunSetup = setUp(profile)) {
    this.profile = profile;
    this.setup = setup;
    const world = new World(view, profile.openingTicks);
    world.knowMarkets();
    this.observe = world.observe;
    this.context = new Context(profile, setup, Dice.of(profile.seed, 'commands'), world);
    this.wheel = ACTIONS.flatMap((action) =>
      Array.from({ length: profile.mix[action] }, () => action),
    );
  }

  /** The next command; null after the profile's number of commands. */
  next(): Command | null {
    if (this.made === this.profile.commands) return null;
    const opening = this.setup.opening[this.made];
    this.made += 1;
    const command = opening ?? this.draw();
    this.last = command;
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
    const relief = context.faulty ? null : moneyInShortfall(context);
    if (relief !== null) return relief;
    // The index becomes stale without updates.
    const { indexStaleUs } = this.setup.config;
    const silent = world.markets.find(
      ({ indexUs, spec, status }) =>
        context.nowUs - indexUs > indexStaleUs &&
        spec.indexSource !== 'mid' &&
        status !== 'delisted',
    );
    if (silent !== undefined && !context.faulty && dice.chance(profile.prices.revivePermille)) {
      return makeIndex(context, silent);
    }
    return MAKERS[action](context);
  }

  /** Repeats the last request, like a network that delivers twice. */
  private again(): Command {
    return {
      ...must(this.last ?? undefined, 'the opening has commands'),
      timeUs: this.context.nowUs,
    };
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

/**
 * A stream of commands drawn from a profile (its seed is in it), aware of the state of the exchange that it drives: what it makes depends on
 * the dice and on what that exchange did, nothing else. Feed it every event (`observe`), then ask for the next command.
 */
import { must } from '../base/assert.ts';
import type { Command } from '../engine/commands.ts';
import type { EventSink } from '../engine/events.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import { timeUs } from '../num/units.ts';
import { Dice } from './dice.ts';
import { Context } from './generate/draw-context.ts';
import { untilEdge } from './generate/edges.ts';
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
  /** Wants every event of the exchange. */
  readonly observe: EventSink;
  private readonly context: Context;
  private readonly wheel: readonly Action[];
  private made = 0;
  private last: Command | null = null;

  /** `view` is the exchange that the commands go to, opened with `setup.config`. */
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

  /** The next command; null when the profile's number of them is made. */
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
    // An index goes stale unless somebody speaks.
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

  /** The same request once more, as a network that delivers twice does. */
  private again(): Command {
    return {
      ...must(this.last ?? undefined, 'an exchange opens before'),
      timeUs: this.context.nowUs,
    };
  }

  private pause(): number {
    const { context } = this;
    const { dice } = context;
    const { stillPermille, pauseUs, jumpPermille, jumpUs, edgePermille } = this.profile.time;
    if (dice.chance(edgePermille)) return untilEdge(context);
    if (dice.chance(stillPermille)) return 0;
    return 1 + dice.below(dice.chance(jumpPermille) ? jumpUs : pauseUs);
  }

  /** Time of the last command. */
  get nowUs(): number {
    return timeUs(this.context.nowUs);
  }
}

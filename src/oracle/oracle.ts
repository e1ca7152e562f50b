/**
 * The oracle: the rules of docs/RULES.md as a slow and simple program, in arrays and full scans. It
 * shares only types with the engine, so an agreement confirms the rules, and a difference means
 * that one of them violates a rule.
 */
import type { Command } from '../engine/commands.ts';
import type { ExchangeConfig } from '../engine/config.ts';
import type { EngineEvent } from '../engine/events.ts';
import { outcomeCode, type Outcome } from '../engine/refusals.ts';
import type { ExchangeView } from '../engine/read/views.ts';
import { updateDelegate, updateSigners } from './authority.ts';
import { recallDebts } from './clearing.ts';
import { compareEvents } from './compare-events.ts';
import { compareState } from './compare.ts';
import { deposit, setSelfTradeMode, transfer, withdraw } from './custody.ts';
import { Comparison, type Divergence } from './divergence.ts';
import { cancelAll, cancelOrder } from './endings.ts';
import { settleFunding } from './funding.ts';
import { listMarket } from './listing.ts';
import { setIndex, setMark } from './mark.ts';
import { delistMarket, setMarketStatus, setMarketTerms } from './operator.ts';
import { placeOrder, placeOrders } from './orders.ts';
import { updateMargin } from './settings.ts';
import { tapeBar } from './bars.ts';
import { tapeL3 } from './single-orders.ts';
import { tapeDepth, tapeGap, tapeQuotes, tapeSnapshot, tapeTrade } from './tape.ts';
import { runConsequences, runTimers } from './time.ts';
import { newWorld, type Answer, type World } from './world.ts';

/** Commands that are compared with market data after a period begins: its figures are new. */
const AFTER_PERIOD = 8;
const MINUTE = 60_000_000n;
const HOUR = 60n * MINUTE;

/** Whether time stops exactly where a minute begins, or has passed an hour at least. */
const beginsPeriod = (before: bigint, now: bigint): boolean =>
  now !== before && (now % MINUTE === 0n || now - before >= HOUR);

/** Commands between two full comparisons; others cover what a command could touch and a part. */
const FULL_EVERY = 256;

export interface OracleOptions {
  /** Commands between two comparisons of the whole state; default 256. */
  readonly fullEvery?: number;
  /** Commands between two comparisons of the state that they changed; default 1. */
  readonly stateEvery?: number;
}

export class Oracle {
  private readonly world: World;
  private readonly fullEvery: number;
  private readonly stateEvery: number;

  constructor(
    config: ExchangeConfig,
    { fullEvery = FULL_EVERY, stateEvery = 1 }: OracleOptions = {},
  ) {
    this.world = newWorld(config);
    this.fullEvery = fullEvery;
    this.stateEvery = stateEvery;
  }

  /** Number of commands applied. */
  get seq(): number {
    return this.world.seq;
  }

  /** Runs due timers, then the command; returns its outcome by the rules. */
  apply(command: Command): Answer {
    const { world } = this;
    world.seq += 1;
    world.emitted = [];
    world.cause = 'command';
    runTimers(world, BigInt(command.timeUs));
    const outcome = dispatch(world, command);
    runConsequences(world);
    for (const { orderId } of world.emitted) {
      if (typeof orderId === 'number') world.toCompare.push(orderId);
    }
    return outcome;
  }

  /** Applies a command that the exchange has applied; answers the first difference, or null. */
  follow(
    exchange: ExchangeView,
    command: Command,
    outcome: Outcome,
    emitted: readonly EngineEvent[],
  ): Divergence | null {
    const { world } = this;
    const before = world.now;
    const [oracle, engine] = [this.apply(command), outcomeCode(outcome)];
    if (beginsPeriod(before, world.now)) world.dataUntil = this.seq + AFTER_PERIOD;
    const isFull = this.seq % this.fullEvery === 0;
    if (oracle === engine) {
      if (isFull || this.seq % this.stateEvery === 0 || this.seq <= world.dataUntil)
        return this.compare(exchange, emitted, isFull);
      const comparison = new Comparison(this.seq);
      compareEvents(comparison, world, emitted);
      return comparison.found;
    }
    const what = `the outcome of ${command.kind}`;
    return { seq: this.seq, what, oracle, engine, rule: 'R-2.8' };
  }

  /**
   * The first difference between the oracle and the exchange, or null. `events` are the exchange's
   * events of the last command. With `full` everything is compared; otherwise that command's
   * changes and a rotating part of the rest.
   */
  compare(
    exchange: ExchangeView,
    emitted: readonly EngineEvent[] | null = null,
    full = true,
  ): Divergence | null {
    const comparison = new Comparison(this.seq);
    if (emitted !== null) compareEvents(comparison, this.world, emitted);
    if (comparison.found === null) compareState(comparison, this.world, exchange, full);
    return comparison.found;
  }
}

/** A command that may thaw its market; then debtors there are due. */
function thawing<C extends { readonly market: number }>(
  world: World,
  c: C,
  act: (world: World, c: C) => Answer,
): Answer {
  const market = world.markets[c.market];
  const wasFrozen = market?.frozen === true;
  const answer = act(world, c);
  if (wasFrozen && !market.frozen) recallDebts(world, market);
  return answer;
}

/** Maps each command kind to its rule. */
function dispatch(world: World, c: Command): Answer {
  switch (c.kind) {
    case 'advanceTime':
      return 'ok';
    case 'listMarket':
      return listMarket(world, c);
    case 'deposit':
      return deposit(world, c);
    case 'withdraw':
      return withdraw(world, c);
    case 'transfer':
      return transfer(world, c);
    case 'placeOrder':
      return placeOrder(world, c);
    case 'placeOrders':
      return placeOrders(world, c);
    case 'cancelOrder':
      return cancelOrder(world, c);
    case 'cancelAll':
      return cancelAll(world, c);
    case 'setIndex':
      return thawing(world, c, setIndex);
    case 'setMark':
      return thawing(world, c, setMark);
    case 'setSelfTradeMode':
      return setSelfTradeMode(world, c);
    case 'updateMargin':
      return updateMargin(world, c);
    case 'updateDelegate':
      return updateDelegate(world, c);
    case 'updateSigners':
      return updateSigners(world, c);
    case 'settleFunding':
      return settleFunding(world, c);
    case 'tapeDepth':
      return tapeDepth(world, c);
    case 'tapeTrade':
      return tapeTrade(world, c);
    case 'tapeSnapshot':
      return tapeSnapshot(world, c);
    case 'tapeQuotes':
      return tapeQuotes(world, c);
    case 'tapeGap':
      return tapeGap(world, c);
    case 'tapeBar':
      return tapeBar(world, c);
    case 'tapeL3':
      return tapeL3(world, c);
    case 'setMarketTerms':
      return setMarketTerms(world, c);
    case 'setMarketStatus':
      return setMarketStatus(world, c);
    case 'delistMarket':
      return delistMarket(world, c);
  }
}

/**
 * The exchange: `apply` is the whole state machine. No clock, I/O or randomness.
 *
 * Order of one command: due timers, each at its own time. Then the rule of its kind, which
 * either refuses before any mutation or executes. Then the effects on other orders, units below
 * zero, triggers, and liquidations. Last, changed quotes take effect. Refusals are hashed too.
 */
import { assert, InvariantError, unreachable } from '../base/assert.ts';
import { MAX_PRICE_TICKS, priceTicks, seq, type PriceTicks, type TimeUs } from '../num/units.ts';
import { updateDelegate, updateSigners } from './accounts/authority.ts';
import { deposit, transfer, withdraw } from './accounts/custody.ts';
import type { Command, SetIndex, SetMark } from './commands.ts';
import type { ExchangeConfig } from './config.ts';
import { ExchangeReader } from './read/exchange-reader.ts';
import type { EventSink } from './events.ts';
import { hashCommand } from './chain-hash/hash-command.ts';
import { solvencyViolations, violations } from './invariants/invariants.ts';
import { delistMarket } from './market/delist.ts';
import { listMarket } from './market/list.ts';
import type { Market } from './market/market.ts';
import { setMarketStatus } from './market/set-status.ts';
import { setMarketTerms } from './market/set-terms.ts';
import { cancelAll } from './orders/cancel-all.ts';
import { cancelOrder } from './orders/cancel.ts';
import { settleFollowUps } from './orders/pending-effects.ts';
import { placeOrders } from './orders/place-group.ts';
import { placeOrder } from './orders/place.ts';
import { runTriggers } from './orders/triggers.ts';
import { setSelfTradeMode } from './orders/self-trade.ts';
import { outcomeNumber, type Outcome, type Refusal } from './refusals.ts';
import { clearBelowZero } from './liquidation/clearing.ts';
import { recallDebts } from './liquidation/clearing-debt.ts';
import { settleFunding } from './funding/funding.ts';
import { runLiquidations } from './liquidation/liquidation.ts';
import { updateMargin } from './margin/margin-mode.ts';
import { setIndex, setMark, settleQuotes } from './pricing/mark-price.ts';
import { restoreState, snapshotOf, stateHashOf } from './snapshot/snapshot.ts';
import { State } from './state.ts';
import { applyBar } from './tape/apply-bar.ts';
import { applyDepth } from './tape/apply-depth.ts';
import { applyGap } from './tape/apply-gap.ts';
import { applyL3 } from './tape/apply-l3.ts';
import { applyQuotes } from './tape/apply-quotes.ts';
import { applySnapshot } from './tape/apply-snapshot.ts';
import { applyTrade } from './tape/apply-trade.ts';
import { nextTimerUs, runTimers, timerDueBy } from './timers.ts';
import type { Engine, InvariantViolation } from './read/views.ts';

export class Exchange extends ExchangeReader implements Engine {
  declare protected readonly state: State;

  constructor(config: ExchangeConfig, state: State = new State(config)) {
    super(state);
  }

  /**
   * Throws `ArchiveError` when the bytes are not a snapshot. `changed`: parameters of the copy that
   * differ from its snapshot's.
   */
  static restore(bytes: Uint8Array, changed: Partial<ExchangeConfig> = {}): Exchange {
    const state = restoreState(bytes, (config) => new State({ ...config, ...changed }));
    return new Exchange(state.config, state);
  }

  /**
   * A copy that takes commands as its original would, without the trades, candles, ended orders and
   * transfers before it. Arguments and errors are those of `restore`.
   */
  static restoreLive(bytes: Uint8Array, changed: Partial<ExchangeConfig> = {}): Exchange {
    const create = (config: ExchangeConfig) => new State({ ...config, ...changed });
    const state = restoreState(bytes, create, 'live');
    return new Exchange(state.config, state);
  }

  apply(command: Command, emit?: EventSink): Outcome {
    const { state } = this;
    const { context } = state;
    // `command` is megamorphic (22 hidden classes); read `timeUs` once.
    const { timeUs } = command;
    assert(Number.isSafeInteger(timeUs), 'command times are whole microseconds');
    assert(timeUs >= state.nowUs, 'command times never decrease');
    state.seq = seq(state.seq + 1);
    context.begin(timeUs, emit);
    try {
      hashCommand(state.hash, command);
      if (timeUs > state.nowUs) runTimers(state);
      context.nextStep();
      const outcome = dispatch(state, command);
      if (context.pendingEffects.length > 0) settleFollowUps(state);
      if (context.due.riskCheck) clearBelowZero(state);
      if (context.due.anyRepriced || context.newTriggers.length > 0) runTriggers(state);
      if (context.due.riskCheck) runLiquidations(state);
      if (context.changedBookCount > 0) settleQuotes(state);
      // No snapshot has them: a restored exchange would not make them.
      assert(context.due.isEmpty, 'no check of prices outlasts its command');
      state.hash.int(outcomeNumber(outcome));
      state.hash.commit();
      return outcome;
    } catch (error) {
      if (error instanceof InvariantError) {
        throw new InvariantError(`command ${String(state.seq)}: ${error.message}`, {
          cause: error,
        });
      }
      throw error;
    }
  }

  /** Disables the fast path of bars; for testing it. */
  playBarsInFull(): void {
    this.state.playsBarsInFull = true;
  }

  nextTimerUs(): number {
    return nextTimerUs(this.state);
  }

  /** The time of the next timer if it is due by this time, otherwise Infinity. */
  timerDueBy(untilUs: TimeUs): number {
    return timerDueBy(this.state, untilUs);
  }

  chainHash(): string {
    return this.state.hash.hex();
  }

  stateHash(): string {
    return stateHashOf(this.state);
  }

  snapshot(): Uint8Array {
    return snapshotOf(this.state);
  }

  /** For copies that get prices only: without used nonces and ended orders, which is smaller. */
  snapshotForPrices(): Uint8Array {
    return snapshotOf(this.state, 'prices');
  }

  /** For `restoreLive`: without history, whose size grows with the age of an exchange. */
  liveSnapshot(): Uint8Array {
    return snapshotOf(this.state, 'live');
  }

  fork(): Exchange {
    return Exchange.restore(this.snapshot());
  }

  checkInvariants(): readonly InvariantViolation[] {
    return violations(this.state);
  }

  checkSolvency(): readonly InvariantViolation[] {
    return solvencyViolations(this.state);
  }
}

/** Maps each command kind to its rule. */
function dispatch(state: State, command: Command): Outcome {
  switch (command.kind) {
    case 'placeOrder':
      return placeOrder(state, command);
    case 'placeOrders':
      return placeOrders(state, command);
    case 'cancelOrder':
      return cancelOrder(state, command);
    case 'advanceTime':
      return 'ok';
    case 'tapeDepth':
      return applyDepth(state, command);
    case 'tapeTrade':
      return applyTrade(state, command);
    case 'setIndex':
      return takeIndex(state, command);
    case 'setMark':
      return takeMark(state, command);
    case 'cancelAll':
      return cancelAll(state, command);
    case 'deposit':
      return deposit(state, command);
    case 'withdraw':
      return withdraw(state, command);
    case 'transfer':
      return transfer(state, command);
    case 'setSelfTradeMode':
      return setSelfTradeMode(state, command);
    case 'tapeSnapshot':
      return applySnapshot(state, command);
    case 'tapeQuotes':
      return applyQuotes(state, command);
    case 'tapeGap':
      return applyGap(state, command);
    case 'tapeBar':
      return applyBar(state, command);
    case 'tapeL3':
      return applyL3(state, command);
    case 'listMarket':
      return listMarket(state, command);
    case 'updateMargin':
      return updateMargin(state, command);
    case 'updateDelegate':
      return updateDelegate(state, command);
    case 'updateSigners':
      return updateSigners(state, command);
    case 'settleFunding':
      return settleFunding(state, command);
    case 'setMarketTerms':
      return setMarketTerms(state, command);
    case 'setMarketStatus':
      return setMarketStatus(state, command);
    case 'delistMarket':
      return delistMarket(state, command);
    default:
      return unreachable(command);
  }
}

function takeIndex(state: State, command: SetIndex): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  const refusal = priceRefusal(market, command.priceTicks);
  if (refusal !== null) return refusal;
  if (market.spec.indexSource === 'mid') return { code: 'index_source_not_oracle' };
  const { frozen } = market;
  setIndex(state, market, command.priceTicks, command.text);
  if (frozen) recallDebts(state, market);
  return 'ok';
}

function takeMark(state: State, command: SetMark): Outcome {
  const market = state.markets[command.market];
  if (market === undefined) return { code: 'market_not_found' };
  const refusal = priceRefusal(market, command.priceTicks);
  if (refusal !== null) return refusal;
  if (market.spec.markSource !== 'external') return { code: 'mark_source_not_external' };
  const { frozen } = market;
  setMark(state, market, command.priceTicks);
  if (frozen) recallDebts(state, market);
  return 'ok';
}

/** Prices from outside may pass the highest price of the market's orders. */
function priceRefusal({ spec, status }: Market, ticks: PriceTicks): Refusal | null {
  if (status === 'delisted') return { code: 'market_delisted' };
  if (ticks <= 0) return { code: 'price_not_positive', field: 'price' };
  if (ticks <= MAX_PRICE_TICKS) return null;
  const maxTicks = priceTicks(MAX_PRICE_TICKS);
  return { code: 'price_too_high', field: 'price', maxTicks, tickSize: spec.tickSize };
}

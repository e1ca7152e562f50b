/** Coverage states ("sometimes" assertions), each with the rule it tests if reached. */
import type { Command } from '../engine/commands.ts';
import type { EngineEvent } from '../engine/events.ts';
import type { Outcome } from '../engine/refusals.ts';
import type { Engine } from '../engine/read/views.ts';
import type { Counts } from './reached-counts.ts';
import type { Checker } from './checker.ts';
import { mustBeCounts } from './fuzz-error.ts';

/** Rule and description of each state. */
export const COVERED_STATES = {
  adl: ['R-6.4', 'ADL closes a winning position against a bankrupt one'],
  vaultTakeover: ['R-6.2', 'the vault takes over a position'],
  insurancePays: ['R-6.2', 'insurance pays a deficit in full'],
  bookTakesLiquidation: ['R-6.2', 'an engine order fills on the book'],
  slicedLiquidation: ['R-6.2', 'a large position is liquidated in slices with pauses'],
  isolatedLiquidation: ['R-6.1', 'an isolated position is liquidated separately'],
  liquidationCascade: ['R-6.1', 'one command liquidates three or more subaccounts'],
  triggerCascade: ['R-4.3', 'a trade of a triggered order triggers another'],
  stopAndLiquidation: ['R-12.1', 'triggers and liquidations happen at one instant'],
  trailingFires: ['R-4.2', 'a trailing stop fires'],
  legRearmed: ['R-3.6', 'a triggered leg keeps a remainder and is re-armed'],
  siblingEnds: ['R-3.6', 'one leg of a pair ends the other'],
  positionClosesLegs: ['R-3.5', 'the legs of a position end with it'],
  icebergReplenishes: ['R-3.4', 'the next slice of an iceberg joins the queue'],
  twapReleases: ['R-3.3', 'a slice of a TWAP is activated at its time'],
  sliceExpiresWaiting: ['R-3.3', 'a pending order expires before its activation'],
  iocPartialAtSelfTrade: [
    'R-2.6',
    'an ioc order is partly filled and then stops at its own account',
  ],
  bothEndAtSelfTrade: ['R-2.4', 'both orders end at a self-trade'],
  makerCannotAfford: ['R-5.5', 'a maker is cancelled for margin and its taker continues'],
  takerStopsForMargin: ['R-5.5', 'a taker stops midway for margin'],
  bandStopsSweep: ['R-2.3', 'a sweep stops at the band'],
  openInterestStops: ['R-1.2', 'open interest stops an order midway'],
  flip: ['R-5.2', 'one fill turns a long into a short'],
  reduceOnlyCut: ['R-2.7', 'a reduce-only order is cut when its position is gone'],
  expiresPartlyFilled: ['R-2.12', 'an order expires partly filled'],
  rebate: ['R-8.1', 'a maker earns a rebate'],
  originatorPaid: ['R-2.14', 'an originator earns a fee'],
  fundingReceived: ['R-7.3', 'a position receives funding'],
  fundingFromMargin: ['R-7.3', 'an isolated position pays funding from its margin'],
  sharesMinted: ['R-8.2', 'vault shares are minted'],
  sharesBurned: ['R-8.2', 'vault shares are burned'],
  delegateTrades: ['R-9.3', 'a delegate places an order'],
  delegateRevoked: ['R-9.6', 'a delegate is revoked'],
  excessLeaves: ['R-5.10', 'excess margin is withdrawn from an isolated position'],
  tapeMeetsUser: ['docs/RULES.md', 'recorded liquidity crosses a user’s order'],
  tapeStale: ['docs/RULES.md', 'the tape waits for a snapshot'],
  frozenWithPositions: ['R-5.3b', 'a market freezes with open positions'],
  thawWithPositions: ['R-5.3b', 'a market thaws with open positions'],
  frozenMakerEnds: ['R-5.3b', 'an order ends because its market is frozen'],
  frozenFill: ['R-5.3b', 'both sides of a fill in a frozen market reduce positions'],
  insurancePaysInPart: ['R-6.7', 'insurance pays part of a deficit and other parties the rest'],
  shortfall: ['R-6.6', 'a deficit exceeds what all parties can pay'],
  withdrawalLeavesPart: ['R-6.6', 'a part of a withdrawal goes to the shortfall'],
  shortfallPaid: ['R-6.6', 'insurance pays on the shortfall'],
  debtRepaid: ['R-6.1', 'equity at a thaw repays an earlier insurance payment'],
  vaultLeaves: ['R-8.4', 'an order that reduces the vault’s position is filled'],
  statusRefuses: ['R-13.2', 'the status of a market rejects an order'],
  noticeEnds: ['R-13.1', 'new terms take effect after their notice'],
  delistedWithPositions: ['R-13.2', 'a market is delisted with open positions'],
} as const satisfies Record<string, readonly [rule: string, says: string]>;

export type CoverageName = keyof typeof COVERED_STATES;

const TRANSFERS = {
  adl: 'adl',
  takeover: 'vaultTakeover',
  delisting: 'delistedWithPositions',
} as const;

export const COVERED_STATE_NAMES = Object.keys(COVERED_STATES) as readonly CoverageName[];

/** Coverage states without a count. */
export function statesNeverReached(counts: Counts): CoverageName[] {
  mustBeCounts('counts', counts);
  return COVERED_STATE_NAMES.filter((name) => counts[`sometimes ${name}`] === undefined);
}

export class Coverage implements Checker {
  private readonly reached = new Map<CoverageName, number>();
  private readonly positions = new Map<number, number>();
  private readonly sliced = new Map<number, number>();
  private readonly trailing = new Set<number>();
  private readonly ioc = new Set<number>();
  private readonly waiting = new Set<number>();
  private readonly partlyFilled = new Set<number>();
  /** In this command: takers, activated orders, liquidated subaccounts, makers without margin. */
  private readonly took = new Set<number>();
  private readonly released = new Set<number>();
  private readonly liquidated = new Set<number>();
  private selfTradeEnds = 0;
  private makersDropped = 0;
  private firedTrade = false;
  private busy = false;
  /** Frozen markets, announced terms, and orders that reduce the vault's positions. */
  private readonly frozen = new Set<number>();
  private readonly awaited = new Set<number>();
  private readonly offers = new Set<number>();
  /**
   * In this command: subaccounts whose deficit insurance paid, and whether the shortfall changed.
   */
  private readonly lifted = new Set<number>();
  private shortfallMoved = false;

  readonly onEvent = (event: EngineEvent): void => {
    switch (event.kind) {
      case 'orderAccepted':
        if (event.orderType === 'trailingStop') this.trailing.add(event.orderId);
        if (event.ioc) this.ioc.add(event.orderId);
        // Only the vault's orders are created by a timer.
        if (event.cause === 'timer') this.offers.add(event.orderId);
        if (event.delegate !== null) this.note('delegateTrades');
        break;
      case 'orderFilled':
        this.fill(event);
        break;
      case 'orderReleased':
        this.release(event);
        break;
      case 'orderPending':
        if (this.released.has(event.orderId)) this.note('legRearmed');
        this.waiting.add(event.orderId);
        break;
      case 'orderEnded':
        this.ended(event);
        break;
      case 'tradePrinted':
        if (event.cause === 'trigger') this.firedTrade = true;
        if (event.cause === 'tapeCross') this.note('tapeMeetsUser');
        this.busy = true;
        break;
      case 'positionChanged':
        this.move(event.subaccount * 65_536 + event.market, event.lots);
        break;
      case 'liquidationStep':
        this.liquidate(event);
        break;
      case 'positionTransferred':
        this.note(TRANSFERS[event.reason]);
        break;
      case 'balanceChanged':
        if (event.reason === 'originatorFee' && event.deltaQuanta > 0n) this.note('originatorPaid');
        else if (event.reason === 'funding' && event.deltaQuanta > 0n) this.note('fundingReceived');
        else if (event.reason === 'insuranceRepaid') this.note('debtRepaid');
        else if (event.reason === 'shortfall') {
          if (event.cause === 'timer') this.note('shortfallPaid');
          this.shortfallMoved ||= event.cause === 'command';
        }
        break;
      case 'isolatedMarginChanged':
        if (event.reason === 'funding' && event.deltaQuanta < 0n) this.note('fundingFromMargin');
        else if (event.reason === 'transferOut') this.note('excessLeaves');
        break;
      case 'vaultSharesChanged':
        this.note(event.change > 0n ? 'sharesMinted' : 'sharesBurned');
        break;
      case 'delegateChanged':
        if (!event.delegated) this.note('delegateRevoked');
        break;
      case 'marketFrozen':
        this.freeze(event);
        break;
      case 'orderRejected':
        if (event.reason === 'halted') this.note('statusRefuses');
        break;
      case 'marketTermsChanged':
        if (event.nextSpec !== null) this.awaited.add(event.market);
        else if (this.awaited.delete(event.market) && event.cause === 'timer') {
          this.note('noticeEnds');
        }
        break;
      case 'tapeApplied':
        if (event.stale) this.note('tapeStale');
        break;
      default:
    }
  };

  after(_engine: Engine, command: Command, _outcome: Outcome): null {
    if (this.shortfallMoved) this.noteShortfall(command);
    this.shortfallMoved = false;
    this.lifted.clear();
    if (!this.busy) return null;
    if (this.selfTradeEnds > 1) this.note('bothEndAtSelfTrade');
    if (this.makersDropped > 0 && this.took.size > 0) this.note('makerCannotAfford');
    if (this.liquidated.size > 2) this.note('liquidationCascade');
    if (this.liquidated.size > 0 && this.released.size > 0) this.note('stopAndLiquidation');
    this.took.clear();
    this.released.clear();
    this.liquidated.clear();
    this.selfTradeEnds = 0;
    this.makersDropped = 0;
    this.firedTrade = false;
    this.busy = false;
    return null;
  }

  counts(): Counts {
    return Object.fromEntries(
      [...this.reached].map(([name, count]) => [`sometimes ${name}`, count]),
    );
  }

  private note(name: CoverageName): void {
    this.reached.set(name, (this.reached.get(name) ?? 0) + 1);
  }

  private fill(event: Extract<EngineEvent, { kind: 'orderFilled' }>): void {
    if (event.role === 'taker') this.took.add(event.orderId);
    if (event.remainingLots !== 0) this.partlyFilled.add(event.orderId);
    if (event.feeQuanta < 0n) this.note('rebate');
    if (event.cause === 'liquidation') this.note('bookTakesLiquidation');
    if (this.offers.has(event.orderId)) this.note('vaultLeaves');
    if (event.role === 'maker' && this.frozen.has(event.market)) this.note('frozenFill');
  }

  private release({ orderId, cause }: Extract<EngineEvent, { kind: 'orderReleased' }>): void {
    this.busy = true;
    this.released.add(orderId);
    this.waiting.delete(orderId);
    if (this.trailing.delete(orderId)) this.note('trailingFires');
    if (cause === 'trigger' && this.firedTrade) this.note('triggerCascade');
    if (cause === 'twap') this.note('twapReleases');
    if (cause === 'iceberg') this.note('icebergReplenishes');
  }

  private ended(event: Extract<EngineEvent, { kind: 'orderEnded' }>): void {
    const { orderId, reason } = event;
    this.busy = true;
    const tookSome = this.took.has(orderId);
    const ioc = this.ioc.delete(orderId);
    const waited = this.waiting.delete(orderId);
    const partly = this.partlyFilled.delete(orderId);
    this.trailing.delete(orderId);
    this.offers.delete(orderId);
    switch (reason) {
      case 'selfTrade':
        this.selfTradeEnds += 1;
        if (ioc && tookSome) this.note('iocPartialAtSelfTrade');
        break;
      case 'insufficientMargin':
        if (tookSome) this.note('takerStopsForMargin');
        else this.makersDropped += 1;
        break;
      case 'priceBand':
        if (tookSome) this.note('bandStopsSweep');
        break;
      case 'openInterest':
        if (tookSome) this.note('openInterestStops');
        break;
      case 'reduceOnly':
        this.note('reduceOnlyCut');
        break;
      case 'staleIndex':
        this.note('frozenMakerEnds');
        break;
      case 'ocoSibling':
        this.note('siblingEnds');
        break;
      case 'positionClosed':
        this.note('positionClosesLegs');
        break;
      case 'expired':
        if (waited) this.note('sliceExpiresWaiting');
        else if (partly) this.note('expiresPartlyFilled');
        break;
      default:
    }
  }

  private freeze({ market, frozen }: Extract<EngineEvent, { kind: 'marketFrozen' }>): void {
    if (frozen) this.frozen.add(market);
    else this.frozen.delete(market);
    for (const [key, lots] of this.positions) {
      if (lots === 0 || key % 65_536 !== market) continue;
      this.note(frozen ? 'frozenWithPositions' : 'thawWithPositions');
      return;
    }
  }

  private noteShortfall(command: Command): void {
    if (command.kind === 'withdraw') this.note('withdrawalLeavesPart');
    else if (command.kind === 'deposit') this.note('shortfallPaid');
  }

  private move(key: number, lots: number): void {
    const before = this.positions.get(key) ?? 0;
    this.positions.set(key, lots);
    if (before * lots < 0) this.note('flip');
  }

  private liquidate(event: Extract<EngineEvent, { kind: 'liquidationStep' }>): void {
    const { step, subaccount, seq, isolated } = event;
    this.busy = true;
    this.liquidated.add(subaccount);
    if (isolated) this.note('isolatedLiquidation');
    if (step === 'insurance') {
      this.note('insurancePays');
      this.lifted.add(subaccount);
    }
    if (step === 'adl' && this.lifted.has(subaccount)) this.note('insurancePaysInPart');
    if (step === 'shortfall') this.note('shortfall');
    if (step !== 'order') return;
    const before = this.sliced.get(subaccount);
    if (before !== undefined && before !== seq) this.note('slicedLiquidation');
    this.sliced.set(subaccount, seq);
  }
}

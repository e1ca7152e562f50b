/**
 * A subaccount: cash, and per market an exposure (position and resting orders)..
 *
 * Plain records with one constructor, so they share one hidden class. `exposures` is sparse.
 */
import type { Archive } from '../../base/archive.ts';
import { doubleOfMoney, moneyOf, NO_MONEY, quantaOf, type Money } from '../../num/money.ts';
import {
  lots,
  MAX_PRICE_TICKS,
  ppm,
  quanta,
  timeUs,
  type AccountId,
  type Lots,
  type MarketId,
  type Ppm,
  type Quanta,
  type SubaccountId,
  type TimeUs,
  type OrderId,
} from '../../num/units.ts';
import { emptyOwnerList, type OwnerList } from '../book/order-table.ts';
import type { MarginPart, MarginSums } from '../margin/margin-part.ts';
import type { RestingSums } from '../margin/resting-sums.ts';
import type { NonceCells } from './nonce-cells.ts';
import { NonceScope } from './nonces.ts';

/** Margin, nonces and limits apply to users only; other roles are the tape and system accounts. */
export type SubaccountRole = 'user' | 'vault' | 'insurance' | 'treasury' | 'house' | 'shortfall';

export const SUBACCOUNT_ROLES: readonly SubaccountRole[] = [
  'user',
  'vault',
  'insurance',
  'treasury',
  'house',
  'shortfall',
];

/** Fields that every order reads come first in both classes, to share cache lines. */
export class Exposure {
  readonly market: MarketId;
  /** Signed position. */
  positionLots: Lots = lots(0);
  /** Lots of resting orders that are not reduce-only, by side; both ≥ 0. */
  bidLots = 0;
  askLots = 0;
  /** Resting orders, reduce-only included. */
  openOrders = 0;
  reduceOnlyOrders = 0;
  /** Pending orders, and live take-profits and stop-losses that protect. */
  pendingOrders = 0;
  legs = 0;
  /**
   * Bounds on resting prices for the fast accept path: no bid is above `highestBid`, no ask below
   * `lowestAsk`, no order above `highestPrice`. They only widen until a side is empty. Derived.
   */
  highestBid = 0;
  lowestAsk = MAX_PRICE_TICKS;
  highestPrice = 0;
  /** Whether the position has isolated margin. */
  isolated = false;
  /** The account's own initial rate; 0 if it has none and the market's rate applies. */
  ownMarginPpm: Ppm = ppm(0);
  /** Signed cost of the position: the price paid for it. */
  costMoney: Money = NO_MONEY;
  /** Fees over the lifetime of the position. */
  feesMoney: Money = NO_MONEY;
  /** Funding of the open part; closing removes a proportional share. */
  fundingMoney: Money = NO_MONEY;
  readonly subaccount: SubaccountId;
  updatedAtUs: TimeUs = timeUs(0);
  /** Margin of the isolated position; negative only within a command. */
  marginQuanta: Quanta = quanta(0n);
  /** Size at the start of the liquidation in progress, ≥ 0; 0 if there is none. */
  liquidationLots = 0;
  /** Time of its next slice. */
  liquidationResumesUs: TimeUs = timeUs(0);
  /** Mark up to which the position is safe, and its heap and index there. Derived, not archived. */
  safeTicks = 0;
  safeSide: 0 | 1 | -1 = 0;
  safePlace = -1;
  /** Its live orders in ascending order id. Derived. */
  readonly orders: OwnerList = emptyOwnerList();
  /** Its live reduce-only orders in ascending order id; null before the first. Derived. */
  closing: Set<OrderId> | null = null;
  /** Sums of its resting orders, and its part in the subaccount's margin; derived, null unused. */
  resting: RestingSums | null = null;
  part: MarginPart | null = null;

  constructor(subaccount: SubaccountId, market: MarketId) {
    this.subaccount = subaccount;
    this.market = market;
  }

  get costQuanta(): Quanta {
    return quantaOf(this.costMoney);
  }

  set costQuanta(cost: Quanta) {
    this.costMoney = moneyOf(cost);
  }

  get feesQuanta(): Quanta {
    return quantaOf(this.feesMoney);
  }

  set feesQuanta(fees: Quanta) {
    this.feesMoney = moneyOf(fees);
  }

  get fundingQuanta(): Quanta {
    return quantaOf(this.fundingMoney);
  }

  set fundingQuanta(funding: Quanta) {
    this.fundingMoney = moneyOf(funding);
  }

  /** The cost as a rounded double, for bounds. */
  get costAbout(): number {
    return doubleOfMoney(this.costMoney);
  }

  archive(io: Archive): void {
    this.positionLots = lots(io.int(this.positionLots));
    this.costQuanta = quanta(io.bigint(this.costQuanta));
    this.bidLots = io.int(this.bidLots);
    this.askLots = io.int(this.askLots);
    this.openOrders = io.int(this.openOrders);
    this.reduceOnlyOrders = io.int(this.reduceOnlyOrders);
    this.pendingOrders = io.int(this.pendingOrders);
    this.legs = io.int(this.legs);
    this.feesQuanta = quanta(io.bigint(this.feesQuanta));
    this.fundingQuanta = quanta(io.bigint(this.fundingQuanta));
    this.updatedAtUs = timeUs(io.int(this.updatedAtUs));
    this.isolated = io.bool(this.isolated);
    this.ownMarginPpm = ppm(io.int(this.ownMarginPpm));
    this.marginQuanta = quanta(io.bigint(this.marginQuanta));
    this.liquidationLots = io.int(this.liquidationLots);
    this.liquidationResumesUs = timeUs(io.int(this.liquidationResumesUs));
  }
}

export class Subaccount {
  readonly role: SubaccountRole;
  /** The exposure read last: most subaccounts have one. */
  private latest: Exposure | null = null;
  readonly orderNonces: NonceScope;
  /** Number of live orders in all markets (`orders/owned-orders.ts`). */
  orderCount = 0;
  /** Ended orders of its account, shared by all its subaccounts. */
  readonly endedOrders: OwnerList;
  readonly id: SubaccountId;
  readonly account: AccountId;
  /** Number of markets with an exposure. */
  exposureCount = 0;
  /** The exposures, in the order in which they were opened. */
  readonly opened: Exposure[] = [];
  /** Whether its exposures keep sums of resting orders, and the sums of margin; both derived. */
  sumsOrders = false;
  margin: MarginSums | null = null;
  cashMoney: Money = NO_MONEY;
  updatedAtUs: TimeUs = timeUs(0);
  /** Whether its distance to liquidation is stale. Derived, not archived. */
  riskCheckPending = false;
  /** Whether a credit makes it stale: a unit waits for a thaw, unmarked. Derived, not archived. */
  waitsForThaw = false;
  /** By market id; undefined for a market without activity. */
  readonly exposures: (Exposure | undefined)[] = [];
  readonly index: number;
  netDeposits: Quanta = quanta(0n);
  /** Vault shares in 1e-6, the end of their lock, and deposits less withdrawals. */
  vaultShares = 0n;
  lockupEndsAtUs: TimeUs = timeUs(0);
  vaultNetDeposits: Quanta = quanta(0n);
  /** Paid by others for its deficit while it had frozen positions; repaid at the thaw. */
  clearingDebt: Quanta = quanta(0n);
  /** Deposits since the shortfall of this epoch began, less exempt withdrawals. */
  exemptQuanta: Quanta = quanta(0n);
  exemptEpoch = 0;

  constructor(
    id: SubaccountId,
    owner: { readonly id: AccountId; readonly endedOrders: OwnerList },
    index: number,
    role: SubaccountRole,
    nonceCells: NonceCells,
  ) {
    this.orderNonces = new NonceScope(nonceCells);
    this.id = id;
    this.endedOrders = owner.endedOrders;
    this.account = owner.id;
    this.index = index;
    this.role = role;
  }

  get cash(): Quanta {
    return quantaOf(this.cashMoney);
  }

  set cash(cash: Quanta) {
    this.cashMoney = moneyOf(cash);
  }

  /** The cash as a rounded double, for bounds. */
  get cashAbout(): number {
    return doubleOfMoney(this.cashMoney);
  }

  exposure(market: MarketId): Exposure {
    const { latest } = this;
    if (latest !== null && latest.market === market) return latest;
    const found = this.exposures[market] ?? this.open(market);
    this.latest = found;
    return found;
  }

  private open(market: MarketId): Exposure {
    while (this.exposures.length < market) this.exposures.push(undefined);
    const made = new Exposure(this.id, market);
    this.exposures[market] = made;
    this.opened.push(made);
    this.exposureCount += 1;
    return made;
  }

  archive(io: Archive): void {
    this.cash = quanta(io.bigint(this.cash));
    this.netDeposits = quanta(io.bigint(this.netDeposits));
    this.updatedAtUs = timeUs(io.int(this.updatedAtUs));
    this.orderNonces.archive(io);
    this.vaultShares = io.bigint(this.vaultShares);
    this.lockupEndsAtUs = timeUs(io.int(this.lockupEndsAtUs));
    this.vaultNetDeposits = quanta(io.bigint(this.vaultNetDeposits));
    this.clearingDebt = quanta(io.bigint(this.clearingDebt));
    this.exemptQuanta = quanta(io.bigint(this.exemptQuanta));
    this.exemptEpoch = io.int(this.exemptEpoch);
    const touched = io.loading ? [] : this.exposures.filter((exposure) => exposure !== undefined);
    const count = io.int(touched.length);
    for (let i = 0; i < count; i++) {
      const market = io.int(touched[i]?.market ?? 0) as MarketId;
      (touched[i] ?? this.exposure(market)).archive(io);
    }
  }
}

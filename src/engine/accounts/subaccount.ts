/**
 * A subaccount: cash, and per market an exposure (position and what rests on the book)..
 *
 * Plain records with one constructor, so that every one has the same shape. `exposures` is sparse by market id.
 */
import type { Archive } from '../../base/archive.ts';
import { doubleOf, nearestDouble } from '../../num/arithmetic.ts';
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
} from '../../num/units.ts';
import { emptyOwnerList, type OwnerList } from '../book/order-table.ts';
import type { NonceCells } from './nonce-cells.ts';
import { NonceScope } from './nonces.ts';

/** Who stands outside margin, nonces and limits: the tape (house), and the exchange's own accounts. */
export type SubaccountRole = 'user' | 'vault' | 'insurance' | 'treasury' | 'house' | 'shortfall';

export const SUBACCOUNT_ROLES: readonly SubaccountRole[] = [
  'user',
  'vault',
  'insurance',
  'treasury',
  'house',
  'shortfall',
];

/** What every order looks at comes first in both records: it shares cache lines. */
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
  /** Orders that wait, and live take-profits and stop-losses that protect. */
  pendingOrders = 0;
  legs = 0;
  /**
   * Bounds on resting prices, so that most orders are admitted without a scan of what rests: no bid is above
   * `highestBid`, no ask below `lowestAsk`, nothing above `highestPrice`. They only widen until a side is empty; they
   * are derived, never decide a refusal, and are not archived.
   */
  highestBid = 0;
  lowestAsk = MAX_PRICE_TICKS;
  highestPrice = 0;
  /** Whether the position stands on margin of its own. */
  isolated = false;
  /** The account's own initial rate; 0 while the market's alone holds. */
  ownMarginPpm: Ppm = ppm(0);
  /** `costQuanta` as a double once it was asked for, else NaN. */
  private costDouble = 0;
  private cost: Quanta = quanta(0n);
  /** Sum over the life of the position. */
  feesQuanta: Quanta = quanta(0n);
  /** Of what is open: what closes takes its part along. */
  fundingQuanta: Quanta = quanta(0n);
  readonly subaccount: SubaccountId;
  updatedAtUs: TimeUs = timeUs(0);
  /** Margin that the isolated position holds; negative only within a command. */
  marginQuanta: Quanta = quanta(0n);
  /** Size when the liquidation in progress began, ≥ 0; 0 while there is none. */
  liquidationLots = 0;
  /** When its next slice is due. */
  liquidationResumesUs: TimeUs = timeUs(0);
  /** Mark up to which the position is known to be safe, and its heap and place in the market's index: derived, not archived. */
  safeTicks = 0;
  safeSide: 0 | 1 | -1 = 0;
  safePlace = -1;

  constructor(subaccount: SubaccountId, market: MarketId) {
    this.subaccount = subaccount;
    this.market = market;
  }

  /** Signed cost of the position: what was paid for it. */
  get costQuanta(): Quanta {
    return this.cost;
  }

  set costQuanta(cost: Quanta) {
    this.cost = cost;
    this.costDouble = NaN;
  }

  /** `costQuanta` as a double, rounded: for bounds. */
  get costAbout(): number {
    if (Number.isNaN(this.costDouble)) this.costDouble = nearestDouble(this.cost);
    return this.costDouble;
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
  /** The exposure that was last asked for: most subaccounts have one. */
  private latest: Exposure | null = null;
  readonly orderNonces: NonceScope;
  /** Live orders in ascending order id. */
  readonly orders: OwnerList = emptyOwnerList();
  /** Ended orders of its account, which all its subaccounts share. */
  readonly endedOrders: OwnerList;
  readonly id: SubaccountId;
  readonly account: AccountId;
  /** Markets that it has touched. */
  exposureCount = 0;
  /** `cash` as a double once it was asked for, else NaN. */
  private cashDouble = 0;
  private cashQuanta: Quanta = quanta(0n);
  updatedAtUs: TimeUs;
  /** Whether its distance to liquidation is to be computed anew: derived, not archived. */
  riskCheckPending = false;
  /** By market id; a market never touched has none. */
  readonly exposures: (Exposure | undefined)[] = [];
  readonly index: number;
  netDeposits: Quanta = quanta(0n);
  /** Vault shares in 1e-6, until when they are locked, and deposits less withdrawals. */
  vaultShares = 0n;
  lockupEndsAtUs: TimeUs = timeUs(0);
  vaultNetDeposits: Quanta = quanta(0n);
  /** What others paid for its deficit while it held frozen positions; repaid at the thaw. */
  clearingDebt: Quanta = quanta(0n);
  /** Deposits since the shortfall of this epoch began, less what left under them. */
  exemptQuanta: Quanta = quanta(0n);
  exemptEpoch = 0;

  constructor(
    id: SubaccountId,
    account: AccountId,
    index: number,
    role: SubaccountRole,
    nowUs: TimeUs,
    endedOrders: OwnerList,
    nonceCells: NonceCells,
  ) {
    this.orderNonces = new NonceScope(nonceCells);
    this.id = id;
    this.endedOrders = endedOrders;
    this.account = account;
    this.index = index;
    this.role = role;
    this.updatedAtUs = nowUs;
  }

  get cash(): Quanta {
    return this.cashQuanta;
  }

  set cash(cash: Quanta) {
    this.cashQuanta = cash;
    this.cashDouble = NaN;
  }

  /** `cash` as a double, rounded: for bounds. */
  get cashAbout(): number {
    if (Number.isNaN(this.cashDouble)) this.cashDouble = doubleOf(this.cashQuanta);
    return this.cashDouble;
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

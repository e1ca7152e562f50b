/**
 * State of an exchange: what is archived and hashed, and caches derived from it. The context of the
 * command being applied is elsewhere (command-context.ts), so a snapshot, an invariant or a read
 * cannot depend on it.
 *
 * Invariant: `live` parts (accounts, markets, live orders, expiry) determine every future command.
 * History (ended orders, trades, candles, transfers) determines none and is outside the state hash.
 */
import { must } from '../base/assert.ts';
import { halfSipKey, type HalfSipKey } from '../base/half-siphash.ts';
import { RollingHash } from '../base/rolling-hash.ts';
import { SlotIndex } from '../base/slot-index.ts';
import { TimerHeap } from '../base/timer-heap.ts';
import {
  address,
  orderId,
  quanta,
  seq,
  timeUs,
  tradeId,
  type Address,
  type MarketId,
  type OrderId,
  type Quanta,
  type Seq,
  type SubaccountId,
  type TimeUs,
  type TradeId,
} from '../num/units.ts';
import { Accounts } from './accounts/accounts.ts';
import type { Subaccount } from './accounts/subaccount.ts';
import { Recent } from './accounts/recent.ts';
import { EndedOrders } from './book/ended-orders.ts';
import { OrderTable } from './book/order-table.ts';
import type { ExchangeConfig } from './config.ts';
import { PriceSums } from './margin/price-sums.ts';
import { MarketTimers, type Market } from './market/market.ts';
import type { OperatorEntry, TransferView, VaultSnapshotView } from './read/views.ts';

/** The tape's two accounts; no key signs for their addresses. */
export const HOUSE_MAKER = address('0x0000000000000000000000000000000000000001');
export const HOUSE_TAKER = address('0x0000000000000000000000000000000000000002');

/** @internal */
export class ExchangeState {
  readonly config: ExchangeConfig;
  nowUs: TimeUs;
  nextOrderId: OrderId = orderId(1);
  nextTradeId: TradeId = tradeId(1);

  readonly accounts = new Accounts();
  readonly markets: Market[] = [];
  readonly orders = new OrderTable();

  /** Deposits less withdrawals: the total supply of money. */
  supply: Quanta = quanta(0n);

  /**
   * Σ of all vault shares, in 1e-6, and the next snapshot time; Infinity without holders.
   */
  vaultShares = 0n;
  vaultSnapshotUs = Infinity;

  readonly vault: Subaccount;
  readonly insurance: Subaccount;
  readonly treasury: Subaccount;
  readonly houseMaker: Subaccount;
  readonly houseTaker: Subaccount;
  /** Uncovered deficits: its cash is never above zero. */
  readonly shortfall: Subaccount;

  /** Number and start of the newest shortfall, and insurance's next payment time. */
  shortfallEpoch = 0;
  shortfallSinceUs: TimeUs = timeUs(0);
  shortfallDueUs = Infinity;
  /** Σ of remaining exempt deposits, and their epoch; older ones have expired. */
  exemptTotal: Quanta = quanta(0n);
  exemptTotalEpoch = 0;
  /** The UTC hour of the insurance limit: its start, its base, and payments since. */
  insuranceHourUs: TimeUs = timeUs(0);
  insuranceBase: Quanta = quanta(0n);
  insurancePaid: Quanta = quanta(0n);
  /** Time of the vault's next offer of its positions; Infinity without any. */
  vaultLeaveUs = Infinity;

  /** History: archived and outside the state hash. */
  readonly endedOrders = new EndedOrders();
  readonly transfers: Recent<TransferView>;
  readonly vaultSnapshots: Recent<VaultSnapshotView>;
  /** Accepted commands of the operator, oldest first. */
  readonly operatorLog: OperatorEntry[] = [];

  /** The place in the journal: archived and outside the state hash. */
  seq: Seq = seq(0);
  readonly hash = new RollingHash();

  /** Derived caches, rebuilt when an archive is loaded. First, the key of price sampling times. */
  readonly samplingKey: HalfSipKey;
  readonly marketBySymbol = new Map<string, MarketId>();
  /** Bound of the next timer of a market. */
  readonly marketTimers = new MarketTimers();
  /** Prices of the resting orders that exposures sum (`margin/resting-sums.ts`). */
  readonly restingPrices = new PriceSums();
  /** Live clientIds, by hash of (account, clientId). */
  readonly clientIds = new SlotIndex();
  /**
   * (expiry time, order id) of live orders that can expire; stale entries are skipped at the top.
   */
  readonly expiries = new TimerHeap();
  /** (time, order id) of pending TWAP slices. */
  readonly slices = new TimerHeap();
  /** Number of live orders with an entry in `expiries`. */
  expiring = 0;
  /** (time, subaccount id) of pauses between slices. */
  readonly liquidationPauses = new TimerHeap();
  /** Subaccounts whose distance to liquidation is stale (`Subaccount.riskCheckPending`). */
  private riskCheckPending: Subaccount[] = [];

  constructor(config: ExchangeConfig) {
    this.config = config;
    this.samplingKey = halfSipKey(config.samplingSeed);
    this.nowUs = config.genesisTimeUs;
    this.transfers = new Recent(config.retention.transfersPerSubaccount);
    this.vaultSnapshots = new Recent(config.retention.vaultSnapshotsPerHolder);
    const open = this.accounts;
    this.vault = open.open(config.clsAccount, 0, this.nowUs, 'vault');
    this.insurance = open.open(config.insuranceAccount, 0, this.nowUs, 'insurance');
    this.treasury = open.open(config.treasuryAccount, 0, this.nowUs, 'treasury');
    this.houseMaker = open.open(HOUSE_MAKER, 0, this.nowUs, 'house');
    this.houseTaker = open.open(HOUSE_TAKER, 0, this.nowUs, 'house');
    this.shortfall = open.open(config.shortfallAccount, 0, this.nowUs, 'shortfall');
  }

  market(id: MarketId): Market {
    return must(this.markets[id], 'market ids are dense');
  }

  subaccount(id: SubaccountId): Subaccount {
    return this.accounts.subaccount(id);
  }

  /** Marks the subaccount's liquidation bounds stale: its cash fell or its position changed. */
  markForRiskCheck(subaccount: Subaccount): void {
    if (subaccount.riskCheckPending) return;
    subaccount.riskCheckPending = true;
    this.riskCheckPending.push(subaccount);
  }

  get anyRiskCheckPending(): boolean {
    return this.riskCheckPending.length > 0;
  }

  /** Returns subaccounts marked for a risk check, in ascending id, and clears the marks. */
  drainRiskChecks(): readonly Subaccount[] {
    const taken = this.riskCheckPending;
    this.riskCheckPending = [];
    for (const subaccount of taken) subaccount.riskCheckPending = false;
    return taken.sort((a, b) => a.id - b.id);
  }

  /** Whether the address is a system account: it has no signer and no user access. */
  isSystem(account: Address): boolean {
    const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = this.config;
    return (
      account === clsAccount ||
      account === insuranceAccount ||
      account === treasuryAccount ||
      account === shortfallAccount ||
      account === HOUSE_MAKER ||
      account === HOUSE_TAKER
    );
  }
}

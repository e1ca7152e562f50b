/**
 * All that a page shows of an instant, as plain data: no bigint, no class, so it can be cloned to
 * another thread or written as JSON. Prices, sizes and money are exact decimal text.
 */
import type { MarketId, SubaccountId } from '../../num/units.ts';
import type { MarginView } from '../../engine/read/views.ts';
import type { Instant } from '../timeline.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { money } from '../../gateway/encode.ts';
import { accountAt, type AccountAt } from './account-at.ts';
import { subaccountName } from './account-names.ts';
import { bookAt, type BookAt } from './book-at.ts';
import { withOutcome, type CommandForms } from './command-at.ts';
import { eventTree, type EventAt } from './event-tree.ts';
import { fundingAt, type FundingAt } from './funding-at.ts';
import { ledgerAt, type LedgerAt } from './ledger-at.ts';
import { liquidationsAt, type LiquidationStepAt } from './liquidation-at.ts';
import { marketAt, type MarketAt } from './market-at.ts';
import { orderAt, ordersAt, type OrderAt } from './order-at.ts';
import { whyStep } from './why-step.ts';

export interface ViewOptions {
  /** Market of the book; the first one by default. */
  readonly market?: number;
  /** Rows on each side of the ladder. */
  readonly levels?: number;
  /** The account whose orders are shown; the one of the command by default. */
  readonly subaccount?: number | null;
  /** Most accounts in the list, users with positions first; 0 computes no margin for it. */
  readonly accounts?: number;
}

export interface StepAt {
  readonly kind: string;
  readonly outcome: string;
  readonly forms: CommandForms;
  /** Sentences on what came of the command. */
  readonly why: readonly string[];
  readonly events: readonly EventAt[];
  readonly ledger: LedgerAt;
  readonly liquidations: readonly LiquidationStepAt[];
  readonly funding: readonly FundingAt[];
}

export interface AccountRow {
  readonly subaccount: number;
  readonly name: string;
  readonly address: string;
  readonly system: boolean;
  readonly equity: string;
  readonly maintenance: string;
  readonly pnl: string;
  readonly safety: number | null;
  readonly positions: number;
}

export interface InstantView {
  readonly seq: number;
  readonly timeUs: number;
  readonly chainHash: string;
  readonly step: StepAt | null;
  readonly markets: readonly MarketAt[];
  readonly book: BookAt | null;
  /** Subaccount in focus, and its figures and live orders. */
  readonly focus: number | null;
  readonly account: AccountAt | null;
  readonly orders: readonly OrderAt[];
  readonly accounts: readonly AccountRow[];
  readonly accountCount: number;
  readonly funds: {
    readonly insurance: string;
    readonly shortfall: string;
    readonly vaultValue: string;
    readonly vaultShares: string;
  };
}

const LEVELS = 20;
const ACCOUNTS = 100;
const SHARE_DECIMALS = 6;

export function instantView(instant: Instant, options: ViewOptions = {}): InstantView {
  const { engine, step } = instant;
  const markets = engine.markets().map(({ id }) => marketAt(engine, id));
  const market = markets[options.market ?? 0];
  const asked =
    options.subaccount === undefined ? (step?.before.subaccount ?? null) : options.subaccount;
  const focus =
    asked !== null && Number.isInteger(asked) && asked >= 0 && asked < engine.subaccountCount
      ? (asked as SubaccountId)
      : null;
  const funds = engine.funds();
  return {
    seq: instant.seq,
    timeUs: instant.timeUs,
    chainHash: instant.chainHash,
    step:
      step === null
        ? null
        : {
            kind: step.command.kind,
            outcome: step.outcome === 'ok' ? 'ok' : step.outcome.code,
            forms: withOutcome(step.before.forms, step.outcome),
            why: whyStep(engine, step),
            events: eventTree(engine, step.events),
            ledger: ledgerAt(engine, step.events),
            liquidations: liquidationsAt(engine, step.events),
            funding: fundingAt(engine, step.events),
          },
    markets,
    book:
      market === undefined
        ? null
        : bookAt(engine, market.id as MarketId, options.levels ?? LEVELS, focus),
    focus,
    account: focus === null ? null : accountAt(engine, focus),
    orders: focus === null ? [] : ordersAt(engine, focus),
    accounts: accountRows(instant, options.accounts ?? ACCOUNTS),
    accountCount: engine.subaccountCount,
    funds: {
      insurance: money(funds.insuranceQuanta),
      shortfall: money(funds.shortfallQuanta),
      vaultValue: money(funds.vaultValueQuanta),
      vaultShares: formatDecimal(funds.vaultShares, SHARE_DECIMALS),
    },
  };
}

/** Accounts in danger first, then users by id, then the exchange's own. */
function accountRows({ engine }: Instant, limit: number): AccountRow[] {
  if (limit <= 0) return [];
  const ranked = Array.from({ length: engine.subaccountCount }, (_, id) => {
    const subaccount = engine.subaccount(id as SubaccountId);
    const margin = engine.margin(subaccount.id);
    const safety = safetyOf(margin);
    return { subaccount, margin, safety, rank: rankOf(subaccount.system, safety) };
  });
  ranked.sort((a, b) => (a.rank === b.rank ? a.subaccount.id - b.subaccount.id : a.rank - b.rank));
  const markets = engine.markets().map(({ id }) => id);
  return ranked.slice(0, limit).map(({ subaccount, margin, safety }) => ({
    subaccount: subaccount.id,
    name: subaccountName(engine, subaccount.id),
    address: engine.addressOf(subaccount.account),
    system: subaccount.system,
    equity: money(margin.accountValueQuanta),
    maintenance: money(margin.maintenanceRequirementQuanta),
    pnl: money(margin.accountValueQuanta - margin.netDepositsQuanta),
    safety,
    positions: markets.filter((market) => engine.positionLots(subaccount.id, market) !== 0).length,
  }));
}

/** Equity ÷ maintenance requirement; null without a requirement. */
function safetyOf({
  accountValueQuanta: equity,
  maintenanceRequirementQuanta: maintenance,
}: MarginView): number | null {
  return maintenance === 0n ? null : Number(equity) / Number(maintenance);
}

const rankOf = (isSystem: boolean, safety: number | null): number =>
  isSystem ? Infinity : (safety ?? Number.MAX_VALUE);

/** One order of an instant, live or ended shortly before; null if it is not known there. */
export function orderView({ engine }: Instant, orderId: number): OrderAt | null {
  const order = engine.order(orderId as Parameters<typeof engine.order>[0]);
  return order === undefined ? null : orderAt(engine, order);
}

/** One account of an instant; null if there is no such subaccount. */
export function accountView({ engine }: Instant, subaccount: number): AccountAt | null {
  const exists =
    Number.isInteger(subaccount) && subaccount >= 0 && subaccount < engine.subaccountCount;
  return exists ? accountAt(engine, subaccount as SubaccountId) : null;
}

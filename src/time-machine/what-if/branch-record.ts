/** Record of one run of a what-if: fills, liquidations and sampled equity. */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import type { SubaccountId } from '../../num/units.ts';
import { subaccountName } from '../views/account-names.ts';
import type { OrderOrigins } from './branch-ids.ts';

export interface FillRow {
  readonly seq: number;
  readonly account: string;
  readonly symbol: string;
  readonly size: string;
  readonly price: string;
}

export interface LiquidationRow {
  readonly seq: number;
  readonly account: string;
  readonly step: string;
}

export interface AccountOutcome {
  readonly account: string;
  readonly address: string;
  readonly index: number;
  /** Equity less net deposits; null if the account does not exist in that run. */
  readonly basePnl: string | null;
  readonly branchPnl: string | null;
  readonly difference: string;
  readonly baseLiquidated: boolean;
  readonly branchLiquidated: boolean;
}

export interface CurvePoint {
  readonly seq: number;
  readonly timeUs: number;
  readonly base: string | null;
  readonly branch: string | null;
}

interface Sample {
  readonly seq: number;
  readonly timeUs: number;
  readonly equity: ReadonlyMap<string, string>;
}

/** Accounts whose equity is sampled: the first ones of the exchange. */
const SAMPLED = 64;

export class BranchRecord {
  readonly liquidations: LiquidationRow[] = [];
  /** Address and index of accounts with a liquidation. */
  readonly liquidated = new Set<string>();
  private readonly fills = new Map<string, FillRow>();
  private readonly samples: Sample[] = [];

  get fillCount(): number {
    return this.fills.size;
  }

  add(view: ExchangeView, seq: number, events: readonly EngineEvent[], orders: OrderOrigins): void {
    for (const event of events) {
      if (event.kind === 'orderFilled') {
        const market = view.market(event.market);
        const row: FillRow = {
          seq,
          account: subaccountName(view, event.subaccount),
          symbol: market.spec.symbol,
          size: sizeText(market, event.lots),
          price: priceText(market, event.priceTicks),
        };
        const key = `${orders.originOf(event.orderId)} ${row.size} ${row.price}`;
        let nth = 0;
        while (this.fills.has(`${key} ${String(nth)}`)) nth += 1;
        this.fills.set(`${key} ${String(nth)}`, row);
      } else if (event.kind === 'liquidationStep') {
        const { account, index } = view.subaccount(event.subaccount);
        const name = subaccountName(view, event.subaccount);
        this.liquidations.push({ seq, account: name, step: event.step });
        this.liquidated.add(`${view.addressOf(account)}/${String(index)}`);
      }
    }
  }

  /** Fills of this run that the other one does not have: by order, size and price. */
  fillsBeyond(other: BranchRecord): FillRow[] {
    return [...this.fills].filter(([key]) => !other.fills.has(key)).map(([, row]) => row);
  }

  sample(view: ExchangeView, seq: number): void {
    const equity = new Map<string, string>();
    for (let id = 0; id < Math.min(SAMPLED, view.subaccountCount); id++) {
      const { account, index, system } = view.subaccount(id as SubaccountId);
      if (system) continue;
      const { accountValueQuanta } = view.margin(id as SubaccountId);
      equity.set(`${view.addressOf(account)}/${String(index)}`, money(accountValueQuanta));
    }
    this.samples.push({ seq, timeUs: view.nowUs, equity });
  }

  /** Equity of an account in this run and in the other one. */
  curve(other: BranchRecord, address: string, index: number): CurvePoint[] {
    const key = `${address}/${String(index)}`;
    return this.samples.map(({ seq, timeUs, equity }, i) => ({
      seq,
      timeUs,
      base: equity.get(key) ?? null,
      branch: other.samples[i]?.equity.get(key) ?? null,
    }));
  }
}

/** Payloads of feeds: the contract's records of changed state. */
import type {
  BalanceChanged,
  LiquidationStep,
  OrderFilled,
  PositionTransferred,
  TradePrinted,
} from '../../engine/events.ts';
import {
  encodeClosedPosition,
  encodePosition,
  marketTime,
  millis,
  money,
  priceText,
  sizeText,
} from '../encode.ts';
import { encodeCandle, encodePrice, encodeSummary } from '../market-data.ts';
import { encodeMarket } from '../market-record.ts';
import type { ExchangeView, RankingAges } from '../../engine/read/views.ts';
import { timeUs, type MarketId, type SubaccountId, type TimeUs } from '../../num/units.ts';
import type { OrderIds } from '../order-ids.ts';

export const MINUTE_US = 60_000_000;
/** Of the ADL rankings in position updates, so that a fill does not trigger a sort. */
const RANKINGS: RankingAges = { smallUs: 1_000_000, largeUs: 1_000_000 };

/** The exchange whose state the records show. */
interface Shown {
  readonly view: ExchangeView;
  readonly ids: OrderIds;
}

export class FeedRecords {
  private readonly host: Shown;

  constructor(host: Shown) {
    this.host = host;
  }

  trade({ market: id, priceTicks, lots, timeUs: atUs }: TradePrinted): unknown {
    const { view } = this.host;
    const market = view.market(id);
    return {
      price: priceText(market, priceTicks),
      quantity: sizeText(market, lots),
      symbol: market.spec.symbol,
      time: marketTime(view, atUs),
    };
  }

  quote(source: 'price' | 'summary', id: MarketId): unknown {
    const { view } = this.host;
    const market = view.market(id);
    return source === 'price' ? encodePrice(view, market) : encodeSummary(view, market);
  }

  market(id: MarketId): unknown {
    return encodeMarket(this.host.view.market(id));
  }

  /** Contains no account. */
  liquidation(event: LiquidationStep | PositionTransferred | BalanceChanged): unknown {
    const { view } = this.host;
    const id = event.kind === 'balanceChanged' ? null : event.market;
    const market = id === null ? null : view.market(id);
    const record = {
      event: 'shortfall',
      step: null,
      symbol: market?.spec.symbol ?? null,
      isolated: null,
      quantity: null,
      price: null,
      equity: null,
      maintenanceMargin: null,
      amount: null,
      shortfall: null,
      sequence_number: event.seq,
      time: marketTime(view, event.timeUs),
    };
    if (event.kind === 'balanceChanged') {
      const { deltaQuanta, balanceQuanta } = event;
      return { ...record, amount: money(deltaQuanta), shortfall: money(balanceQuanta) };
    }
    if (event.kind === 'positionTransferred') {
      return {
        ...record,
        event: 'transfer',
        step: event.reason,
        quantity: market === null ? null : sizeText(market, event.lots),
        price: market === null ? null : priceText(market, event.priceTicks),
      };
    }
    const isOrder = market !== null && event.step === 'order';
    return {
      ...record,
      event: 'step',
      step: event.step,
      isolated: event.isolated,
      quantity: isOrder ? sizeText(market, event.lots) : null,
      price: isOrder && event.limitTicks !== null ? priceText(market, event.limitTicks) : null,
      equity: money(event.equityQuanta),
      maintenanceMargin: money(event.maintenanceQuanta),
      amount: isOrder ? null : money(event.amountQuanta),
    };
  }

  /** Candle of the minute of `atUs`; null if it is not kept. */
  candle(id: MarketId, atUs: TimeUs): unknown {
    const { view } = this.host;
    const market = view.market(id);
    const fromUs = timeUs(atUs - (atUs % MINUTE_US));
    const [candle] = view.candles(id, MINUTE_US, fromUs, timeUs(fromUs + MINUTE_US), 1).items;
    if (candle === undefined) return null;
    return { symbol: market.spec.symbol, interval: '1m', ...encodeCandle(view, market, candle) };
  }

  position(id: SubaccountId, marketId: MarketId): unknown {
    const { view } = this.host;
    const position = view.positions(id).find(({ market }) => market === marketId);
    if (position !== undefined) return encodePosition(view, position, RANKINGS);
    return encodeClosedPosition(view, id, view.market(marketId), view.nowUs);
  }

  balance(id: SubaccountId): unknown {
    const { view } = this.host;
    const subaccount = view.subaccount(id);
    return {
      account: view.addressOf(subaccount.account),
      balance: money(subaccount.balanceQuanta),
      subaccountIndex: subaccount.index,
      updatedAt: millis(subaccount.updatedAtUs),
    };
  }

  fill(fill: OrderFilled | PositionTransferred, side: FillSide): unknown {
    const { view } = this.host;
    const market = view.market(fill.market);
    const subaccount = view.subaccount(side.subaccount);
    const order = fill.kind === 'orderFilled' ? view.order(fill.orderId) : undefined;
    return {
      account: view.addressOf(subaccount.account),
      subaccountIndex: subaccount.index,
      symbol: market.spec.symbol,
      price: priceText(market, fill.priceTicks),
      quantity: sizeText(market, side.lots),
      time: marketTime(view, fill.timeUs),
      order_id: order === undefined ? null : this.host.ids.digestOf(order),
      fee: money(side.fee),
      realized_exposure: money(side.exposure),
      realized_funding: money(side.funding),
      realized_pnl: money(side.exposure + side.funding - side.fee),
    };
  }
}

export interface FillSide {
  readonly subaccount: SubaccountId;
  readonly lots: number;
  readonly fee: bigint;
  readonly exposure: bigint;
  readonly funding: bigint;
}

/** Sides of a fill: one per event of a book fill, both for a transferred position. */
export function sidesOf(fill: OrderFilled | PositionTransferred): FillSide[] {
  if (fill.kind === 'orderFilled') {
    return [
      {
        subaccount: fill.subaccount,
        lots: fill.lots,
        fee: fill.feeQuanta + fill.originatorFeeQuanta,
        exposure: fill.realizedPnlQuanta,
        funding: fill.realizedFundingQuanta,
      },
    ];
  }
  const fee = 0n;
  return [
    {
      subaccount: fill.from,
      lots: -fill.lots,
      fee,
      exposure: fill.fromRealizedQuanta - fill.moneyQuanta,
      funding: fill.fromFundingQuanta,
    },
    {
      subaccount: fill.to,
      lots: fill.lots,
      fee,
      exposure: fill.toRealizedQuanta + fill.moneyQuanta,
      funding: fill.toFundingQuanta,
    },
  ];
}

/** Readable state of markets and subaccounts as text: one row per value, in decimals. */
import type { ExchangeView, LevelView, MarketView, OrderView } from '../../engine/read/views.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { subaccountId, type Address, type MarketId, type SubaccountId } from '../../num/units.ts';

export interface StateRow {
  /**
   * `exchange`, a market's symbol, a system account's name, or an address with subaccount index.
   */
  readonly subject: string;
  readonly field: string;
  readonly value: string;
}

const RATE_DECIMALS = 9;

/** All readable state. */
export function allRows(view: ExchangeView): StateRow[] {
  const ids = Array.from({ length: view.subaccountCount }, (_, id) => subaccountId(id));
  return [
    { subject: 'exchange', field: 'now (µs)', value: String(view.nowUs) },
    { subject: 'exchange', field: 'last order', value: String(view.lastOrderId) },
    ...view.markets().flatMap(({ id }) => marketRows(view, id)),
    ...ids.flatMap((id) => subaccountRows(view, id)),
  ];
}

export function marketRows(view: ExchangeView, id: MarketId): StateRow[] {
  const market = view.market(id);
  const subject = market.spec.symbol;
  const price = (ticks: number | null): string => (ticks === null ? '–' : priceText(market, ticks));
  const level = (best: LevelView | null): string =>
    best === null ? '–' : `${sizeText(market, best.lots)} @ ${priceText(market, best.priceTicks)}`;
  return [
    { subject, field: 'index', value: price(market.indexTicks) },
    { subject, field: 'mark', value: price(market.markTicks) },
    { subject, field: 'last', value: price(market.lastTicks) },
    { subject, field: 'best bid', value: level(market.bestBid) },
    { subject, field: 'best ask', value: level(market.bestAsk) },
    { subject, field: 'open interest', value: sizeText(market, market.openInterestLots) },
    {
      subject,
      field: 'funding rate',
      value: formatDecimal(BigInt(market.fundingRatePpb), RATE_DECIMALS),
    },
  ];
}

export function subaccountRows(view: ExchangeView, id: SubaccountId): StateRow[] {
  const { account, index, balanceQuanta } = view.subaccount(id);
  const subject = subjectOf(view, view.addressOf(account), index);
  const figures = view.margin(id);
  const rows: StateRow[] = [
    { subject, field: 'cash', value: money(balanceQuanta) },
    { subject, field: 'net deposits', value: money(figures.netDepositsQuanta) },
    { subject, field: 'account value', value: money(figures.accountValueQuanta) },
    { subject, field: 'initial requirement', value: money(figures.initialRequirementQuanta) },
    { subject, field: 'maintenance', value: money(figures.maintenanceRequirementQuanta) },
  ];
  for (const position of view.positions(id)) {
    const market = view.market(position.market);
    const isolated = position.isolated ? `, margin ${money(position.isolatedMarginQuanta)}` : '';
    const value =
      `${sizeText(market, position.lots)}, cost ${money(position.costQuanta)}, ` +
      `uPnL ${money(position.upnlQuanta)}${isolated}`;
    rows.push({ subject, field: `position ${market.spec.symbol}`, value });
  }
  for (const order of view.openOrders(id)) {
    const market = view.market(order.market);
    rows.push({
      subject,
      field: `order ${String(order.orderId)}`,
      value: orderText(market, order),
    });
  }
  return rows;
}

function subjectOf({ config }: ExchangeView, address: Address, index: number): string {
  if (address === config.clsAccount) return 'vault';
  if (address === config.insuranceAccount) return 'insurance';
  if (address === config.treasuryAccount) return 'treasury';
  return `${address}/${String(index)}`;
}

function orderText(market: MarketView, order: OrderView): string {
  const side = order.lots > 0 ? 'buy' : 'sell';
  const sizes = `${sizeText(market, Math.abs(order.remainingLots))} of ${sizeText(market, Math.abs(order.lots))}`;
  const trigger =
    order.triggerTicks === null ? '' : `, trigger ${priceText(market, order.triggerTicks)}`;
  const flags = [
    order.ioc ? 'ioc' : '',
    order.postOnly ? 'post-only' : '',
    order.reduceOnly ? 'reduce-only' : '',
  ].filter((flag) => flag !== '');
  const price = priceText(market, order.priceTicks);
  return [
    `${order.status} ${order.orderType} ${market.spec.symbol}: ${side} ${sizes} @ ${price}${trigger}`,
    ...flags,
  ].join(', ');
}

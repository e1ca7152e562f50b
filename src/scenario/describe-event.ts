/**
 * Describes events in scenario terms: accounts, markets and orders by name, prices and sizes in
 * decimals, times as offsets from the start. Derived from field names, so new event kinds need no
 * change here.
 */
import type { EngineEvent } from '../engine/events.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import { money, priceText, sizeText } from '../gateway/encode.ts';
import { formatDecimal } from '../num/decimal.ts';
import { durationUs, type AccountId, type OrderId, type SubaccountId } from '../num/units.ts';
import { formatDuration } from '../num/time-text.ts';

/** Vault shares are in 1e-6, funding rates in 1e-9. */
const SHARE_KEYS: readonly string[] = ['change', 'shares', 'totalShares'];
const SHARE_DECIMALS = 6;
const RATE_DECIMALS = 9;

export interface EventNames {
  readonly engine: ExchangeView;
  /** Name of an address: an account, a system account, or the address itself. */
  readonly nameOf: (address: string) => string;
  /** Name under which an order was saved; else its number. */
  readonly orderName: (id: OrderId) => string | number;
}

export type DescribedEvent = Readonly<Record<string, unknown>>;

export function describeEvent(event: EngineEvent, names: EventNames): DescribedEvent {
  const { engine } = names;
  const market = 'market' in event && event.market !== null ? engine.market(event.market) : null;
  const described: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event) as [string, unknown][]) {
    switch (key) {
      case 'seq':
      case 'index':
      case 'spec':
        break;
      case 'timeUs': {
        const sinceStart = event.timeUs - engine.config.genesisTimeUs;
        described['at'] = `+${formatDuration(durationUs(sinceStart))}`;
        break;
      }
      case 'market':
        described['symbol'] = market?.spec.symbol ?? null;
        break;
      case 'orderId':
        described['order'] = names.orderName(value as OrderId);
        break;
      case 'subaccount':
        described['owner'] = ownerName(value as SubaccountId, names);
        break;
      case 'from':
      case 'to':
      case 'counterparty':
        described[key] = value === null ? null : ownerName(value as SubaccountId, names);
        break;
      case 'account':
      case 'delegate':
        described[key] = value === null ? null : names.nameOf(engine.addressOf(value as AccountId));
        break;
      case 'originator':
        described[key] = value === null ? null : names.nameOf(value as string);
        break;
      default:
        describeField(described, key, value, market);
    }
  }
  return described;
}

/** `alice`, `alice/1` for a subaccount other than 0, or the name of a system account. */
function ownerName(id: SubaccountId, { engine, nameOf }: EventNames): string {
  const { account, index } = engine.subaccount(id);
  const name = nameOf(engine.addressOf(account));
  return index === 0 ? name : `${name}/${String(index)}`;
}

/** The suffix of a field name is its unit. */
function describeField(
  described: Record<string, unknown>,
  key: string,
  value: unknown,
  market: MarketView | null,
): void {
  if (value !== null && key.endsWith('Quanta')) {
    described[key.slice(0, -'Quanta'.length)] = money(value as bigint);
  } else if (value !== null && SHARE_KEYS.includes(key)) {
    described[key] = formatDecimal(value as bigint, SHARE_DECIMALS);
  } else if (value !== null && key.endsWith('Ppb')) {
    described[key.slice(0, -'Ppb'.length)] = formatDecimal(BigInt(value as number), RATE_DECIMALS);
  } else if (value !== null && key.endsWith('Ticks') && market !== null) {
    described[key.slice(0, -'Ticks'.length)] = priceText(market, value as number);
  } else if (key === 'lots' && market !== null) {
    described['quantity'] = sizeText(market, value as number);
  } else if (value !== null && key.endsWith('Lots') && market !== null) {
    described[key.slice(0, -'Lots'.length)] = sizeText(market, value as number);
  } else {
    described[key.replace(/(?:Quanta|Ticks|Lots|Ppm|Ms)$/, '')] = value;
  }
}

/**
 * Describes events in scenario terms: accounts, markets and orders by name, prices and sizes in
 * decimals, times as offsets from the start. Derived from field names, so new event kinds need no
 * change here.
 */
import type { EngineEvent } from '../engine/events.ts';
import { EVENTS } from '../engine/schema/event-schema.ts';
import type { Shape } from '../engine/schema/field-types.ts';
import type { ExchangeView, MarketView } from '../engine/read/views.ts';
import { money, priceText, sizeText } from '../gateway/encode.ts';
import { formatDecimal } from '../num/decimal.ts';
import { durationUs, type AccountId, type OrderId, type SubaccountId } from '../num/units.ts';
import { formatDuration } from '../num/time-text.ts';

/** Vault shares are whole 1e-6, funding rates 1e-9. */
const SHARE_DECIMALS = 6;
const RATE_DECIMALS = 9;
const NAMES: Readonly<Record<string, string>> = {
  market: 'symbol',
  orderId: 'order',
  subaccount: 'owner',
};

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
  const { fields } = EVENTS[event.kind].body;
  const market = 'market' in event && event.market !== null ? engine.market(event.market) : null;
  const sinceStart = event.timeUs - engine.config.genesisTimeUs;
  const described: Record<string, unknown> = {
    kind: event.kind,
    at: `+${formatDuration(durationUs(sinceStart))}`,
    cause: event.cause,
  };
  for (const [key, value] of Object.entries(event) as [string, unknown][]) {
    const shape = fields.find(({ name }) => name === key)?.shape;
    if (shape === undefined || key === 'spec') continue;
    described[nameOf(key, market)] = textOf(shape, value, market, names);
  }
  return described;
}

/** A field's name in a scenario: without its unit, which is its end. */
function nameOf(key: string, market: MarketView | null): string {
  if (key === 'lots' && market !== null) return 'quantity';
  return NAMES[key] ?? key.replace(/(?:Quanta|Ticks|Lots|Ppb|Ppm|Ms)$/, '');
}

function textOf(
  shape: Shape,
  value: unknown,
  market: MarketView | null,
  names: EventNames,
): unknown {
  const { engine, nameOf: nameOfAddress, orderName } = names;
  if (value === null) return null;
  const described = (of: Shape, part: unknown): unknown => textOf(of, part, market, names);
  switch (shape.type) {
    case 'text':
      return shape.isAddress ? nameOfAddress(value as string) : value;
    case 'optional':
      return described(shape.of, value);
    case 'list':
      return (value as readonly unknown[]).map((item) => described(shape.of, item));
    case 'record':
      return Object.fromEntries(
        shape.fields.map(({ name, shape: of }) => [
          nameOf(name, market),
          described(of, (value as Readonly<Record<string, unknown>>)[name]),
        ]),
      );
    case 'number':
    case 'bigint':
      break;
    default:
      return value;
  }
  switch (shape.unit) {
    case 'marketId':
      return market?.spec.symbol;
    case 'orderId':
      return orderName(value as OrderId);
    case 'subaccountId': {
      // `alice`, `alice/1` for another subaccount than 0, or the name of a system account.
      const { account, index } = engine.subaccount(value as SubaccountId);
      const name = nameOfAddress(engine.addressOf(account));
      return index === 0 ? name : `${name}/${String(index)}`;
    }
    case 'accountId':
      return nameOfAddress(engine.addressOf(value as AccountId));
    case 'quanta':
      return money(value as bigint);
    case 'shares':
      return formatDecimal(value as bigint, SHARE_DECIMALS);
    case 'ppb':
      return formatDecimal(BigInt(value as number), RATE_DECIMALS);
    case 'ticks':
      return market === null ? value : priceText(market, value as number);
    case 'lots':
      return market === null ? value : sizeText(market, value as number);
    default:
      return value;
  }
}

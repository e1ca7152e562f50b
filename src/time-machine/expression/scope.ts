/** Values of names at an instant: records of accounts, markets, orders and events. */
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type {
  Engine,
  ExchangeView,
  InvariantViolation,
  MarketView,
  OrderView,
  PositionView,
} from '../../engine/read/views.ts';
import { outcomeCode, type Outcome } from '../../engine/refusals.ts';
import { inSteps } from '../../gateway/encode.ts';
import { parseDecimal } from '../../num/decimal.ts';
import { must } from '../../base/assert.ts';
import {
  COLLATERAL_DECIMALS,
  type Address,
  type MarketId,
  type SubaccountId,
} from '../../num/units.ts';
import { subaccountName } from '../views/account-names.ts';
import { subaccountOf } from '../step-context.ts';
import type { RecordValue, Scope, Value } from './values.ts';
import { multiply, rational, scaled, type Rational } from './rational.ts';

export interface ScopeInput {
  readonly engine: ExchangeView & Pick<Engine, 'checkInvariants'>;
  readonly command: Command | null;
  readonly outcome: Outcome;
  readonly events: readonly EngineEvent[];
}

const RATE_DECIMALS = 9;

const money = (amount: bigint): Rational => scaled(amount, COLLATERAL_DECIMALS);
const whole = (value: number): Rational => rational(BigInt(value));

export function scopeOf(input: ScopeInput): Scope {
  const { engine } = input;
  return {
    name: (name) => nameOf(input, name),
    lookup: (kind, key) => {
      switch (kind) {
        case 'account':
          return lookUpAccount(engine, key);
        case 'market':
          return lookUpMarket(engine, key);
        case 'order': {
          const id = wholeNumber(key);
          const order = id === null ? undefined : engine.order(id as OrderView['orderId']);
          return order === undefined ? null : orderRecord(engine, order);
        }
        default:
          return null;
      }
    },
  };
}

function nameOf(input: ScopeInput, name: string): Value {
  const { engine, command, outcome, events } = input;
  switch (name) {
    case 'seq':
      return whole(engine.seq);
    case 'timeUs':
      return whole(engine.nowUs);
    case 'outcome':
      return outcomeCode(outcome);
    case 'command':
      return command === null ? null : commandRecord(engine, command);
    case 'accounts':
      return Array.from({ length: engine.subaccountCount }, (_, id) =>
        accountRecord(engine, id as SubaccountId),
      );
    case 'markets':
      return engine.markets().map((market) => marketRecord(market));
    case 'events':
      return events.map((event) => eventRecord(engine, event));
    case 'violations':
      return engine.checkInvariants().map(violationRecord);
    case 'insurance':
      return money(engine.funds().insuranceQuanta);
    case 'shortfall':
      return money(engine.funds().shortfallQuanta);
    default:
      return null;
  }
}

/** A number as a safe whole number; null for another one or text. */
function wholeNumber(key: Rational | string): number | null {
  if (typeof key === 'string' || key.d !== 1n) return null;
  const number = Number(key.n);
  return Number.isSafeInteger(number) && number >= 0 ? number : null;
}

function lookUpAccount(engine: ExchangeView, key: Rational | string): Value {
  const id = wholeNumber(key);
  if (id !== null) {
    return id < engine.subaccountCount ? accountRecord(engine, id as SubaccountId) : null;
  }
  if (typeof key !== 'string') return null;
  if (key.startsWith('0x')) {
    const found = engine.subaccountIdOf(key.toLowerCase() as Address, 0);
    return found === undefined ? null : accountRecord(engine, found);
  }
  for (let i = 0; i < engine.subaccountCount; i++) {
    if (subaccountName(engine, i as SubaccountId) === key) {
      return accountRecord(engine, i as SubaccountId);
    }
  }
  return null;
}

function lookUpMarket(engine: ExchangeView, key: Rational | string): Value {
  const id = typeof key === 'string' ? engine.marketIdOf(key) : wholeNumber(key);
  if (id === undefined || id === null || id >= engine.markets().length) return null;
  return marketRecord(engine.market(id as MarketId));
}

function accountRecord(engine: ExchangeView, id: SubaccountId): RecordValue {
  let margin: ReturnType<ExchangeView['margin']> | null = null;
  const figures = () => (margin ??= engine.margin(id));
  return {
    record: 'account',
    get: (field) => {
      switch (field) {
        case 'id':
          return whole(id);
        case 'name':
          return subaccountName(engine, id);
        case 'address':
          return engine.addressOf(engine.subaccount(id).account);
        case 'balance':
          return money(figures().balanceQuanta);
        case 'equity':
          return money(figures().accountValueQuanta);
        case 'maintenance':
          return money(figures().maintenanceRequirementQuanta);
        case 'initial':
          return money(figures().initialRequirementQuanta);
        case 'free':
          return money(figures().freeCollateralQuanta);
        case 'upnl':
          return money(figures().upnlQuanta);
        case 'pnl':
          return money(figures().accountValueQuanta - figures().netDepositsQuanta);
        case 'system':
          return engine.subaccount(id).system;
        case 'positions':
          return engine.positions(id).map((position) => positionRecord(engine, position));
        case 'orders':
          return engine.openOrders(id).map((order) => orderRecord(engine, order));
        default:
          return null;
      }
    },
  };
}

function priceOf(market: MarketView, ticks: number | null): Value {
  return ticks === null ? null : stepped(ticks, market.spec.tickSize);
}
const sizeOf = (market: MarketView, lots: number): Rational => stepped(lots, market.spec.lotSize);

function stepped(count: number, step: string): Rational {
  const { digits, scale } = must(
    parseDecimal(inSteps(1, step)) ?? undefined,
    'a step is a decimal',
  );
  return multiply(whole(count), scaled(digits, scale));
}

function positionRecord(engine: ExchangeView, position: PositionView): RecordValue {
  const market = engine.market(position.market);
  return {
    record: 'position',
    get: (field) => {
      switch (field) {
        case 'symbol':
          return market.spec.symbol;
        case 'size':
          return sizeOf(market, position.lots);
        case 'cost':
          return money(position.costQuanta);
        case 'upnl':
          return money(position.upnlQuanta);
        case 'notional': {
          const { markTicks, spec } = market;
          if (markTicks === null) return null;
          const lots = BigInt(Math.abs(position.lots));
          return money(lots * BigInt(markTicks) * BigInt(spec.quantaPerTickLot));
        }
        case 'isolated':
          return position.isolated;
        case 'margin':
          return money(position.isolatedMarginQuanta);
        case 'liquidationPrice':
          return priceOf(market, position.liquidationTicks);
        default:
          return null;
      }
    },
  };
}

function marketRecord(market: MarketView): RecordValue {
  return {
    record: 'market',
    get: (field) => {
      switch (field) {
        case 'id':
          return whole(market.id);
        case 'symbol':
          return market.spec.symbol;
        case 'status':
          return market.status;
        case 'frozen':
          return market.frozenSinceUs !== null;
        case 'mark':
          return priceOf(market, market.markTicks);
        case 'index':
          return priceOf(market, market.indexTicks);
        case 'last':
          return priceOf(market, market.lastTicks);
        case 'bid':
          return priceOf(market, market.bestBid?.priceTicks ?? null);
        case 'ask':
          return priceOf(market, market.bestAsk?.priceTicks ?? null);
        case 'openInterest':
          return sizeOf(market, market.openInterestLots);
        case 'fundingRate':
          return scaled(BigInt(market.fundingRatePpb), RATE_DECIMALS);
        default:
          return null;
      }
    },
  };
}

function orderRecord(engine: ExchangeView, order: OrderView): RecordValue {
  const market = engine.market(order.market);
  return {
    record: 'order',
    get: (field) => {
      switch (field) {
        case 'id':
          return whole(order.orderId);
        case 'owner':
          return subaccountName(engine, order.subaccount);
        case 'symbol':
          return market.spec.symbol;
        case 'type':
          return order.orderType;
        case 'status':
          return order.status;
        case 'price':
          return priceOf(market, order.priceTicks);
        case 'size':
          return sizeOf(market, order.lots);
        case 'filled':
          return sizeOf(market, order.settledLots);
        case 'remaining':
          return sizeOf(market, order.remainingLots);
        case 'ahead': {
          const ahead = order.status === 'pending' ? null : engine.queueAhead(order.orderId);
          return ahead === null ? null : sizeOf(market, ahead);
        }
        default:
          return null;
      }
    },
  };
}

function eventRecord(engine: ExchangeView, event: EngineEvent): RecordValue {
  const fields = event as unknown as Partial<Record<string, unknown>>;
  const market = (): MarketView | null => {
    const id = fields['market'];
    return typeof id === 'number' ? engine.market(id as MarketId) : null;
  };
  const text = (name: string): Value => {
    const value = fields[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    record: 'event',
    get: (field) => {
      switch (field) {
        case 'kind':
        case 'cause':
        case 'reason':
        case 'step':
        case 'status':
          return text(field);
        case 'account': {
          const id = fields['subaccount'];
          return typeof id === 'number' ? subaccountName(engine, id as SubaccountId) : null;
        }
        case 'symbol':
          return market()?.spec.symbol ?? null;
        case 'order': {
          const id = fields['orderId'];
          return typeof id === 'number' ? whole(id) : null;
        }
        case 'price': {
          const of = market();
          const ticks = fields['priceTicks'] ?? fields['markTicks'] ?? fields['indexTicks'];
          return of !== null && typeof ticks === 'number' ? priceOf(of, ticks) : null;
        }
        case 'size': {
          const of = market();
          const lots = fields['lots'];
          return of !== null && typeof lots === 'number' ? sizeOf(of, lots) : null;
        }
        case 'amount': {
          const amount = fields['deltaQuanta'] ?? fields['amountQuanta'] ?? fields['moneyQuanta'];
          return typeof amount === 'bigint' ? money(amount) : null;
        }
        default:
          return null;
      }
    },
  };
}

function violationRecord(violation: InvariantViolation): RecordValue {
  return {
    record: 'violation',
    get: (field) => violation[field as keyof InvariantViolation],
  };
}

function commandRecord(engine: ExchangeView, command: Command): RecordValue {
  return {
    record: 'command',
    get: (field) => {
      switch (field) {
        case 'kind':
          return command.kind;
        case 'account': {
          const id = subaccountOf(engine, command);
          const exists = id !== null && id >= 0 && id < engine.subaccountCount;
          return exists ? subaccountName(engine, id) : null;
        }
        case 'symbol': {
          const id = 'market' in command ? command.market : null;
          const market = id === null ? undefined : engine.markets()[id];
          return market?.spec.symbol ?? null;
        }
        default:
          return null;
      }
    },
  };
}

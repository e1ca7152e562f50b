/**
 * Previews of orders and of operator commands, beside what the command then does: refusal, fills,
 * fees, stats and positions of an order; ended orders, closed positions and liquidations of an
 * operator command. Expected values follow from the events and the state after it.
 */
import { sha256Hex } from '../../base/sha256.ts';
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine, ExchangeView } from '../../engine/read/views.ts';
import { outcomeCode, type Outcome } from '../../engine/refusals.ts';
import type { Caller } from '../../gateway/context.ts';
import type { TrustOrderIds } from '../../gateway/order-ids.ts';
import { previewCommand, previewOrders } from '../../gateway/preview.ts';
import { RequestError } from '../../gateway/request-error.ts';
import type { SubaccountId } from '../../num/units.ts';
import { differingField } from './differing-field.ts';
import { moneyText, sizeOf, statsRecord, steps, type Fields } from './records.ts';
import type { CallForm } from './request-command.ts';

/** The preview of the next command. */
interface Previewed {
  /** null: an operator command that is refused. */
  readonly shown: Fields | null;
  /** Owner of the orders; null for an operator command. */
  readonly owner: SubaccountId | null;
  readonly firstOrder: number;
}

export class PreviewCheck {
  private before: Previewed | null = null;
  private events: EngineEvent[] = [];

  readonly observe = (event: EngineEvent): void => {
    if (this.before !== null) this.events.push(event);
  };

  /** Forgets the preview of the last command. */
  clear(): void {
    this.before = null;
    this.events = [];
  }

  /** Previews an order, whose request becomes `command`. */
  order(engine: Engine, command: Command, act: CallForm, caller: Caller, ids: TrustOrderIds): void {
    const { endpoint, request } = act;
    if (endpoint !== 'submitOrder' && endpoint !== 'submitOrders') return;
    if (command.kind !== 'placeOrder' && command.kind !== 'placeOrders') return;
    const context = { view: engine, nowUs: command.timeUs, keccak: sha256Hex, ids };
    const shown = previewOrders(context, engine.fork(), endpoint, request, caller);
    this.before = { shown, owner: command.subaccount, firstOrder: engine.lastOrderId + 1 };
  }

  operator(engine: Engine, command: Command): void {
    if (!isOfOperator(command)) return;
    const copyOf = (): Engine => engine.fork();
    let shown: Fields | null = null;
    try {
      shown = previewCommand(engine, copyOf, command).now as unknown as Fields;
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
    }
    this.before = { shown, owner: null, firstOrder: 0 };
  }

  /** The field in which the preview differs from what has happened; null if none does. */
  fault(engine: Engine, outcome: Outcome): string | null {
    const { before, events } = this;
    if (before === null) return null;
    const { shown, owner, firstOrder } = before;
    if (owner === null) {
      const accepted = outcome === 'ok';
      if ((shown !== null) !== accepted) return `the preview is not ${outcomeCode(outcome)}`;
      return shown === null ? null : differingField(effectsOf(engine, events), shown, 'preview');
    }
    if (outcome !== 'ok') {
      return (shown?.['refusal'] ?? null) === null ? `the preview is not ${outcome.code}` : null;
    }
    return differingField(orderEffects(engine, events, owner, firstOrder), shown, 'preview');
  }
}

const isOfOperator = ({ kind }: Command): boolean =>
  kind === 'setMarketStatus' || kind === 'delistMarket' || kind === 'setMarketTerms';

function orderEffects(
  view: ExchangeView,
  events: readonly EngineEvent[],
  owner: SubaccountId,
  firstOrder: number,
): Fields {
  const filled = events.filter(
    (event) =>
      event.kind === 'orderFilled' && event.orderId >= firstOrder && event.subaccount === owner,
  ) as readonly Extract<EngineEvent, { kind: 'orderFilled' }>[];
  const feeOf = (event: (typeof filled)[number]): bigint =>
    event.feeQuanta + event.originatorFeeQuanta;
  const isPriced = view.markets().every(({ markTicks }) => markTicks !== null);
  return {
    refusal: null,
    fills: filled.map((event) => {
      const market = view.market(event.market);
      return {
        symbol: market.spec.symbol,
        role: event.role,
        price: steps(BigInt(event.priceTicks), market.spec.tickSize),
        quantity: sizeOf(market, event.lots),
        fee: moneyText(feeOf(event)),
      };
    }),
    fee: moneyText(filled.reduce((sum, event) => sum + feeOf(event), 0n)),
    ...(isPriced ? { after: { stats: statsRecord(view, owner) } } : {}),
  };
}

function effectsOf(view: ExchangeView, events: readonly EngineEvent[]): Fields {
  const closed = new Set<string>();
  const liquidated = new Set<number>();
  let ordersEnded = 0;
  for (const event of events) {
    if (event.kind === 'orderEnded') ordersEnded += 1;
    if (event.kind === 'liquidationStep' && event.step !== 'safe') liquidated.add(event.subaccount);
    if (event.kind !== 'positionTransferred') continue;
    for (const id of [event.from, event.to]) {
      if (view.positionLots(id, event.market) === 0) {
        closed.add(`${String(id)} ${String(event.market)}`);
      }
    }
  }
  return {
    ordersEnded,
    positionsClosed: closed.size,
    liquidatedAccounts: liquidated.size,
    shortfall: moneyText(view.funds().shortfallQuanta),
  };
}

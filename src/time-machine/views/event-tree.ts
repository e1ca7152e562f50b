/**
 * Events of a command as a tree by cause. The engine emits an event after what caused it; a parent
 * is the last earlier event that can cause it: a fill causes its ledger entries and positions, a
 * trigger the order that it activated, a liquidation step the orders and transfers after it.
 */
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { describeEvent } from '../../scenario/describe-event.ts';
import { subaccountName } from './account-names.ts';

export interface EventAt {
  /** Position among the events of the command. */
  readonly index: number;
  readonly kind: EngineEvent['kind'];
  readonly cause: EngineEvent['cause'];
  readonly timeUs: number;
  /** Index of the event that caused it; null: the command itself. */
  readonly parent: number | null;
  readonly depth: number;
  readonly market: number | null;
  readonly orderId: number | null;
  readonly subaccount: number | null;
  readonly owner: string | null;
  /** Fields with names and decimals, in the form of scenarios. */
  readonly fields: Readonly<Record<string, string>>;
}

export function eventTree(view: ExchangeView, events: readonly EngineEvent[]): EventAt[] {
  const rows: EventAt[] = [];
  const parents = new Parents();
  for (const event of events) {
    const parent = parents.of(event);
    const depth = parent === null ? 0 : (rows[parent]?.depth ?? 0) + 1;
    rows.push(eventAt(view, event, parent, depth));
  }
  return rows;
}

/** Last events that can be causes, by position in the list. */
class Parents {
  private at = -1;
  private fill: number | null = null;
  private release: number | null = null;
  private step: number | null = null;
  private taker: number | null = null;
  private timer: EngineEvent['cause'] = 'command';

  of(event: EngineEvent): number | null {
    this.at += 1;
    if (event.cause !== this.timer) {
      // Another cause begins: its events do not belong to the fill before.
      this.timer = event.cause;
      this.fill = null;
      this.taker = null;
    }
    switch (event.kind) {
      case 'liquidationStep': {
        this.fill = null;
        this.taker = null;
        this.step = this.at;
        return null;
      }
      case 'orderReleased': {
        this.fill = null;
        this.release = this.at;
        this.taker = this.at;
        return event.cause === 'liquidation' ? this.step : null;
      }
      case 'orderAccepted': {
        const parent = event.cause === 'liquidation' ? this.step : null;
        this.fill = null;
        this.taker = this.at;
        return parent;
      }
      case 'tradePrinted': {
        const parent = this.taker ?? (event.cause === 'liquidation' ? this.step : null);
        this.fill = this.at;
        return parent;
      }
      case 'orderFilled':
      case 'balanceChanged':
      case 'isolatedMarginChanged':
      case 'positionChanged':
        return this.fill ?? this.owner(event);
      case 'positionTransferred':
        return this.step;
      case 'orderRested':
      case 'orderPending':
      case 'orderEnded':
      case 'orderRejected':
        return this.fill ?? this.taker ?? this.owner(event);
      default:
        return null;
    }
  }

  private owner(event: EngineEvent): number | null {
    if (event.cause === 'liquidation' || event.cause === 'adl') return this.step;
    return event.cause === 'trigger' ? this.release : null;
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? value.map(textOf).join(', ') : JSON.stringify(value);
}

function eventAt(
  view: ExchangeView,
  event: EngineEvent,
  parent: number | null,
  depth: number,
): EventAt {
  const subaccount = 'subaccount' in event ? event.subaccount : null;
  const described = describeEvent(event, {
    engine: view,
    nameOf: (address) => address,
    orderName: (id) => id,
  });
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(described)) {
    if (name === 'kind' || name === 'cause' || value === null || value === undefined) continue;
    fields[name] = textOf(value);
  }
  return {
    index: event.index,
    kind: event.kind,
    cause: event.cause,
    timeUs: event.timeUs,
    parent,
    depth,
    market: 'market' in event ? event.market : null,
    orderId: 'orderId' in event ? event.orderId : null,
    subaccount,
    owner: subaccount === null ? null : subaccountName(view, subaccount),
    fields,
  };
}

/**
 * Ids of the journal as ids of a branch. Accounts and markets are the same by address and symbol;
 * an order is the same if it is the nth of the same command.
 */
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import { mapIds } from '../../engine/schema/map-ids.ts';
import type { AccountId, SubaccountId } from '../../num/units.ts';

/** Origin of an order: its command and its place among the orders of that command. */
export type OrderOrigin = string;

export class OrderOrigins {
  /** Orders up to this id are from before the branch: the same on both sides. */
  private readonly sharedUpTo: number;
  private readonly byId = new Map<number, OrderOrigin>();
  private readonly byOrigin = new Map<OrderOrigin, number>();

  constructor(sharedUpTo: number) {
    this.sharedUpTo = sharedUpTo;
  }

  /**
   * Notes the orders that a command placed; those of the exchange itself have no origin. `without`:
   * the place of an order that the command lacks here.
   */
  note(command: string, events: readonly EngineEvent[], without: number | null = null): void {
    let nth = 0;
    let ownNth = 0;
    for (const event of events) {
      if (event.kind !== 'orderAccepted' && event.kind !== 'orderRejected') continue;
      let origin: OrderOrigin;
      if (event.cause === 'command') {
        if (nth === without) nth += 1;
        origin = `${command}.${String(nth)}`;
        nth += 1;
      } else {
        origin = `exchange ${command}.${String(ownNth)}`;
        ownNth += 1;
      }
      this.byId.set(event.orderId, origin);
      this.byOrigin.set(origin, event.orderId);
    }
  }

  originOf(id: number): OrderOrigin {
    return id <= this.sharedUpTo
      ? `#${String(id)}`
      : (this.byId.get(id) ?? `unknown ${String(id)}`);
  }

  idOf(origin: OrderOrigin): number | null {
    if (origin.startsWith('#')) return Number(origin.slice(1));
    return this.byOrigin.get(origin) ?? null;
  }
}

/** The command with ids of the branch; null if the branch lacks what it names. */
export function translate(
  command: Command,
  base: ExchangeView,
  branch: ExchangeView,
  baseOrders: OrderOrigins,
  branchOrders: OrderOrigins,
): Command | null {
  let isMissing = false as boolean;
  const missing = (id: number): number => {
    isMissing = true;
    return id;
  };
  const translated = mapIds(COMMANDS[command.kind].body, command, (unit, id) => {
    switch (unit) {
      case 'orderId':
        if (id > base.lastOrderId) return id;
        return branchOrders.idOf(baseOrders.originOf(id)) ?? missing(id);
      case 'subaccountId': {
        if (id < 0 || id >= base.subaccountCount) return id;
        const { account, index } = base.subaccount(id as SubaccountId);
        return branch.subaccountIdOf(base.addressOf(account), index) ?? missing(id);
      }
      case 'accountId': {
        const address = addressOf(base, id);
        return address === null ? id : (branch.accountIdOf(address) ?? missing(id));
      }
      case 'marketId': {
        const symbol = base.markets()[id]?.spec.symbol;
        return symbol === undefined ? id : (branch.marketIdOf(symbol) ?? missing(id));
      }
    }
  });
  return isMissing ? null : translated;
}

function addressOf(view: ExchangeView, id: number): ReturnType<ExchangeView['addressOf']> | null {
  try {
    return view.addressOf(id as AccountId);
  } catch {
    return null;
  }
}

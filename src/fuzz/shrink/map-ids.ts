/** Every dense id in a command (market, subaccount, account, order), put through a mapping; the same command when nothing changes. */
import type { Command, NewOrder } from '../../engine/commands.ts';
import type { AccountId, MarketId, OrderId, SubaccountId } from '../../num/units.ts';

export interface IdMapping {
  readonly market: (id: MarketId) => MarketId;
  readonly subaccount: (id: SubaccountId) => SubaccountId;
  readonly account: (id: AccountId) => AccountId;
  readonly order: (id: OrderId) => OrderId;
}

export function mapIds(command: Command, ids: IdMapping): Command {
  switch (command.kind) {
    case 'placeOrder': {
      const market = ids.market(command.market);
      const subaccount = ids.subaccount(command.subaccount);
      const delegate = command.delegate === null ? null : ids.account(command.delegate);
      return same(command, { market, subaccount, delegate });
    }
    case 'placeOrders': {
      const subaccount = ids.subaccount(command.subaccount);
      const delegate = command.delegate === null ? null : ids.account(command.delegate);
      const orders = command.orders.map((order) => mapOrder(order, ids));
      return { ...command, subaccount, delegate, orders };
    }
    case 'updateMargin': {
      const market = ids.market(command.market);
      const subaccount = ids.subaccount(command.subaccount);
      const delegate = command.delegate === null ? null : ids.account(command.delegate);
      return same(command, { market, subaccount, delegate });
    }
    case 'cancelOrder':
      return same(command, { orderId: ids.order(command.orderId) });
    case 'cancelAll': {
      const market = command.market === null ? null : ids.market(command.market);
      return same(command, { market, subaccount: ids.subaccount(command.subaccount) });
    }
    case 'transfer':
      if (command.market === null) return command;
      return same(command, { market: ids.market(command.market) });
    case 'setIndex':
    case 'setMark':
    case 'settleFunding':
    case 'tapeDepth':
    case 'tapeSnapshot':
    case 'tapeTrade':
    case 'tapeGap':
    case 'tapeBar':
    case 'tapeL3':
    case 'setMarketTerms':
    case 'setMarketStatus':
    case 'delistMarket':
      return same(command, { market: ids.market(command.market) });
    default:
      return command;
  }
}

function mapOrder(order: NewOrder, ids: IdMapping): NewOrder {
  const market = ids.market(order.market);
  const parent = order.parent === null ? null : ids.order(order.parent);
  return same(order, { market, parent });
}

function same<T extends object>(record: T, fields: Partial<T>): T {
  for (const [name, value] of Object.entries(fields)) {
    if (record[name as keyof T] !== value) return { ...record, ...fields };
  }
  return record;
}

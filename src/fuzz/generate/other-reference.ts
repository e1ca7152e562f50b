/**
 * A request with one reference replaced: an account, a subaccount, a market or an order that it
 * names becomes another one. The rules of rights and of relations between orders refuse most of
 * these requests, and each has a refusal of its own.
 */
import type { Command, NewOrder, PlaceOrders } from '../../engine/commands.ts';
import {
  accountId,
  marketId,
  orderId,
  subaccountId,
  type AccountId,
  type Address,
  type MarketId,
  type OrderId,
  type SubaccountId,
} from '../../num/units.ts';
import type { Context } from './draw-context.ts';

/** `command` is valid; a kind without references stays as it is. */
export function withOtherReference(context: Context, command: Command): Command {
  switch (command.kind) {
    case 'placeOrder':
    case 'cancelAll':
      return { ...command, ...oneOf(context, { subaccount, market }) };
    case 'placeOrders':
      return withOtherOrder(context, command);
    case 'transfer': {
      const toSource = (): MarketId | null => (command.market === null ? market(context) : null);
      return {
        ...command,
        ...oneOf(context, {
          from: address,
          fromIndex: index,
          to: address,
          toIndex: index,
          signer: address,
          market: toSource,
        }),
      };
    }
    case 'withdraw':
    case 'deposit':
      return { ...command, ...oneOf(context, { account: address, subaccountIndex: index }) };
    case 'updateMargin':
      return { ...command, ...oneOf(context, { subaccount, market, delegate }) };
    case 'updateDelegate':
      return {
        ...command,
        ...oneOf(context, { account: address, subaccountIndex: index, delegate: address }),
      };
    case 'updateSigners':
    case 'setSelfTradeMode':
      return { ...command, account: address(context) };
    default:
      return command;
  }
}

/** In a group the owner, the signer, or the market or parent of one order. */
function withOtherOrder(context: Context, command: PlaceOrders): PlaceOrders {
  const { dice } = context;
  const parents = command.orders.filter((order) => order.parent !== null);
  if (parents.length > 0 && dice.chance(500)) {
    const parent = otherParent(context, parents[0], command.subaccount);
    const orders = command.orders.map((order) =>
      order.parent === null ? order : { ...order, parent },
    );
    return { ...command, orders };
  }
  if (command.orders.length > 0 && dice.chance(300)) {
    const changed = dice.pick(command.orders);
    const other = market(context);
    const orders = command.orders.map((order) =>
      order === changed ? { ...order, market: other } : order,
    );
    return { ...command, orders };
  }
  return { ...command, ...oneOf(context, { subaccount, delegate }) };
}

/** A live order of the market and side that fit: often one of another subaccount of the account. */
function otherParent(
  { dice, world }: Context,
  leg: NewOrder | undefined,
  owner: SubaccountId,
): OrderId {
  const { view, live } = world;
  const own = world.subaccounts.find(({ id }) => id === owner)?.account;
  const fits = live.filter(({ id }) => {
    const order = view.order(id);
    if (order === undefined || leg === undefined) return false;
    return order.market === leg.market && order.lots > 0 !== leg.lots > 0;
  });
  const siblings = fits.filter(
    ({ subaccount: id }) => id !== owner && view.subaccount(id).account === own,
  );
  const known = [siblings, fits].find((some) => some.length > 0 && dice.chance(700)) ?? live;
  return known.length === 0 ? orderId(view.lastOrderId + 1) : dice.pick(known).id;
}

/** One field with another value. */
function oneOf<Fields extends Readonly<Record<string, (context: Context) => unknown>>>(
  context: Context,
  fields: Fields,
): Partial<{ [Name in keyof Fields]: ReturnType<Fields[Name]> }> {
  const name = context.dice.pick(Object.keys(fields));
  return { [name]: fields[name]?.(context) } as ReturnType<typeof oneOf<Fields>>;
}

/** One of the exchange itself, or one above all, too. */
const subaccount = ({ dice, world }: Context): SubaccountId =>
  subaccountId(dice.below(world.view.subaccountCount + 1));

const market = ({ dice, world }: Context): MarketId =>
  marketId(dice.below(world.markets.length + 1));

const delegate = ({ dice }: Context): AccountId => accountId(dice.below(12));

const index = (context: Context): number => context.subaccountIndex();

function address(context: Context): Address {
  const { clsAccount, insuranceAccount, treasuryAccount, shortfallAccount } = context.setup.config;
  if (context.dice.chance(600)) return context.user();
  return context.dice.pick([clsAccount, insuranceAccount, treasuryAccount, shortfallAccount]);
}

/** Draws single orders and cancels. */
import type { CancelAll, CancelOrder, PlaceOrder } from '../../engine/commands.ts';
import { orderId, subaccountId } from '../../num/units.ts';
import type { Context } from './draw-context.ts';
import { drawTerms } from './terms.ts';

export function makeOrder(context: Context): PlaceOrder {
  const terms = drawTerms(context);
  return {
    kind: 'placeOrder',
    timeUs: context.nowUs,
    subaccount: terms.subaccount,
    market: terms.market,
    orderType: 'limit',
    lots: terms.lots,
    priceTicks: terms.priceTicks,
    ioc: terms.ioc,
    postOnly: terms.postOnly,
    reduceOnly: terms.reduceOnly,
    nonce: context.orderNonce(terms.subaccount),
    expiresAtMs: context.expiresAtMs(),
    delegate: terms.delegate,
    clientId: terms.clientId,
    originator: terms.originator,
    originatorFeePpm: terms.originatorFeePpm,
  };
}

/** Usually cancels a live order; otherwise an ended or unknown one. */
export function makeCancel(context: Context): CancelOrder {
  const { dice, world } = context;
  const known = world.live.length > 0 && !context.faulty;
  const id = known
    ? dice.pick(world.live).id
    : orderId(dice.between(0, world.view.lastOrderId + 1));
  return { kind: 'cancelOrder', timeUs: context.nowUs, orderId: id };
}

export function makeCancelAll(context: Context): CancelAll {
  return {
    kind: 'cancelAll',
    timeUs: context.nowUs,
    subaccount: context.faulty ? subaccountId(9999) : context.subaccount().id,
    market: context.dice.chance(500) ? context.market().id : null,
  };
}

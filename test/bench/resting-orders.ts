/** Orders that rest beside each other: of 5,000 subaccounts, with clientIds, expiries and nonces. */
import type { Command } from '../../src/engine/commands.ts';
import { lots, marketId, ppm, priceTicks, subaccountId, timeUs } from '../../src/num/units.ts';
import { CONFIG } from './engine-flow.ts';

export const RESTING_SUBACCOUNTS = 5000;

/** The order of this number, from 0. */
export function restingOrder(number: number): Command {
  const owner = number % RESTING_SUBACCOUNTS;
  const isBid = owner % 2 === 0;
  const order = number + 1;
  return {
    kind: 'placeOrder',
    timeUs: timeUs(CONFIG.genesisTimeUs + order),
    subaccount: subaccountId(6 + owner),
    market: marketId(0),
    orderType: 'limit',
    lots: lots(isBid ? 1 : -1),
    priceTicks: priceTicks(isBid ? 99_990 - (order % 900) : 100_010 + (order % 900)),
    ioc: false,
    postOnly: false,
    reduceOnly: false,
    nonce: BigInt(Math.floor(number / RESTING_SUBACCOUNTS)),
    expiresAtMs: 1_800_000_000_000n + BigInt(order),
    delegate: null,
    clientId: `order-${String(order)}`,
    originator: null,
    originatorFeePpm: ppm(0),
  };
}

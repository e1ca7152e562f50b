/**
 * Requests that no drawn command becomes: look-ups and cancellations of orders by their names, of
 * this account and of others, and delegates of subaccounts that may not exist.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { OrderFilter } from '../../engine/read/views.ts';
import type { Address } from '../../num/units.ts';
import type { Dice } from '../dice.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { Twin } from './twin.ts';

export interface FurtherRequest {
  readonly endpoint: EndpointId;
  readonly request: Readonly<Record<string, unknown>>;
  readonly caller: Address | null;
}

interface Known {
  readonly twin: Twin;
  readonly users: readonly Address[];
  readonly dice: Dice;
}

/** Orders of any type, state, market and time. */
const ALL: OrderFilter = {
  types: null,
  statuses: null,
  market: null,
  createdFromUs: 0,
  createdToUs: Infinity,
  updatedFromUs: 0,
  updatedToUs: Infinity,
};
/** The newest orders of an account, live or ended. */
const NEWEST = 8;
const MAX_NONCE = 2 ** 31 - 1;
const OF_SUBACCOUNT = ['getStats', 'getPositions', 'getMargin', 'getTransferMax'] as const;
const NO_ORDER = '0'.repeat(64);

interface OrderNames {
  readonly orderId: string;
  readonly clientId: string | null;
}

export class FurtherRequests {
  private readonly known: Known;

  constructor(known: Known) {
    this.known = known;
  }

  /** A read, most often of an order. */
  read(account: Address): FurtherRequest {
    const { dice, users } = this.known;
    if (dice.chance(150)) return { endpoint: 'getConfig', request: {}, caller: null };
    if (dice.chance(150)) {
      return { endpoint: 'getSigners', request: { account: dice.pick(users) }, caller: account };
    }
    if (dice.chance(200)) {
      const endpoint = dice.pick(OF_SUBACCOUNT);
      return { endpoint, request: { account, subaccountIndex: this.index() }, caller: account };
    }
    return { endpoint: 'getOrder', request: this.orderQuery(account), caller: account };
  }

  /** A request that changes something if its names are right. */
  write(account: Address): FurtherRequest {
    const { dice, users } = this.known;
    if (dice.chance(400)) {
      const request = {
        account,
        subaccountIndex: this.index(),
        delegate: dice.pick(users),
        delegated: dice.chance(700),
        nonce: BigInt(dice.between(0, MAX_NONCE)),
        expiresAt: NEVER_MS,
        signatures: [],
      };
      return { endpoint: 'updateDelegates', request, caller: account };
    }
    if (dice.chance(300)) {
      return { endpoint: 'cancelOrder', request: this.orderQuery(account), caller: account };
    }
    const names = Array.from({ length: dice.between(1, 3) }, () => this.order(account));
    const orderIds: string[] = [];
    const clientIds: string[] = [];
    for (const { orderId, clientId } of names) {
      if (clientId !== null && dice.chance(500)) clientIds.push(clientId);
      else orderIds.push(dice.chance(200) ? `0x${orderId.toUpperCase()}` : orderId);
    }
    const request = { ...(dice.chance(500) ? { account } : {}), orderIds, clientIds };
    return { endpoint: 'cancelOrders', request, caller: account };
  }

  private index(): number {
    return this.known.dice.pick([0, 0, 1, 2, 2 ** 31 - 1]);
  }

  /** By one or both names; the account may be left out, or be another one. */
  private orderQuery(account: Address): Readonly<Record<string, unknown>> {
    const { dice, users } = this.known;
    const { orderId, clientId } = this.order(account);
    const byClientId = clientId !== null && dice.chance(500);
    const named = dice.chance(600) ? account : dice.pick(users);
    return {
      ...(byClientId ? { clientId } : { orderId }),
      ...(byClientId || dice.chance(600) ? { account: named } : {}),
    };
  }

  /** The names of an order of this account, or of another one; or of none. */
  private order(account: Address): OrderNames {
    const { dice, twin, users } = this.known;
    const owner = dice.chance(700) ? account : dice.pick(users);
    const held = twin.engine.subaccountsOf(owner);
    if (held.length === 0 || dice.chance(50)) return { orderId: NO_ORDER, clientId: null };
    const { items } = twin.engine.findOrders(dice.pick(held).id, ALL, NEWEST);
    if (items.length === 0) return { orderId: NO_ORDER, clientId: 'no-such-order' };
    const order = dice.pick(items);
    return { orderId: twin.orderIdOf(order.orderId) ?? NO_ORDER, clientId: order.clientId };
  }
}

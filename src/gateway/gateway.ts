/**
 * The gateway maps a request of the contract to its reply, one row per endpoint.
 * Handlers decode, authorise and format; the engine holds all state. Synchronous: reads use the
 * engine's views, writes use `submit`.
 */
import { ENDPOINTS, type EndpointId } from '../contract/endpoints.ts';
import { notOffered } from '../contract/messages.ts';
import {
  getBalance,
  getClsHistory,
  getDelegates,
  getMargin,
  getPositions,
  getSigners,
  getStats,
  getTransferMax,
  getTransfers,
} from './account.ts';
import { transfer, updateDelegates, updateMargin, updateSigners } from './account-updates.ts';
import { mustToken } from './authorise.ts';
import type { Caller, Context, GatewayDependencies, Reply } from './context.ts';
import {
  getBook,
  getCandles,
  getConfig,
  getMarkets,
  getPrice,
  getPrices,
  getSummary,
  getTime,
  getTrades,
} from './market-data.ts';
import { TrustOrderIds } from './order-ids.ts';
import {
  cancelAllOrders,
  cancelOrder,
  cancelOrders,
  getOrder,
  listOrders,
} from './order-requests.ts';
import { ZERO_ADDRESS } from './encode.ts';
import { Page } from './paging.ts';
import { RequestError } from './request-error.ts';
import { submitOrder, submitOrders } from './submit-order.ts';

type Handler = (context: Context, input: unknown, caller: Caller) => unknown;

/** Caller of a public endpoint; public handlers ignore it. */
const ANYONE: Caller = { account: ZERO_ADDRESS, signer: ZERO_ADDRESS };

/** Endpoint without an implementation in this version: replies 400 to every request. */
const absent =
  (what: string): Handler =>
  () => {
    throw new RequestError(notOffered(what));
  };

const HANDLERS: Readonly<Record<EndpointId, Handler>> = {
  getAuth: absent('wallet login'),
  postAuth: absent('wallet login'),
  getClaims: absent('wallet login'),
  submitOrder,
  submitOrders,
  getOrder,
  cancelOrder,
  cancelOrders,
  cancelAllOrders,
  listOrders,
  getBalance,
  getStats,
  getDelegates,
  updateDelegates,
  transfer,
  getTransferMax,
  getTransfers,
  updateSigners,
  getSigners,
  updateMargin,
  getMargin,
  getPositions,
  getClsHistory,
  getSummary,
  getCandles,
  getTrades,
  getConfig,
  getMarkets,
  getPrice,
  getPrices,
  getBook,
  getTime,
};

export class Gateway {
  private readonly context: Context;

  constructor(dependencies: GatewayDependencies) {
    this.context = {
      ...dependencies,
      ids: dependencies.ids ?? new TrustOrderIds(dependencies.engine, dependencies.keccak),
    };
  }

  /**
   * Replies to a request. `input` is one object of query and path parameters, or the body. Never
   * throws for client input: an error is a reply whose body is the text.
   */
  handle(endpoint: EndpointId, input: unknown, caller: Caller | null): Reply {
    try {
      const known =
        ENDPOINTS[endpoint].access === 'public' ? ANYONE : mustToken(this.context, caller);
      const made = HANDLERS[endpoint](this.context, input, known);
      if (!(made instanceof Page)) return { status: 200, body: made };
      const { body, next, keptSinceMs } = made;
      return { status: 200, body, page: { next, keptSinceMs } };
    } catch (error) {
      if (error instanceof RequestError) return { status: error.status, body: error.message };
      throw error;
    }
  }
}

/**
 * The gateway: a request of the contract in, its reply out (DESIGN §2). One row an endpoint; decoding, authorisation
 * and words are the handlers', state is the engine's. Synchronous: reads come from the engine's views, writes go through `submit`.
 */
import type { EndpointId } from '../contract/endpoints.ts';
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
  transfer,
} from './account.ts';
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
import { OrderIds } from './order-ids.ts';
import { cancelAllOrders, cancelOrder, cancelOrders, getOrder, listOrders } from './orders.ts';
import { RequestError } from './request-error.ts';
import { submitOrder, submitOrders } from './submit-order.ts';

type Handler = (context: Context, input: unknown, caller: Caller | null) => unknown;

/** What this version has no rule for yet says so, whatever is sent. */
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
  updateDelegates: absent('POST /account/delegates'),
  transfer,
  getTransferMax,
  getTransfers,
  updateSigners: absent('POST /account/signers'),
  getSigners,
  updateMargin: absent('POST /account/margin'),
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
      ids: new OrderIds(dependencies.engine, dependencies.keccak),
    };
  }

  /**
   * Answers a request. `input` holds query and path parameters, or the body, as one object. Never throws for anything that a client sends:
   * errors are replies whose body is the text.
   */
  handle(endpoint: EndpointId, input: unknown, caller: Caller | null): Reply {
    try {
      return { status: 200, body: HANDLERS[endpoint](this.context, input, caller) };
    } catch (error) {
      if (error instanceof RequestError) return { status: error.status, body: error.message };
      throw error;
    }
  }
}

/**
 * The strategy of `orrery serve --strategy`, as `GET /sim/strategy` shows it: its state and the
 * account that it trades with. The simulation token reads it, for that token controls the exchange.
 */
import type { EndpointId } from '../contract/endpoints.ts';
import { readHistory } from '../gateway/history-requests.ts';
import { RequestError } from '../gateway/request-error.ts';
import { keccak } from '../wallet/crypto-ports.ts';
import type { Host, ServedStrategy } from './exchange-host.ts';

const MAX_FILLS = 50;

export async function strategyState(host: Host, strategy: ServedStrategy) {
  const { name, account, state, message, log } = strategy;
  const caller = { account, signer: account };
  const at = { account, subaccountIndex: '0' };
  const read = async (endpoint: EndpointId, more: object = {}): Promise<unknown> => {
    const { status, body } = await host.handle(endpoint, { ...at, ...more }, caller);
    if (status !== 200) throw new RequestError({ status, message: String(body) });
    return body;
  };
  const known = host.view.accountIdOf(account) !== undefined;
  if (!known) {
    return {
      name,
      account,
      state,
      message,
      log,
      stats: null,
      positions: [],
      orders: [],
      fills: [],
    };
  }
  const context = { engine: host.view, keccak, ids: host.ids, history: host.history };
  const { bids, asks } = (await read('listOrders', { status: 'open', limit: '500' })) as {
    readonly bids: readonly unknown[];
    readonly asks: readonly unknown[];
  };
  return {
    name,
    account,
    state,
    message,
    log,
    stats: await read('getStats'),
    positions: await read('getPositions'),
    orders: [...bids, ...asks],
    fills: readHistory(context, 'fills', { ...at, limit: String(MAX_FILLS) }, caller).body,
  };
}

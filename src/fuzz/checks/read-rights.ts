/**
 * Reads of another account, of a subaccount that does not exist, and of orders that are named with
 * an account which does not own them: only those with the right to a subaccount read it.
 */
import type { EndpointId } from '../../contract/endpoints.ts';
import type { ExchangeView, OrderView } from '../../engine/read/views.ts';
import type { OrderIds } from '../../gateway/order-ids.ts';
import type { Address } from '../../num/units.ts';
import type { Fields } from './records.ts';
import { sendRequest, type ReadOnlyGateway } from './request-command.ts';

interface Place {
  readonly opened: ReadOnlyGateway;
  readonly engine: ExchangeView;
  readonly ids: OrderIds;
}

/** Reads of one subaccount. */
const OF_SUBACCOUNT = [
  'getStats',
  'getTransferMax',
  'getPositions',
  'getMargin',
  'getTransfers',
  'listOrders',
  'getBalance',
  'getDelegates',
] as const satisfies readonly EndpointId[];

/** Those that list what there is: of a subaccount that does not exist they list nothing. */
const OF_NONE: readonly EndpointId[] = ['getBalance', 'getDelegates'];

/** Those that have no reply before every market has a mark. */
const OF_MARKS: readonly EndpointId[] = ['getStats', 'getTransferMax', 'getPositions'];

const LAST_INDEX = 2 ** 31 - 1;

/** The lowest index of an account that has no subaccount, and the highest, in turn. */
export function unusedIndex(engine: ExchangeView, account: Address, turn: number): number {
  const used = engine.subaccountsOf(account).map(({ index }) => index);
  const highest = used.includes(LAST_INDEX) ? LAST_INDEX - 1 : LAST_INDEX;
  if (turn % 2 === 1) return highest;
  let index = 0;
  while (used.includes(index)) index += 1;
  return index;
}

interface Reader {
  readonly account: Address;
  readonly signer: Address;
  /** Indices that it may read; null: all. */
  readonly may: readonly number[] | null;
}

/** The first wrong reply to a read of `account` by this reader; null if there is none. */
export function subaccountReadFault(
  { opened, engine }: Pick<Place, 'opened' | 'engine'>,
  account: Address,
  { account: caller, signer, may }: Reader,
  turn: number,
): string | null {
  const endpoint = OF_SUBACCOUNT[turn % OF_SUBACCOUNT.length] ?? 'getStats';
  const held = engine.subaccountsOf(account).map(({ index }) => index);
  if (held.length === 0) return null;
  const exists = turn % 5 !== 0;
  const subaccountIndex = exists
    ? (held[(turn >> 3) % held.length] ?? 0)
    : unusedIndex(engine, account, turn >> 3);
  const mayRead = may?.includes(subaccountIndex) !== false;
  const hasMarks = engine.markets().every(({ markTicks }) => markTicks !== null);
  if (mayRead && exists && OF_MARKS.includes(endpoint) && !hasMarks) return null;
  const request = { account, subaccountIndex };
  const { status, body } = opened.gateway.handle(endpoint, request, { account: caller, signer });
  const what = `${endpoint} of ${account}, ${String(subaccountIndex)}, for ${caller}`;
  if (!mayRead) {
    return status === 403 ? null : `${what} is ${String(status)}, although it has no right`;
  }
  if (exists) return status === 200 ? null : `${what} is ${String(status)}`;
  if (!OF_NONE.includes(endpoint)) {
    return status === 400 ? null : `${what}, which does not exist, is ${String(status)}`;
  }
  const isNone = Array.isArray(body) && (body.length === 0 || endpoint === 'getDelegates');
  return status === 200 && isNone ? null : `${what}, which does not exist, is ${String(status)}`;
}

/**
 * Whether a lone order is found under another account than its own; null if not. The reader has the
 * rights to both accounts, so that only the name is wrong.
 */
export function namedFault(
  { opened, engine, ids }: Place,
  order: OrderView,
  named: Address,
  caller: { readonly account: Address; readonly signer: Address },
): string | null {
  const digest = ids.digestOf(order);
  const requests: readonly (readonly [EndpointId, Fields])[] = [
    ['getOrder', { orderId: digest, account: named }],
    ['cancelOrder', { orderId: digest, account: named }],
    ['cancelOrders', { account: named, orderIds: [digest] }],
  ];
  for (const [endpoint, request] of requests) {
    const sent = sendRequest(opened, engine, { kind: 'call', endpoint, ...caller, request });
    const finds =
      'command' in sent
        ? sent.command.kind === 'cancelOrder' && sent.command.orderId === order.orderId
        : endpoint === 'getOrder' && sent.reply.status === 200;
    if (finds) return `${endpoint} of order ${String(order.orderId)} finds it under ${named}`;
  }
  return null;
}

/** The order of a client id as a reader sees it: of a subaccount that it may read, or none. */
export function clientIdFault(
  { opened }: Pick<Place, 'opened'>,
  account: Address,
  { clientId }: OrderView,
  { account: caller, signer, may }: Reader,
): string | null {
  if (clientId === null) return null;
  const { status, body } = opened.gateway.handle(
    'getOrder',
    { account, clientId },
    { account: caller, signer },
  );
  const what = `getOrder of ${JSON.stringify(clientId)} of ${account} for ${caller}`;
  if (may === null) return status === 200 ? null : `${what} is ${String(status)}`;
  if (may.length === 0) return status === 403 ? null : `${what} is ${String(status)}`;
  if (status === 404) return null;
  const shown = body as Fields;
  const isOwn = shown['account'] === account && may.includes(Number(shown['subaccountIndex']));
  return status === 200 && isOwn ? null : `${what} is ${String(status)}, of another subaccount`;
}

/**
 * Requests with one field at a bound of the contract, or just beyond it: the first are not refused
 * for that field, the others are refused with status 400. The bounds are written a second time.
 */
import { ENDPOINTS } from '../../contract/endpoints.ts';
import type { PlaceOrder } from '../../engine/commands.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import type { Address } from '../../num/units.ts';
import { middleOf, type Fields } from './records.ts';
import { sendRequest, type CallForm, type ReadOnlyGateway } from './request-command.ts';

interface Bound {
  readonly field: string;
  readonly value: unknown;
  readonly isValid: boolean;
}

const bounds = (field: string, valid: readonly unknown[], wrong: readonly unknown[]): Bound[] => [
  ...valid.map((value) => ({ field, value, isValid: true })),
  ...wrong.map((value) => ({ field, value, isValid: false })),
];

const INT64_MAX = 2n ** 63n - 1n;
const WRONG_DECIMALS = ['', '.5', '1.', '1e3', '+1', ' 1', '1'.repeat(39), 1];
const text = (length: number): string => 'S'.repeat(length);
const signatures = (count: number): string[] => Array.from({ length: count }, () => '0x');
const MOST_SIGNATURES = 16;

/** Of bodies. */
const BOUNDS: readonly Bound[] = [
  ...bounds('clientId', [text(64), '~', ' '], ['', text(65), 'é', 'a\n', 7]),
  ...bounds('nonce', [INT64_MAX, 0], [INT64_MAX + 1n, -1, 0.5, '1', null]),
  ...bounds('expiresAt', [INT64_MAX], [INT64_MAX + 1n, -1n, 1.5, '1']),
  ...bounds('subaccountIndex', [2 ** 31 - 1], [2 ** 31, -1, 1.5, '0']),
  ...bounds('subaccountIndexFrom', [2 ** 31 - 1], [2 ** 31, -1]),
  ...bounds('symbol', [text(64), text(1)], ['', text(65), 5]),
  ...bounds('account', [], [`0x${'g'.repeat(40)}`, `0x${'1'.repeat(41)}`, `0x${'1'.repeat(39)}`]),
  ...bounds('originator', [], [`0x${'1'.repeat(41)}`, '0x']),
  ...bounds('accountTo', [], [`0x${'1'.repeat(39)}`]),
  ...bounds('quantity', [], WRONG_DECIMALS),
  ...bounds('price', [], WRONG_DECIMALS),
  ...bounds('triggerPrice', [], WRONG_DECIMALS),
  ...bounds('amount', [], WRONG_DECIMALS),
  ...bounds('margin', [], WRONG_DECIMALS),
  ...bounds('originatorFee', [], [-1, INT64_MAX + 1n, '1']),
  ...bounds('quorum', [], [-1, INT64_MAX + 1n]),
  ...bounds('feedId', [], [`0x${'1'.repeat(63)}`, `0x${'1'.repeat(65)}`]),
  ...bounds('isolated', [], ['true', 1, null]),
  ...bounds('delegated', [], ['true', 0]),
  ...bounds(
    'signatures',
    [signatures(MOST_SIGNATURES)],
    [signatures(MOST_SIGNATURES + 1), [5], '0x'],
  ),
];

/** The request with a bound of one of its fields; `turn` selects it. Null if it is kept. */
export function boundFault(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  act: CallForm,
  turn: number,
): string | null {
  const { request } = act;
  if (ENDPOINTS[act.endpoint].method !== 'POST' || 'orders' in request) return null;
  const own = BOUNDS.filter(({ field }) => Object.hasOwn(request, field));
  const unknown = { field: 'unknown', value: 1, isValid: false };
  const bound = [...own, unknown][turn % (own.length + 1)] ?? unknown;
  const { field, value } = bound;
  const result = sendRequest(opened, engine, { ...act, request: { ...request, [field]: value } });
  return differs(`${act.endpoint} with ${field} ${shown(value)}`, bound, result);
}

/**
 * An order at a price between two ticks: an `ioc` order takes the better one as its bound,
 * any other is refused.
 */
export function betweenTicksFault(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  act: CallForm,
  { market: id, priceTicks, lots, ioc }: PlaceOrder,
): string | null {
  const { tickSize, maxPriceTicks } = engine.market(id).spec;
  if (act.endpoint !== 'submitOrder' || priceTicks >= maxPriceTicks) return null;
  const price = middleOf(BigInt(priceTicks), tickSize);
  const result = sendRequest(opened, engine, { ...act, request: { ...act.request, price } });
  const what = `an order at ${price}`;
  if (!ioc) {
    const isRefused = 'reply' in result && result.reply.status === 400;
    return isRefused ? null : `${what} is not refused`;
  }
  const wanted = lots > 0 ? priceTicks : priceTicks + 1;
  const found =
    'command' in result && result.command.kind === 'placeOrder' ? result.command.priceTicks : null;
  return found === wanted ? null : `${what} has the bound ${String(found)}, not ${String(wanted)}`;
}

type Sent = ReturnType<typeof sendRequest>;

function differs(what: string, { field, isValid }: Bound, result: Sent): string | null {
  if (isValid) {
    if ('command' in result) return null;
    const { status, body } = result.reply;
    const names = status === 400 && String(body).startsWith(`${field}: `);
    return names ? `${what} is refused: ${String(body)}` : null;
  }
  if ('reply' in result && result.reply.status === 400) return null;
  const got = 'reply' in result ? String(result.reply.status) : 'accepted';
  return `${what} is ${got}, not refused`;
}

const shown = (value: unknown): string =>
  typeof value === 'bigint' ? String(value) : JSON.stringify(value);

/** Lists and books with limits at their bounds. */
const READ_BOUNDS: readonly (readonly [
  endpoint: 'getTrades' | 'getCandles' | 'getBook' | 'getMarkets' | 'getPrices' | 'listOrders',
  bounds: readonly Bound[],
])[] = [
  ['getTrades', bounds('limit', [1, 5000], [0, 5001, -1, 1.5, ''])],
  ['getCandles', bounds('limit', [1, 5000], [0, 5001])],
  ['getCandles', bounds('interval', ['1m', '1d', '12h'], ['2m', '1M', '24h', ''])],
  ['getBook', bounds('depth', [1, 5000, '5000'], [0, 5001, 1.5])],
  ['getMarkets', bounds('limit', [1], [0, -1])],
  ['listOrders', bounds('limit', [1, 500], [0, 501])],
  ['listOrders', bounds('status', ['open', 'CLOSED', 'active'], ['new', ''])],
];

const ALL_READ_BOUNDS = READ_BOUNDS.flatMap(([endpoint, list]) =>
  list.map((bound) => ({ endpoint, bound })),
);

/** The same for reads of a market and of an account. */
export function readBoundFault(
  opened: ReadOnlyGateway,
  engine: ExchangeView,
  symbol: string,
  owner: { readonly account: Address; readonly subaccountIndex: number },
  turn: number,
): string | null {
  const chosen = ALL_READ_BOUNDS[turn % ALL_READ_BOUNDS.length];
  if (chosen === undefined) return null;
  const { endpoint, bound } = chosen;
  const base: Fields =
    endpoint === 'listOrders'
      ? owner
      : endpoint === 'getMarkets' || endpoint === 'getPrices'
        ? {}
        : { symbol };
  const [signer = owner.account] = engine.signersOf(owner.account).signers;
  const reply = opened.gateway.handle(
    endpoint,
    { ...base, [bound.field]: bound.value },
    { account: owner.account, signer },
  );
  const what = `${endpoint} with ${bound.field} ${shown(bound.value)}`;
  if (!bound.isValid) {
    return reply.status === 400 ? null : `${what} is ${String(reply.status)}, not refused`;
  }
  return reply.status === 200 ? null : `${what} is refused: ${String(reply.body)}`;
}

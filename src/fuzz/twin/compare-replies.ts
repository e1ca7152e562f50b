/** Compares the replies of two hosts: the first difference and its rule. */
import { PAGE_HEADERS, type EndpointId } from '../../contract/endpoints.ts';
import type { PageInfo } from '../../gateway/context.ts';
import type { HostReply } from './twin-host.ts';

export interface ReplyDifference {
  /** Example: `body[0].settled`. */
  readonly path: string;
  /** Value of the twin, and value of the host. */
  readonly expected: string;
  readonly actual: string;
  readonly rule: string;
}

/** Fields that depend on the number of journalled commands of a host. */
export const HOST_SPECIFIC: ReadonlySet<string> = new Set([
  'lastUpdateSequenceNumber',
  'sequence_number',
  'sequenceNumber',
]);

/** Rule behind a field of a reply; by default that of the endpoint. */
const FIELD_RULES: Readonly<Record<string, string>> = {
  status: 'R-2.8',
  reason: 'R-2.9',
  settled: 'R-2.9',
  remaining: 'R-2.9',
  quantity: 'R-2.9',
  orderId: 'R-2.10',
  groupId: 'R-2.10',
  ocoGroupId: 'R-2.10',
  parentOrderId: 'R-2.10',
  flags: 'R-2.4',
  upnl: 'R-5.2',
  basis: 'R-5.2',
  entryPrice: 'R-5.2',
  markPrice: 'R-5.3',
  mark: 'R-5.3',
  liquidationPrice: 'R-10.1',
  funding: 'R-7.3',
  fees: 'R-8.1',
  balance: 'R-1.6',
  bids: 'R-2.5',
  asks: 'R-2.5',
};

const ENDPOINT_RULES: Partial<Readonly<Record<EndpointId, string>>> = {
  submitOrder: 'R-2.15',
  submitOrders: 'R-3.1',
  cancelOrder: 'R-11.3',
  cancelAllOrders: 'R-11.3',
  cancelOrders: 'R-11.3',
  getOrder: 'R-11.3',
  getSigners: 'R-9.1',
  updateDelegates: 'R-9.3',
  getDelegates: 'R-9.3',
  getStats: 'R-5.8',
  getBalance: 'R-1.6',
  getPositions: 'R-5.2',
  getMargin: 'R-5.7',
  updateMargin: 'R-5.7',
  transfer: 'R-5.9',
  getTransfers: 'R-5.9',
  getBook: 'R-10.1',
  getPrice: 'R-10.1',
  getTrades: 'R-10.3',
  getCandles: 'R-10.3',
  getSummary: 'R-10.4',
  listOrders: 'R-10.2',
  getTime: 'R-12.3',
};

/** null if the replies are equal. */
export function compareReplies(
  what: EndpointId | 'simulation',
  twin: HostReply,
  host: HostReply,
): ReplyDifference | null {
  const fallback = what === 'simulation' ? 'R-11.6' : (ENDPOINT_RULES[what] ?? 'R-11.1');
  if (twin.status !== host.status) {
    const replyText = ({ status, body }: HostReply): string =>
      status === 200 ? '200' : `${String(status)} ${text(body)}`;
    // The order of refusals is a rule of its own.
    const rule = twin.status === 200 || host.status === 200 ? fallback : 'R-2.8';
    return { path: 'status', expected: replyText(twin), actual: replyText(host), rule };
  }
  if (what === 'simulation' && twin.status !== 200) return null;
  const found = differenceOf(
    twin.body,
    host.body,
    'body',
    twin.status === 200 ? fallback : 'R-11.1',
  );
  return found ?? pageDifference(twin.page, host.page);
}

/** A cursor is the host's own text, so only its presence is compared. */
function pageDifference(twin?: PageInfo, host?: PageInfo): ReplyDifference | null {
  if (twin === undefined || host === undefined) return null;
  const hasNext = ({ next }: PageInfo): string => (next === null ? 'absent' : 'present');
  for (const [path, expected, actual] of [
    [PAGE_HEADERS.next, hasNext(twin), hasNext(host)],
    [PAGE_HEADERS.keptSince, text(twin.keptSinceMs), text(host.keptSinceMs)],
  ] as const) {
    if (expected !== actual) return { path, expected, actual, rule: 'R-12.3' };
  }
  return null;
}

function differenceOf(
  expected: unknown,
  actual: unknown,
  path: string,
  rule: string,
): ReplyDifference | null {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) {
      return {
        path: `${path}.length`,
        expected: String(expected.length),
        actual: String(actual.length),
        rule,
      };
    }
    for (const [i, item] of expected.entries()) {
      const found = differenceOf(item, actual[i], `${path}[${String(i)}]`, rule);
      if (found !== null) return found;
    }
    return null;
  }
  if (isRecord(expected) && isRecord(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      if (HOST_SPECIFIC.has(name) || (name === 'orderId' && isOfEngine(expected))) continue;
      const within = FIELD_RULES[name] ?? rule;
      const found = differenceOf(expected[name], actual[name], `${path}.${name}`, within);
      if (found !== null) return found;
    }
    return null;
  }
  if (text(expected) === text(actual)) return null;
  return { path, expected: text(expected), actual: text(actual), rule };
}

/** Nonces of the engine's own liquidation orders count from 0 in each command. */
const MOST_ENGINE_NONCE = 1000;

/** The id of a liquidation order has the sequence number of its command. */
const isOfEngine = ({ flags, nonce }: Readonly<Record<string, unknown>>): boolean =>
  isRecord(flags) && flags['ioc'] === true && Number(nonce) < MOST_ENGINE_NONCE;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Numbers and bigints are equal in JSON. */
const text = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
};

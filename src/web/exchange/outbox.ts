/**
 * Signed requests on their way. A request is signed once, with its nonce and clientId; without an
 * answer the same request is sent again, so the server never carries it out twice.
 */
import { computed, signal } from '@preact/signals';
import type { EndpointId, RequestOf } from '../../contract/endpoints.ts';
import { collected, merge, type Collected } from './collecting.ts';
import { loadAccount, takeOrders } from './account-state.ts';
import { unfilledText, type Order } from './order-list.ts';
import { FAR_MS } from './order-request.ts';
import { answerOf, deliver, Withdrawn, type Delivery } from './delivery.ts';
import { ask, call, messageOf, Refused } from './requests.ts';
import {
  loadSigners,
  logOut,
  mustConfig,
  needsQuorum,
  nextLogin,
  nextNonce,
  token,
  wallet,
} from './session.ts';
import type { Struct } from './wallet.ts';
import { ENDPOINTS } from '../../contract/endpoints.ts';

type Body = Readonly<Record<string, unknown>>;

export interface Sent {
  readonly id: number;
  readonly what: string;
  readonly state: 'signing' | 'sending' | 'waiting' | 'login' | 'collecting' | 'done' | 'refused';
  /** The refusal, or why it waits. */
  readonly message: string;
}

const MAX_SHOWN = 20;
const DONE_MS = 6000;
const NONCE_USED = 'Nonce already used';

type Report = (state: Sent['state'], message?: string) => void;

export const outbox = signal<readonly Sent[]>([]);
export const isOver = ({ state }: Sent): boolean =>
  state === 'done' || state === 'refused' || state === 'collecting';
/** Whether a request has no outcome yet; a second click would order again. */
export const isSending = computed(() => outbox.value.some((one) => !isOver(one)));
const onTheWay = new Map<number, AbortController>();
let nextId = 0;

function show(sent: Sent): void {
  const others = outbox.value.filter(({ id }) => id !== sent.id);
  outbox.value = [sent, ...others]
    .sort((a, b) => b.id - a.id)
    .filter((one, i) => i < MAX_SHOWN || !isOver(one));
}

/** What is done disappears by itself; a refusal stays until it is dismissed. */
function shownDone(id: number, what: string, message: string): void {
  show({ id, what, state: 'done', message });
  disappear(id);
}

function disappear(id: number): void {
  setTimeout(() => {
    dismiss(id);
  }, DONE_MS);
}

export const dismiss = (id: number): void => {
  outbox.value = outbox.value.filter((one) => one.id !== id);
};

export function newClientId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `ui-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** Adds what every signed request has, without the signatures. */
export const withNonce = (body: Body): Body => ({
  expiresAt: FAR_MS,
  ...body,
  nonce: nextNonce(),
  signatures: [],
});

async function signed(struct: Struct, body: Body, withdrawn: AbortSignal): Promise<Body> {
  const { value: by } = wallet;
  if (by === null) throw new Error('Log in first');
  const signature = await answerOf(by.sign(mustConfig(), struct, body), withdrawn);
  return { ...body, signatures: [signature] };
}

/** Shows one request from its start to its end. Resolves to null if it is refused. */
async function shown<T>(
  what: string,
  work: (report: Report, withdrawn: AbortSignal) => Promise<T>,
  noteOf: (result: T) => string = () => '',
): Promise<T | null> {
  nextId += 1;
  const id = nextId;
  const end = new AbortController();
  onTheWay.set(id, end);
  const report: Report = (state, message = '') => {
    show({ id, what, state, message });
  };
  try {
    const result = await work(report, end.signal);
    shownDone(id, what, noteOf(result));
    return result;
  } catch (error) {
    const isIncomplete = error instanceof Incomplete;
    report(isIncomplete ? 'collecting' : 'refused', messageOf(error));
    if (isIncomplete) disappear(id);
    // The account shows whether a withdrawn request was carried out.
    if (error instanceof Withdrawn && error.isUncertain) void loadAccount();
    return null;
  } finally {
    onTheWay.delete(id);
  }
}

/** Stops a request that waits, also for a signature. It is not sent again. */
export const withdraw = (id: number): void => onTheWay.get(id)?.abort();

/** A request waits for signatures of others. */
class Incomplete extends Error {
  override readonly name = 'Incomplete';
}

/**
 * Signs and sends; resolves to false if it is refused. The outbox shows its progress. If other
 * wallets must sign as well, it is kept for them instead.
 */
export async function send(
  endpoint: EndpointId,
  struct: Struct,
  request: Body,
  what: string,
): Promise<boolean> {
  const signAndSend = async (report: Report, withdrawn: AbortSignal): Promise<readonly Order[]> => {
    report('signing');
    const list = request['orders'] as readonly Body[] | undefined;
    const parts: Body[] = [];
    for (const one of list ?? [request])
      parts.push(await signed(struct, withNonce(one), withdrawn));
    if (needsQuorum.value) {
      collected.value = merge(collected.value, { endpoint, parts });
      throw new Incomplete('signed by this wallet; others must sign too: see Signers');
    }
    return dispatch({ endpoint, parts }, report, withdrawn);
  };
  return (await shown(what, signAndSend, unfilledText)) !== null;
}

/** Sends a request whose signatures are complete. */
export async function sendCollected(of: Collected, what: string): Promise<boolean> {
  const work = (report: Report, withdrawn: AbortSignal): Promise<readonly Order[]> =>
    dispatch(of, report, withdrawn);
  return (await shown(what, work, unfilledText)) !== null;
}

/** Resolves to the orders of the answer. */
async function dispatch(
  { endpoint, parts }: Collected,
  report: Report,
  withdrawn: AbortSignal,
): Promise<readonly Order[]> {
  const body = endpoint === 'submitOrders' ? { orders: parts } : (parts[0] ?? {});
  const { method, path } = ENDPOINTS[endpoint];
  const answer = await deliver<unknown>({
    attempt: async () => (await ask(method, path, { body, token: bearer() })).body,
    settle: async (refusal) => placedBefore(parts, refusal),
    report,
    login: nextSession,
    withdrawn,
  });
  const read = Array.isArray(answer) ? answer : (answer as { orders?: unknown } | null)?.orders;
  const records = Array.isArray(read) ? (read as Order[]) : [];
  takeOrders(records);
  const rejected = records.find(({ status }) => status === 'rejected');
  if (rejected !== undefined) throw new Error(`rejected: ${rejected.reason ?? ''}`);
  if (endpoint === 'updateSigners') await loadSigners();
  return records;
}

/** The token of the login; without one, the request waits for the next login. */
function bearer(): string {
  if (token.value === null) throw new Refused(401, 'Log in first');
  return token.value;
}

/** Forgets a token that is refused. Resolves at the next login. */
function nextSession(): Promise<void> {
  if (token.value !== null) logOut(true);
  return nextLogin();
}

/** Reads an order. Resolves to null if the exchange has none; throws `Refused` or `NoAnswer`. */
async function orderOf(query: RequestOf<'getOrder'>): Promise<Order | null> {
  try {
    return await call('getOrder', query, bearer());
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

/** The orders of a request whose answer was lost, or null if it was not carried out. */
async function placedBefore(parts: readonly Body[], refusal: Refused): Promise<unknown> {
  const found: Order[] = [];
  const isUsed = refusal.message === NONCE_USED;
  // Only orders have a clientId. Other requests consume their nonce if they are carried out.
  if (parts.some(({ clientId }) => typeof clientId !== 'string')) return isUsed ? [] : null;
  for (const { clientId, account: of } of parts) {
    const order = await orderOf({ clientId: String(clientId), account: String(of) });
    if (order !== null) found.push(order);
  }
  if (found.length > 0) return found;
  if (isUsed) throw new Error('its nonce is used, but no such order is found: see the orders');
  return null;
}

/** Sends a request without a signature, which may be carried out twice without harm. */
function plain(
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: Body },
  settle: Delivery<unknown>['settle'],
  report: Report,
  withdrawn: AbortSignal,
): Promise<unknown> {
  const attempt = async (): Promise<unknown> =>
    (await ask(method, path, { token: bearer(), ...(body === undefined ? {} : { body }) })).body;
  return deliver({ attempt, settle, report, login: nextSession, withdrawn });
}

const isOrder = (one: unknown): one is Order =>
  typeof one === 'object' && one !== null && 'orderId' in one && 'status' in one;

/** Cancels, which needs no signature; `what` names it in the outbox. */
export async function cancel(
  path: string,
  method: string,
  what: string,
  body?: Body,
): Promise<void> {
  await shown(what, async (report, withdrawn) => {
    const request = { method, path, ...(body === undefined ? {} : { body }) };
    const answer = await plain(request, () => Promise.resolve(null), report, withdrawn);
    takeOrders((Array.isArray(answer) ? answer : [answer]).filter(isOrder));
  });
}

/** Cancels one order. Resolves to its last record, or to null if it is not cancelled. */
export function cancelOrder(orderId: string, what: string): Promise<Order | null> {
  return shown(what, async (report, withdrawn) => {
    const path = `/account/order?orderId=${encodeURIComponent(orderId)}`;
    // A repeated request finds the order cancelled by the first one.
    const settle = async (): Promise<Order | null> => {
      const order = await orderOf({ orderId });
      return order?.status === 'cancelled' && order.reason === 'user' ? order : null;
    };
    const answer = await plain({ method: 'DELETE', path }, settle, report, withdrawn);
    if (!isOrder(answer)) throw new Error('the answer has no order');
    takeOrders([answer]);
    return answer;
  });
}

/** Shows why an action of the screen was not done. */
export function refuse(what: string, why: string): void {
  nextId += 1;
  show({ id: nextId, what, state: 'refused', message: why });
}

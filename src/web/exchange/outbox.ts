/**
 * Signed requests on their way. A request is signed once, with its nonce and clientId; without an
 * answer the same request is sent again, so the server never carries it out twice.
 */
import { signal } from '@preact/signals';
import type { EndpointId } from '../../contract/endpoints.ts';
import { takeOrders, type Order } from './account-state.ts';
import { ask, call, messageOf, NoAnswer, Refused } from './requests.ts';
import {
  account,
  isTokenRefusal,
  logOut,
  mustConfig,
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
  readonly state: 'signing' | 'sending' | 'waiting' | 'login' | 'done' | 'refused';
  /** The refusal, or why it waits. */
  readonly message: string;
}

const FIRST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 5000;
const MAX_SHOWN = 20;
const DONE_MS = 6000;
const FAR_MS = 9_007_199_254_740_991;
const NONCE_USED = 'Nonce already used';

export const outbox = signal<readonly Sent[]>([]);
let nextId = 0;

function show(sent: Sent): void {
  const others = outbox.value.filter(({ id }) => id !== sent.id);
  outbox.value = [sent, ...others].sort((a, b) => b.id - a.id).slice(0, MAX_SHOWN);
}

/** What is done disappears by itself; a refusal stays until it is dismissed. */
function shownDone(id: number, what: string): void {
  show({ id, what, state: 'done', message: '' });
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

async function signed(struct: Struct, body: Body): Promise<Body> {
  const { value: by } = wallet;
  if (by === null) throw new Error('Log in first');
  return { ...body, signatures: [await by.sign(mustConfig(), struct, body)] };
}

/** Signs and sends; resolves to false if it is refused. The outbox shows its progress. */
export async function send(
  endpoint: EndpointId,
  struct: Struct,
  request: Body,
  what: string,
): Promise<boolean> {
  nextId += 1;
  const id = nextId;
  show({ id, what, state: 'signing', message: '' });
  try {
    const list = request['orders'] as readonly Body[] | undefined;
    const parts: Body[] = [];
    for (const one of list ?? [request]) parts.push(await signed(struct, withNonce(one)));
    const body = list === undefined ? (parts[0] ?? {}) : { orders: parts };
    const answer = await deliver(endpoint, body, parts, (state, message = '') => {
      show({ id, what, state, message });
    });
    const read = Array.isArray(answer) ? answer : (answer as { orders?: unknown } | null)?.orders;
    if (Array.isArray(read)) takeOrders(read as Order[]);
    const rejected = (Array.isArray(read) ? (read as Order[]) : []).find(
      ({ status }) => status === 'rejected',
    );
    if (rejected !== undefined) {
      show({ id, what, state: 'refused', message: `rejected: ${rejected.reason ?? ''}` });
      return false;
    }
    shownDone(id, what);
    return true;
  } catch (error) {
    show({ id, what, state: 'refused', message: messageOf(error) });
    return false;
  }
}

type Report = (state: Sent['state'], message?: string) => void;

/** Sends until there is an answer. Throws `Refused`. */
async function deliver(
  endpoint: EndpointId,
  body: Body,
  parts: readonly Body[],
  report: Report,
): Promise<unknown> {
  let pauseMs = FIRST_PAUSE_MS;
  let repeated = false;
  const { method, path } = ENDPOINTS[endpoint];
  for (;;) {
    try {
      report('sending');
      return (await ask(method, path, { body, token: token.value })).body;
    } catch (error) {
      if (repeated && error instanceof Refused && error.message === NONCE_USED) {
        return await placedBefore(parts);
      }
      if (isTokenRefusal(error)) {
        logOut(true);
        report('login', 'the session has ended; it is sent after the next login');
        await nextLogin();
        continue;
      }
      const isBusy = error instanceof Refused && [408, 429, 503].includes(error.status);
      if (!(error instanceof NoAnswer) && !isBusy) throw error;
      if (error instanceof NoAnswer) repeated = true;
      report('waiting', isBusy ? messageOf(error) : 'no connection; it is sent again');
      const waitMs = pauseMs;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }
}

/** The orders of a request whose answer was lost. */
async function placedBefore(parts: readonly Body[]): Promise<Order[]> {
  const found: Order[] = [];
  for (const { clientId } of parts) {
    if (typeof clientId !== 'string' || account.value === null) continue;
    const order = await call('getOrder', { clientId, account: account.value }, token.value).catch(
      () => null,
    );
    if (order !== null) found.push(order);
  }
  return found;
}

/** Cancels, which needs no signature; `what` names it in the outbox. */
export async function cancel(
  path: string,
  method: string,
  what: string,
  body?: Body,
): Promise<void> {
  nextId += 1;
  const id = nextId;
  show({ id, what, state: 'sending', message: '' });
  try {
    const options = body === undefined ? { token: token.value } : { body, token: token.value };
    const { body: answer } = await ask(method, path, options);
    const read = Array.isArray(answer) ? (answer as unknown[]) : [];
    takeOrders(
      read.filter(
        (one): one is Order =>
          typeof one === 'object' && one !== null && 'orderId' in one && 'status' in one,
      ),
    );
    shownDone(id, what);
  } catch (error) {
    if (isTokenRefusal(error)) logOut(true);
    show({ id, what, state: 'refused', message: messageOf(error) });
  }
}

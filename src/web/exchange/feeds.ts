/**
 * Feeds of the server over one WebSocket. A lost connection is opened again, with its token and its
 * subscriptions; a gap in a book's sequence numbers subscribes to the book again.
 */
import { signal } from '@preact/signals';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** Without a message for this long, a request checks the connection. */
const QUIET_MS = 10_000;
const ANSWER_MS = 5000;
/** Statuses of a refusal that another attempt would get as well. */
const LASTING: readonly number[] = [400, 403, 404];

export type Update = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, unknown>>;

export type FeedState = 'connecting' | 'live' | 'lost';

export const feedState = signal<FeedState>('connecting');
/** When the last message came; `performance.now()`. */
export const lastMessageMs = { at: performance.now() };
/** Time of the last check of the connection; null before the first. */
export const roundTripMs = signal<number | null>(null);

interface Handlers {
  readonly onUpdate: (type: string, data: Update) => void;
  /** The connection is open again: what was missed is to be read. */
  readonly onOpen: () => void;
  /** The server has ended a subscription with its rights. */
  readonly onRevoked: () => void;
  readonly onTokenEnd: () => void;
}

/** Subscriptions by their parameters as text. */
const wanted = new Map<string, Params>();
const waiting = new Map<number, (answer: Update) => void>();
let handlers: Handlers | null = null;
let socket: WebSocket | null = null;
let bearer: string | null = null;
let pauseMs = FIRST_PAUSE_MS;
let nextId = 0;

export function openFeeds(of: Handlers): void {
  handlers = of;
  connect();
  setInterval(() => void check(), 2000);
}

function connect(): void {
  const at = new URL('ws', location.href);
  at.protocol = at.protocol.replace('http', 'ws');
  at.hash = '';
  const made = new WebSocket(at.href);
  socket = made;
  made.onopen = () => {
    void (async () => {
      if (bearer !== null) await askSocket('auth', { bearer }).catch(endRefusedToken);
      for (const params of wanted.values()) {
        await askSocket('subscribe', params).catch(passRefusedFeed);
      }
      pauseMs = FIRST_PAUSE_MS;
      lastMessageMs.at = performance.now();
      feedState.value = 'live';
      handlers?.onOpen();
    })().catch(() => {
      made.close();
    });
  };
  made.onmessage = ({ data }) => {
    // Answers of a connection that is being opened make old data no younger.
    if (feedState.value === 'live') lastMessageMs.at = performance.now();
    take(JSON.parse(String(data)) as Update);
  };
  made.onclose = ({ code }) => {
    if (socket !== made) return;
    socket = null;
    feedState.value = 'lost';
    for (const answer of waiting.values()) answer({ error: { message: 'connection lost' } });
    waiting.clear();
    if (code === 4401) endToken();
    setTimeout(connect, pauseMs);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  };
}

function endToken(): void {
  dropToken();
  handlers?.onTokenEnd();
}

/** A token that ended while the connection was lost, or is of another secret of the server. */
function endRefusedToken(error: unknown): void {
  if (!(error instanceof FeedRefusal) || error.status !== 401) throw error;
  endToken();
}

/** A feed without the right to it, such as one of a delegate that was revoked, stops no other. */
function passRefusedFeed(error: unknown): void {
  if (!(error instanceof FeedRefusal) || !LASTING.includes(error.status)) throw error;
}

/** A request that the server refused; a connection that is lost is another error. */
class FeedRefusal extends Error {
  readonly status: number;

  constructor({
    message,
    data,
  }: {
    readonly message: string;
    readonly data?: { status?: number };
  }) {
    super(message);
    this.status = data?.status ?? 0;
  }
}

function take(message: Update): void {
  const { id, method, type, data } = message;
  if (typeof id === 'number') {
    const answer = waiting.get(id);
    waiting.delete(id);
    answer?.(message);
    return;
  }
  if (method === 'unsubscribed') handlers?.onRevoked();
  if (typeof type !== 'string') return;
  for (const one of Array.isArray(data) ? data : [data]) {
    if (one !== null) handlers?.onUpdate(type, one as Update);
  }
}

function askSocket(method: string, params: Params): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (socket?.readyState !== WebSocket.OPEN) {
      reject(new Error('connection lost'));
      return;
    }
    nextId += 1;
    waiting.set(nextId, ({ result, error }) => {
      if (error === undefined) resolve(result);
      else reject(new FeedRefusal(error as ConstructorParameters<typeof FeedRefusal>[0]));
    });
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: nextId, method, params }));
  });
}

/** A connection that a proxy has dropped says nothing: a request shows it. */
async function check(): Promise<void> {
  const made = socket;
  if (made?.readyState !== WebSocket.OPEN) return;
  const beganMs = performance.now();
  if (beganMs - lastMessageMs.at < QUIET_MS && roundTripMs.value !== null) return;
  const late = setTimeout(() => {
    made.close();
    made.onclose?.(new CloseEvent('close', { code: 1006 }));
  }, ANSWER_MS);
  // Any answer will do: this one changes nothing.
  await askSocket('unsubscribe', { source: 'trade', symbols: [] }).catch(() => undefined);
  clearTimeout(late);
  roundTripMs.value = performance.now() - beganMs;
}

export function subscribe(params: Params): void {
  const key = JSON.stringify(params);
  if (wanted.has(key)) return;
  wanted.set(key, params);
  if (feedState.value === 'live') void askSocket('subscribe', params).catch(() => undefined);
}

export function unsubscribe(params: Params): void {
  if (!wanted.delete(JSON.stringify(params)) || feedState.value !== 'live') return;
  void askSocket('unsubscribe', params).catch(() => undefined);
}

/** Subscribes again, which begins with a snapshot. */
export function repeat(params: Params): void {
  unsubscribe(params);
  subscribe(params);
}

export async function useToken(token: string): Promise<void> {
  bearer = token;
  if (socket?.readyState === WebSocket.OPEN) await askSocket('auth', { bearer });
}

export function dropToken(): void {
  bearer = null;
  unsubscribeAccounts();
}

/** Ends the private subscriptions. */
export function unsubscribeAccounts(): void {
  for (const params of [...wanted.values()]) if ('account' in params) unsubscribe(params);
}

/** The page's connection: a feed without rights stops no other, also after a lost connection. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

type Request = { id: number; method: string; params: { source?: string } };

/** Connections that were made, newest last; the server refuses `refused`. */
const made: Connection[] = [];
let refused: Readonly<Record<string, number>> = {};

class Connection {
  static readonly OPEN = 1;
  readyState = 0;
  readonly asked: string[] = [];
  onopen = (): void => undefined;
  onmessage = (_message: { data: string }): void => undefined;
  onclose = (_event: { code: number }): void => undefined;

  constructor() {
    made.push(this);
    setTimeout(() => {
      this.readyState = Connection.OPEN;
      this.onopen();
    }, 1);
  }

  send(text: string): void {
    const { id, method, params } = JSON.parse(text) as Request;
    const { source = '' } = params;
    this.asked.push(`${method} ${source}`);
    const status = refused[source];
    const answer =
      status === undefined ? { result: {} } : { error: { message: 'refused', data: { status } } };
    setTimeout(() => {
      this.say({ id, ...answer });
    }, 1);
  }

  say(message: unknown): void {
    this.onmessage({ data: JSON.stringify(message) });
  }

  close(code = 1006): void {
    this.readyState = 3;
    this.onclose({ code });
  }
}

const open = async () => {
  const feeds = await import('../../src/web/exchange/feeds.ts');
  const revoked = vi.fn();
  const nothing = (): void => undefined;
  feeds.openFeeds({ onUpdate: nothing, onOpen: nothing, onRevoked: revoked, onTokenEnd: nothing });
  await vi.advanceTimersByTimeAsync(100);
  return { ...feeds, revoked };
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  vi.stubGlobal('WebSocket', Connection);
  vi.stubGlobal('location', { href: 'http://127.0.0.1/' });
});
afterEach(() => {
  made.length = 0;
  refused = {};
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it.each([400, 403, 404])('a feed that is refused with %i stops no other', async (status) => {
  refused = { order: status };
  const { feedState, subscribe } = await open();
  subscribe({ source: 'order', account: '0x', subaccountIndices: [1] });
  subscribe({ source: 'trade', symbols: [] });
  await vi.advanceTimersByTimeAsync(100);
  made[0]?.close();
  await vi.advanceTimersByTimeAsync(1000);
  expect(feedState.value).toBe('live');
  expect(made[1]?.asked).toEqual(['subscribe order', 'subscribe trade']);
  expect(made).toHaveLength(2);
});

it('a refusal that passes is asked again on another connection', async () => {
  const { feedState, subscribe } = await open();
  subscribe({ source: 'trade', symbols: [] });
  refused = { trade: 429 };
  made[0]?.close();
  await vi.advanceTimersByTimeAsync(400);
  expect(feedState.value).toBe('lost');
  refused = {};
  await vi.advanceTimersByTimeAsync(2000);
  expect(feedState.value).toBe('live');
});

it('the end of a subscription with its rights is reported', async () => {
  const { revoked } = await open();
  made[0]?.say({ method: 'unsubscribed', params: { source: 'order' } });
  expect(revoked).toHaveBeenCalledOnce();
});

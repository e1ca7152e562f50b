/** WebSocket feeds over a real socket: methods, every source, gaps, rights, limits. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';
import { FEEDS, type FeedSource } from '../../src/contract/feeds.ts';
import { FairQueue, type WorkCaller } from '../../src/http/fair-queue.ts';
import { Faults } from '../../src/http/injected-faults.ts';
import { Connection } from '../../src/http/feeds/connection.ts';
import { Publisher } from '../../src/http/feeds/publisher.ts';
import { UPDATE_DATA } from '../../src/contract/asyncapi.ts';
import type { Caller } from '../../src/gateway/context.ts';
import { ALICE, BOB, order, STRANGER } from '../gateway/fixture.ts';
import { Served } from './served.ts';

const SYMBOL = 'BTC-USD-PERP';
const SHAPES = Object.fromEntries(
  Object.entries(UPDATE_DATA).map(([source, shape]) => [source, Compile(shape)]),
) as unknown as Record<FeedSource, { Check(data: unknown): boolean }>;
const AS_ALICE: Caller = { account: ALICE, signer: ALICE };
const AS_BOB: Caller = { account: BOB, signer: BOB };

interface Update {
  readonly type: string;
  readonly data: Record<string, unknown>;
}
interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly status: number };
  };
  readonly usIn: number;
  readonly usOut: number;
  readonly usDiff: number;
}

class Client {
  readonly updates: Update[] = [];
  readonly notices: unknown[] = [];
  closed: number | null = null;
  private readonly socket: WebSocket;
  private readonly answers = new Map<unknown, (answer: Answer) => void>();
  private nextId = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Record<string, unknown>;
      if ('type' in message) this.updates.push(message as unknown as Update);
      else if ('method' in message) this.notices.push(message);
      else this.answers.get(message['id'])?.(message as unknown as Answer);
    });
    socket.on('close', (code) => {
      this.closed = code;
    });
  }

  static async open(served: Served): Promise<Client> {
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/ws`);
    await new Promise((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
    });
    return new Client(socket);
  }

  ask(method: string, params: unknown): Promise<Answer> {
    const id = ++this.nextId;
    return new Promise((resolve) => {
      this.answers.set(id, resolve);
      this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  /** Texts that arrive from now on. */
  texts(): string[] {
    const texts: string[] = [];
    this.socket.on('message', (data: Buffer) => texts.push(data.toString()));
    return texts;
  }

  raw(text: string | Buffer, id: unknown): Promise<Answer> {
    return new Promise((resolve) => {
      this.answers.set(id, resolve);
      this.socket.send(text);
    });
  }

  async login(served: Served, caller: Caller): Promise<void> {
    const { result } = await this.ask('auth', { bearer: await served.token(caller) });
    expect(result).toMatchObject({ account: caller.account });
  }

  /** Every update matches the schema of /asyncapi.json. */
  checkShapes(): void {
    for (const { type, data } of this.updates) {
      const source = (Object.keys(FEEDS) as FeedSource[]).find(
        (name) => FEEDS[name].update === type,
      )!;
      expect(SHAPES[source].Check(data), `${type} ${JSON.stringify(data)}`).toBe(true);
    }
  }

  /** Updates of a type, once `count` have arrived. */
  async take(type: string, count: number): Promise<Record<string, unknown>[]> {
    const deadline = Date.now() + 5000;
    for (;;) {
      const found = this.updates.filter((update) => update.type === type);
      if (found.length >= count || Date.now() > deadline) return found.map(({ data }) => data);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  close(): void {
    this.socket.close();
  }
}

let served: Served;
beforeAll(async () => {
  served = await Served.start();
  for (const account of [ALICE, BOB]) await served.sim('deposit', { account, amount: '100000' });
  await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
});
afterAll(() => served.remove());

let client: Client;
beforeEach(async () => {
  client = await Client.open(served);
  return () => {
    client.checkShapes();
    client.close();
  };
});

const submit = async (caller: Caller, changes: Record<string, unknown>) => {
  const answer = await served.call(
    'submitOrder',
    order({ account: caller.account, ...changes }),
    caller,
  );
  expect(answer.status).toBe(200);
  return (answer.body as { orderId: string }[])[0]!.orderId;
};

describe('requests', () => {
  test('every answer carries its times', async () => {
    const { result, usIn, usOut, usDiff } = await client.ask('subscribe', {
      source: 'trade',
      symbols: [SYMBOL],
    });
    expect(result).toEqual({ subscribed: 'trade', update: 'Trade' });
    expect(usDiff).toBe(usOut - usIn);
    expect(usDiff).toBeGreaterThanOrEqual(0);
    expect(Math.abs(usIn / 1000 - Date.now())).toBeLessThan(60_000);
  });

  test.each([
    ['{', null, -32_700],
    ['[]', null, -32_600],
    ['{"id":1,"method":"auth"}', null, -32_600],
    ['{"jsonrpc":"2.0","method":"auth"}', null, -32_600],
    ['{"jsonrpc":"2.0","id":"x","method":"shout"}', 'x', -32_601],
    ['{"jsonrpc":"2.0","id":"y","method":"subscribe","params":{"source":"gossip"}}', 'y', -32_602],
    ['{"jsonrpc":"2.0","id":"z","method":"subscribe","params":[]}', 'z', -32_602],
    ['{"jsonrpc":"2.0","id":1e400,"method":"auth"}', null, -32_600],
  ] as const)('%s gets error %s', async (text, id, code) => {
    expect((await client.raw(text, id)).error?.code).toBe(code);
  });

  test('an id of any size is echoed as it was sent', async () => {
    const texts = client.texts();
    for (const id of ['9007199254740993', '-123456789012345678901234567890']) {
      void client.raw(`{"jsonrpc":"2.0","id":${id},"method":"shout"}`, id);
      await expect.poll(() => texts.at(-1)).toContain(`"id":${id},"error":{"code":-32601`);
    }
  });

  test('a binary message is refused as such', async () => {
    const { error } = await client.raw(Buffer.from('{"jsonrpc":"2.0","id":1}'), null);
    expect(error).toEqual({
      code: -32_600,
      message: 'Invalid request: must be a text message, not a binary one',
    });
  });

  test.each([
    ['an unknown market', { source: 'book', symbols: ['X'] }, -32_602, 'Symbol not found'],
    [
      'an account for a public source',
      { source: 'book', account: ALICE },
      -32_602,
      'account: is for private sources, not for book',
    ],
    [
      'symbols for a private source',
      { source: 'order', symbols: [] },
      -32_602,
      'symbols: is for public sources, not for order',
    ],
    ['an unknown parameter', { source: 'book', depth: 5 }, -32_602, 'depth: unknown field'],
    [
      'no login',
      { source: 'order', account: ALICE, subaccountIndices: [] },
      -32_000,
      'Please add the JWT token to the header',
    ],
  ] as const)('a subscription with %s is rejected', async (_name, params, code, message) => {
    expect((await client.ask('subscribe', params)).error).toMatchObject({ code, message });
  });

  test('a duplicate subscription and an unknown unsubscription are errors', async () => {
    const params = { source: 'price', symbols: [SYMBOL] };
    expect((await client.ask('unsubscribe', params)).error?.code).toBe(-32_602);
    expect((await client.ask('subscribe', params)).error).toBeUndefined();
    expect((await client.ask('subscribe', params)).error?.code).toBe(-32_602);
    expect((await client.ask('unsubscribe', params)).result).toEqual({ unsubscribed: 'price' });
    expect((await client.ask('subscribe', params)).error).toBeUndefined();
  });

  test('at most 50 subscriptions per connection', async () => {
    await client.login(served, AS_ALICE);
    for (let i = 0; i < 50; i++) {
      const params = { source: 'order', account: ALICE, subaccountIndices: [i] };
      expect((await client.ask('subscribe', params)).error).toBeUndefined();
    }
    const { error } = await client.ask('subscribe', {
      source: 'order',
      account: ALICE,
      subaccountIndices: [50],
    });
    expect(error?.message).toBe('source: a connection has at most 50 subscriptions');
  });

  test('orders are created and cancelled', async () => {
    await client.login(served, AS_ALICE);
    const created = await client.ask('create', order({ clientId: 'ws-1' }));
    const [record] = created.result as { orderId: string }[];
    expect(record).toMatchObject({ status: 'new', clientId: 'ws-1' });
    const cancelled = await client.ask('cancel', { orderId: record!.orderId });
    expect(cancelled.result).toMatchObject({ status: 'cancelled' });
    const batch = await client.ask('create', {
      type: 'batchOrders',
      orders: [order({ clientId: 'a' }), order({ clientId: 'b' })],
    });
    expect((batch.result as { orders: unknown[] }).orders).toHaveLength(2);
    const many = await client.ask('cancel', { account: ALICE, clientIds: ['a', 'b', 'c'] });
    expect(many.result).toMatchObject({ cancelled: [{}, {}], failed: [{ clientId: 'c' }] });
    const refused = await client.ask('create', order({ price: '-1' }));
    expect(refused.error).toMatchObject({
      code: -32_602,
      message: 'price must be positive',
      data: { status: 400 },
    });
  });
});

describe('public feeds', () => {
  test('a book: snapshot, then deltas that rebuild it, each with the previous sequence number', async () => {
    await submit(AS_BOB, { price: '61000', quantity: '-0.5' });
    await client.ask('subscribe', { source: 'book', symbols: [SYMBOL] });
    const [snapshot] = await client.take('Book', 1);
    expect(snapshot).toMatchObject({
      snapshot: true,
      symbol: SYMBOL,
      previous_sequence_number: null,
    });
    await submit(AS_BOB, { price: '61000', quantity: '-0.25' });
    const gone = await submit(AS_BOB, { price: '61001', quantity: '-0.1' });
    await served.call('cancelOrder', { orderId: gone }, AS_BOB);
    await submit(AS_ALICE, { price: '59000', quantity: '0.3' });
    const messages = await client.take('Book', 4);
    const book = { bids: new Map<string, string>(), asks: new Map<string, string>() };
    let last: unknown = null;
    for (const message of messages) {
      expect(message['previous_sequence_number']).toBe(last);
      last = message['sequence_number'];
      for (const side of ['bids', 'asks'] as const) {
        for (const { price, quantity } of message[side] as { price: string; quantity: string }[]) {
          if (quantity === '0') book[side].delete(price);
          else book[side].set(price, quantity);
        }
      }
    }
    const { body } = await served.call('getBook', { symbol: SYMBOL }, null);
    const whole = body as Record<'bids' | 'asks', { price: string; quantity: string }[]>;
    for (const side of ['bids', 'asks'] as const) {
      expect(Object.fromEntries(book[side])).toEqual(
        Object.fromEntries(whole[side].map(({ price, quantity }) => [price, quantity])),
      );
    }
  });

  test('a market listed after a subscription to all books begins with a snapshot', async () => {
    await client.ask('subscribe', { source: 'book', symbols: [] });
    const listed = await served.operator('markets', { symbol: 'X', tickSize: '0.1', lotSize: '1' });
    expect(listed.status).toBe(200);
    await served.sim('oracle', { symbol: 'X', price: '100' });
    await submit(AS_ALICE, { symbol: 'X', price: '99', quantity: '1' });
    const books = await client.take('Book', 5);
    const [snapshot, delta] = books.filter(({ symbol }) => symbol === 'X');
    expect(snapshot).toMatchObject({ snapshot: true, bids: [], previous_sequence_number: null });
    expect(delta).toMatchObject({
      bids: [{ price: '99', quantity: '1' }],
      previous_sequence_number: snapshot?.['sequence_number'],
    });
  });

  test('trades, candles, prices and summaries', async () => {
    for (const source of ['trade', 'candle', 'price', 'summary']) {
      await client.ask('subscribe', { source, symbols: [SYMBOL] });
    }
    await submit(AS_BOB, { price: '60010', quantity: '-0.2' });
    await submit(AS_ALICE, { price: '60010', quantity: '0.2' });
    expect(await client.take('Trade', 1)).toMatchObject([
      { symbol: SYMBOL, price: '60010', quantity: '0.2' },
    ]);
    expect((await client.take('Candle', 1)).at(-1)).toMatchObject({
      symbol: SYMBOL,
      interval: '1m',
      close: '60010',
    });
    expect((await client.take('Summary', 1)).at(-1)).toMatchObject({ symbol: SYMBOL });
    expect((await client.take('Price', 1)).at(-1)).toMatchObject({
      symbol: SYMBOL,
      index: '60000',
    });
  });

  test('prices of all markets are batched: the latest of each changed market', async () => {
    await client.ask('subscribe', { source: 'price', symbols: [] });
    await served.sim('oracle', { symbol: SYMBOL, price: '60001' });
    await served.sim('oracle', { symbol: 'ETH-USD-PERP', price: '3000' });
    await served.sim('oracle', { symbol: SYMBOL, price: '60000' });
    // Arrives in one batch or in two, depending on timing.
    const latest = () => {
      const batches = client.updates.filter(({ type }) => type === 'Price');
      const prices = batches.flatMap(({ data }) => data as unknown as Record<string, unknown>[]);
      return new Map(prices.map((price) => [price['symbol'], price['index']]));
    };
    await expect.poll(() => latest().get(SYMBOL)).toBe('60000');
    await expect.poll(() => latest().get('ETH-USD-PERP')).toBe('3000');
  });
});

describe('private feeds', () => {
  test('orders, fills, positions, balances, stats', async () => {
    await client.login(served, AS_ALICE);
    for (const source of ['order', 'fill', 'position', 'balance', 'stats']) {
      await client.ask('subscribe', { source, account: ALICE, subaccountIndices: [] });
    }
    expect(await client.take('Stats', 1)).toMatchObject([{ account: ALICE, subaccountIndex: 0 }]);
    await submit(AS_BOB, { price: '60020', quantity: '-0.1' });
    const orderId = await submit(AS_ALICE, { price: '60020', quantity: '0.1', clientId: 'fed' });
    expect((await client.take('Order', 1)).at(-1)).toMatchObject({ orderId, status: 'filled' });
    const [fill] = await client.take('Fill', 1);
    expect(fill).toMatchObject({
      symbol: SYMBOL,
      price: '60020',
      quantity: '0.1',
      order_id: orderId,
      realized_exposure: '0',
      realized_funding: '0',
    });
    expect(fill!['realized_pnl']).toBe(`-${fill!['fee'] as string}`);
    expect((await client.take('Position', 1)).at(-1)).toMatchObject({
      symbol: SYMBOL,
      account: ALICE,
    });
    expect((await client.take('Balance', 1)).at(-1)).toMatchObject({
      account: ALICE,
      subaccountIndex: 0,
    });
  });

  test('unknown accounts and delegates of other subaccounts are rejected; indices are required', async () => {
    await client.login(served, { account: STRANGER, signer: STRANGER });
    const params = { source: 'order', account: ALICE, subaccountIndices: [0] };
    expect((await client.ask('subscribe', params)).error).toMatchObject({
      message: 'Not delegated for account and subaccount',
      data: { status: 403 },
    });
  });

  test('a revoked delegation ends its subscriptions at once (R-9.6)', async () => {
    const grant = (delegated: boolean, nonce: number) =>
      served.call(
        'updateDelegates',
        {
          account: ALICE,
          delegate: STRANGER,
          delegated,
          expiresAt: 9_007_199_254_740_991,
          nonce,
          signatures: [],
          subaccountIndex: 0,
        },
        AS_ALICE,
      );
    expect((await grant(true, 1)).status).toBe(200);
    await client.login(served, { account: STRANGER, signer: STRANGER });
    const all = { source: 'order', account: ALICE, subaccountIndices: [] };
    expect((await client.ask('subscribe', all)).error?.data?.status).toBe(403);
    await client.ask('subscribe', { ...all, subaccountIndices: [0] });
    await submit(AS_ALICE, { clientId: 'seen' });
    expect(await client.take('Order', 1)).toMatchObject([{ clientId: 'seen' }]);
    expect((await grant(false, 2)).status).toBe(200);
    await submit(AS_ALICE, { clientId: 'unseen' });
    await client.ask('subscribe', { source: 'price', symbols: [SYMBOL] });
    const params = { source: 'order', account: ALICE, subaccountIndices: [0] };
    expect(client.notices).toMatchObject([{ method: 'unsubscribed', params }]);
    expect(client.updates.filter(({ type }) => type === 'Order')).toHaveLength(1);
  });

  test('a wallet that lost its rights loses the connection (R-9.5a)', async () => {
    const account = BOB;
    const key = STRANGER;
    await client.login(served, AS_BOB);
    await client.ask('subscribe', { source: 'balance', account, subaccountIndices: [] });
    const change = {
      account,
      expiresAt: 9_007_199_254_740_991,
      nonce: 1,
      quorum: 1,
      signatures: [],
      signers: [key],
    };
    expect((await served.call('updateSigners', change, AS_BOB)).status).toBe(200);
    // Immediately, although none of its subscriptions changed.
    for (let i = 0; i < 200 && client.closed === null; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(client.closed).toBe(4401);
  });
});

test('an expired token ends orders over the socket, then the connection (R-9.5a)', async () => {
  const late = await Served.start();
  const held = await Client.open(late);
  await late.sim('deposit', { account: ALICE, amount: '1000' });
  await late.sim('oracle', { symbol: SYMBOL, price: '60000' });
  await held.login(late, AS_ALICE);
  expect((await held.ask('create', order())).error).toBeUndefined();
  await late.sim('clock', { advanceMs: 3_600_001 });
  const before = late.host.view.lastOrderId;
  expect((await held.ask('create', order())).error).toMatchObject({
    message: 'Invalid token',
    data: { status: 401 },
  });
  await expect.poll(() => held.closed).toBe(4401);
  expect(late.host.view.lastOrderId).toBe(before);
  await late.remove();
});

test('the candle of a minute has its last trade, also if the clock is further', async () => {
  const late = await Served.start();
  const held = await Client.open(late);
  for (const account of [ALICE, BOB]) await late.sim('deposit', { account, amount: '10000' });
  const minute = 60_000;
  const { time: startMs } = (await late.send('GET', '/time')).body as { time: number };
  expect(startMs % minute).toBe(0);
  await late.sim('clock', { advanceMs: minute - 1000 });
  await late.sim('oracle', { symbol: SYMBOL, price: '60000' });
  const offer = order({ account: BOB, price: '60005', quantity: '-0.4' });
  await late.call('submitOrder', offer, AS_BOB);
  await held.ask('subscribe', { source: 'candle', symbols: [SYMBOL] });
  const slice = () => order({ orderType: 'twap', price: '60005', quantity: '0.1', period: 30_000 });
  await late.call('submitOrders', { orders: [slice(), slice(), slice()] }, AS_ALICE);
  expect(await held.take('Candle', 1)).toMatchObject([{ time: startMs, volume: '0.1' }]);
  // The second and third trade are in the minute before that of the clock.
  await late.sim('clock', { advanceMs: 2 * minute });
  expect((await held.take('Candle', 2)).slice(1)).toMatchObject([
    { time: startMs + minute, volume: '0.2' },
  ]);
  await late.remove();
});

test('pipelined requests run in order; those after a login wait for it', async () => {
  const bearer = await served.token(AS_ALICE);
  const asked = [
    client.ask('auth', { bearer }),
    client.ask('subscribe', { source: 'order', account: ALICE, subaccountIndices: [0] }),
    ...Array.from({ length: 50 }, () => client.ask('create', order({ price: '52000' }))),
    client.ask('cancel', { orderIds: [] }),
  ];
  const answers = await Promise.all(asked);
  for (const { error } of answers) expect(error).toBeUndefined();
  const created = answers.slice(2, 52).map(({ result }) => result as Record<string, number>[]);
  const sequences = created.map(([record]) => record!['lastUpdateSequenceNumber']!);
  expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  expect(await client.take('Order', 50)).toHaveLength(50);
});

test('the feeds are documented', async () => {
  const { body } = await served.send('GET', '/asyncapi.json');
  const { asyncapi, channels } = body as {
    asyncapi: string;
    channels: { feeds: { address: string; messages: Record<string, unknown> } };
  };
  expect(asyncapi).toBe('3.0.0');
  const updates = Object.values(FEEDS).map(({ update }) => update);
  expect(Object.keys(channels.feeds.messages)).toEqual(['Request', 'Answer', ...updates]);
});

describe('a client that does not read', () => {
  /** A socket whose backlog the test sets. */
  class Slow extends EventEmitter {
    readonly OPEN = 1;
    readyState = 1;
    bufferedAmount = 0;
    readonly sent: string[] = [];
    closedWith: number | null = null;
    send(data: string | Buffer): void {
      this.sent.push(data.toString());
    }
    close(code: number): void {
      this.closedWith = code;
      this.readyState = 3;
      this.emit('close');
    }
    terminate(): void {
      this.readyState = 3;
    }
  }

  const connect = (
    publisher: Publisher,
    socket: Slow,
    stream = new PassThrough(),
    { auth = {}, queue = new FairQueue() } = {},
  ): void => {
    const services = {
      host: served.host,
      auth: auth as never,
      publisher,
      faults: new Faults(),
      metrics: { answered: () => undefined },
      admission: null,
      queue,
      simToken: null,
      onError: (error: unknown) => {
        throw error;
      },
    };
    new Connection(socket as never, stream, services, '::1');
  };

  test('that sends requests faster than replies is not read until it is answered', async () => {
    const publisher = new Publisher(served.host);
    const socket = new Slow();
    const stream = new PassThrough();
    connect(publisher, socket, stream);
    for (let id = 1; id <= 100; id++) {
      const text = JSON.stringify({ jsonrpc: '2.0', id, method: 'unsubscribe', params: {} });
      socket.emit('message', Buffer.from(text), false);
    }
    expect(stream.isPaused()).toBe(true);
    await expect.poll(() => socket.sent).toHaveLength(100);
    await expect.poll(() => stream.isPaused()).toBe(false);
    publisher.close();
  });

  test('is verified again if the secrets are replaced during its login', async () => {
    const publisher = new Publisher(served.host);
    const socket = new Slow();
    const auth = {
      generation: 0,
      verify: () => {
        auth.generation += 1;
        return auth.generation === 1
          ? Promise.resolve({ caller: AS_ALICE, claims: { exp: 9e9 } })
          : Promise.reject(new Error('signed by a secret that is gone'));
      },
    };
    connect(publisher, socket, new PassThrough(), { auth });
    const params = { bearer: 'any' };
    const login = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'auth', params });
    socket.emit('message', Buffer.from(login), false);
    await expect.poll(() => socket.closedWith).toBe(4401);
    publisher.close();
  });

  test('gets the answer of a batch in the turn of its account', async () => {
    /** Knows whether it runs a piece of work. */
    class Watched extends FairQueue {
      isRunning = false;
      override run<T>(caller: WorkCaller, work: () => T, ms = 0, continues = false) {
        const watched = (): T => {
          this.isRunning = true;
          try {
            return work();
          } finally {
            this.isRunning = false;
          }
        };
        return super.run(caller, watched, ms, continues);
      }
    }
    const queue = new Watched();
    const publisher = new Publisher(served.host);
    const socket = new Slow();
    const inTurn: boolean[] = [];
    socket.send = (data) => {
      socket.sent.push(data.toString());
      inTurn.push(queue.isRunning);
    };
    const claims = { account: ALICE, exp: 4_000_000_000, iat: 1 };
    const auth = { generation: 0, verify: () => Promise.resolve({ caller: AS_ALICE, claims }) };
    connect(publisher, socket, new PassThrough(), { auth, queue });
    const ask = (id: number, method: string, params: unknown): void => {
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      socket.emit('message', Buffer.from(text), false);
    };
    ask(1, 'auth', { bearer: 'any' });
    ask(2, 'create', { type: 'batchOrders', orders: Array.from({ length: 100 }, () => order()) });
    await expect.poll(() => socket.sent).toHaveLength(2);
    const { result } = JSON.parse(socket.sent[1]!) as { result: { orders: unknown[] } };
    expect(result.orders).toHaveLength(100);
    expect(inTurn).toEqual([false, true]);
    publisher.close();
  });

  test('loses book deltas, then gets a snapshot; finally it is closed', async () => {
    const publisher = new Publisher(served.host);
    const socket = new Slow();
    const written: string[] = [];
    const stream = new PassThrough();
    stream.write = (frames: Buffer) => written.push(frames.toString('latin1')) > 0;
    connect(publisher, socket, stream);
    const params = { source: 'book', symbols: [SYMBOL] };
    socket.emit(
      'message',
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscribe', params })),
      false,
    );
    const books = () =>
      written
        .filter((text) => text.includes('"type":"Book"'))
        .map((frame) => frame.slice(frame.indexOf('{')));
    await expect.poll(books).toHaveLength(1);
    const rest = async (price: string) => {
      await submit(AS_ALICE, { price });
      await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await rest('55001');
    await expect.poll(books).toHaveLength(2);
    socket.bufferedAmount = 2 << 20;
    await rest('55002');
    await rest('55003');
    expect(books()).toHaveLength(2);
    // The snapshot comes with the next change, or earlier if the client is found to read again.
    socket.bufferedAmount = 0;
    await rest('55004');
    await expect.poll(() => books().length).toBeGreaterThan(2);
    expect(JSON.parse(books()[2]!)).toMatchObject({ data: { snapshot: true } });
    // A market without changes after lost deltas: the snapshot comes once the client reads again.
    const known = books().length;
    socket.bufferedAmount = 2 << 20;
    await rest('55006');
    expect(books()).toHaveLength(known);
    socket.bufferedAmount = 0;
    await expect.poll(books).toHaveLength(known + 1);
    expect(JSON.parse(books().at(-1)!)).toMatchObject({ data: { snapshot: true } });
    socket.bufferedAmount = 9 << 20;
    await rest('55005');
    await expect.poll(() => socket.closedWith).toBe(4408);
    publisher.close();
  });
});

describe('clients that send requests and do not read', () => {
  /** Sends requests with large replies, and reads none of them. */
  async function deaf(at: Served, requests: number): Promise<WebSocket> {
    const socket = new WebSocket(`${at.url.replace('http', 'ws')}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    socket.on('error', () => undefined);
    socket.pause();
    for (let i = 0; i < requests; i++) {
      const id = String(i).padEnd(15_000, '.');
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'unsubscribe', params: {} }));
    }
    return socket;
  }

  async function open(at: Served): Promise<number> {
    const { text } = await at.send('GET', '/metrics');
    return Number(/^orrery_feed_connections (\d+)$/m.exec(text)?.[1]);
  }

  test.each([
    ['each above its own limit', 2700, {}],
    ['the largest first if the total is above the limit', 540, { backlogBytes: 2_000_000 }],
  ])('are closed, %s', async (_name, requests, limits) => {
    const bounded = await Served.start({ limits });
    await Promise.all([deaf(bounded, requests), deaf(bounded, requests), deaf(bounded, 0)]);
    expect(await open(bounded)).toBeGreaterThan(1);
    await expect.poll(() => open(bounded), { timeout: 60_000 }).toBe(1);
    await bounded.remove();
  });

  test('get the close frame behind their unread data when they read again (D-48)', async () => {
    const bounded = await Served.start();
    const socket = await deaf(bounded, 2700);
    const closed = new Promise<number>((resolve) => {
      socket.once('close', resolve);
    });
    const isClosed = async (): Promise<boolean> => {
      const { body } = await bounded.operator('status');
      const { feedBacklogBytes, feedConnections } = body as Record<string, number>;
      return feedBacklogBytes! > 8 << 20 || feedConnections === 0;
    };
    await expect.poll(isClosed, { timeout: 60_000 }).toBe(true);
    socket.resume();
    expect(await closed).toBe(4408);
    await bounded.remove();
  });
});

test('another path is not a feed', async () => {
  const socket = new WebSocket(`${served.url.replace('http', 'ws')}/other`);
  const failed = await new Promise((resolve) => {
    socket.on('error', (error) => {
      resolve(error.message);
    });
  });
  expect(failed).toContain('400');
});

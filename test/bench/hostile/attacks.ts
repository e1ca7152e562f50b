/**
 * Hostile clients, each by name: bytes that a connection writes at its start, and again after each
 * answer. Every kind is meant to cost the server more than it costs the client.
 */
import { textFrame } from '../http/raw-socket.ts';

/** Access of an attacker that may log in: any wallet can. */
export interface Login {
  readonly account: string;
  readonly token: string;
}

export interface Attack {
  /** Bytes of one request, or of several. */
  readonly bytes: (login: Login, round: number) => Buffer;
  /** Connects to /ws first. */
  readonly feed?: true;
  /** Connects again after each answer. */
  readonly churn?: true;
  /** Repeats without waiting for an answer, every so many ms. */
  readonly everyMs?: number;
  /** Reads no answers. */
  readonly deaf?: true;
  /** Closes the connection right after a request, and connects again. */
  readonly drops?: true;
  /** Changes the state, so that reads of accounts wait for the disk. */
  readonly writes?: true;
}

/** Nonces of this process begin here. */
const STARTED = Date.now() * 1000;
const SYMBOL = 'BTC-USD-PERP';
const DIGITS = `{"nonce":${'7'.repeat(1_000_000)}}`;
const NESTED = '['.repeat(500_000);
const KEYS = `{${Array.from({ length: 1200 }, (_, i) => `"k${String(i)}":1`).join(',')}}`;
const PROBE = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const GARBAGE = `${'A'.repeat(36)}.${'B'.repeat(120)}.${'C'.repeat(86)}`;

const get = (path: string, headers: readonly string[] = []): Buffer =>
  Buffer.from([`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n'));
const post = (path: string, body: string, headers: readonly string[] = []): Buffer =>
  Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
const as = ({ token }: Login): string[] => [`Authorization: Bearer ${token}`];
const bearer = (token: string): string[] => [`Authorization: Bearer ${token}`];
const of = (bytes: Buffer): Attack['bytes'] => {
  return () => bytes;
};
const rpc = (method: string, params: unknown): Buffer =>
  textFrame(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

const LOGIN = JSON.stringify({
  message: { account: `0x${'1'.repeat(40)}`, nonce: 'x', timestamp: '2024-01-01T00:00:00.000Z' },
  signature: `0x${'1'.repeat(130)}`,
  server_signature: 'x'.repeat(43),
});

const order = (account: string, nonce: number): object => ({
  account,
  subaccountIndex: 0,
  symbol: SYMBOL,
  orderType: 'limit',
  price: '59000',
  quantity: '0.001',
  nonce,
  expiresAt: 9_007_199_254_740_991,
  originator: `0x${'0'.repeat(40)}`,
  originatorFee: 0,
  flags: { ioc: false, postOnly: false, reduceOnly: false },
  signatures: [],
});
const ordersOf = (login: Login, round: number): object[] => {
  const first = STARTED + round * 100;
  return Array.from({ length: 100 }, (_, i) => order(login.account, first + i));
};
export const batch = (login: Login, round: number): Buffer =>
  post('/account/orders', JSON.stringify({ orders: ordersOf(login, round) }), as(login));
/** One order that is placed, and the next one after its answer. */
const oneOrder = (login: Login, round: number): Buffer => {
  const flags = { ioc: true, postOnly: false, reduceOnly: false };
  const body = JSON.stringify({ ...order(login.account, STARTED + round), flags });
  return post('/account/order', body, as(login));
};
const list = ({ account, token }: Login): Buffer =>
  get(`/account/orders?account=${account}&subaccountIndex=0&limit=500`, bearer(token));
const balance = ({ account, token }: Login): Buffer =>
  get(`/account/balance?account=${account}`, bearer(token));

const ofAccount = ({ account }: Login): string => `account=${account}&subaccountIndex=0`;
/** A batch, then the end of all live orders. */
const placeAndCancel = (login: Login, round: number): Buffer =>
  round % 2 === 0
    ? batch(login, round)
    : Buffer.from(
        [
          `DELETE /account/orders?${ofAccount(login)} HTTP/1.1`,
          ...['Host: x', ...as(login), '', ''],
        ].join('\r\n'),
      );
const previews = (login: Login, round: number): Buffer =>
  post('/preview/orders', JSON.stringify({ orders: ordersOf(login, round) }), as(login));
/** Cancels of 500 orders that do not exist. */
const falseCancels = (login: Login, round: number): Buffer => {
  const clientIds = Array.from({ length: 500 }, (_, i) => `none-${String(round)}-${String(i)}`);
  const body = JSON.stringify({ account: login.account, clientIds });
  return post('/account/orders/cancel', body, as(login));
};
/** About 15 KB of a key that is repeated. */
const LONG_QUERY = `/trades/${SYMBOL}?${'limit=1&'.repeat(1900)}`;
const HEADERS = Array.from({ length: 1500 }, (_, i) => `x${String(i)}: 1`);
/** Chunks of one byte with 100 bytes of extensions each. */
const EXTENSIONS = Buffer.concat([
  Buffer.from(
    'POST /auth HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  ),
  Buffer.from(`1;${'e'.repeat(100)}\r\n \r\n`.repeat(500)),
  Buffer.from('0\r\n\r\n'),
]);
/** Frames that say they are compressed, though no extension was agreed on. */
const COMPRESSED = Buffer.alloc(1000 * 7, Buffer.from([0xc1, 0x81, 0, 0, 0, 0, 0x20]));

/** A body in chunks of one byte. */
const CHUNKS = Buffer.concat([
  Buffer.from(
    'POST /auth HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  ),
  Buffer.from('1\r\n \r\n'.repeat(10_000)),
  Buffer.from('0\r\n\r\n'),
]);
/** A masked ping without a payload. */
const PINGS = Buffer.alloc(6 * 2000, Buffer.from([0x89, 0x80, 0, 0, 0, 0]));
/** One-byte fragments of a text that never ends. */
const FRAGMENTS = Buffer.concat([
  Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x20]),
  Buffer.alloc(7 * 2000, Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x20])),
]);
/** A frame of 500 KB: a larger one is refused by its length. */
const BIG = Buffer.from(`{"a":[${'1,'.repeat(250_000)}1]}`);
const BIG_FRAME = Buffer.concat([
  Buffer.from([
    0x81,
    0x80 | 127,
    0,
    0,
    0,
    0,
    0,
    BIG.length >> 16,
    (BIG.length >> 8) & 255,
    BIG.length & 255,
  ]),
  Buffer.alloc(4),
  BIG,
]);

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'a million digits to /auth': { bytes: of(post('/auth', DIGITS)) },
  'a million digits without a token': { bytes: of(post('/account/order', DIGITS)) },
  'a million digits with a token': {
    bytes: (login) => post('/account/orders', DIGITS, as(login)),
  },
  'half a million brackets': { bytes: of(post('/auth', NESTED)) },
  'many keys': { bytes: of(post('/auth', KEYS)) },
  'chunks of one byte': { bytes: of(CHUNKS) },
  'false tokens': { bytes: of(get('/account/balance', bearer(GARBAGE))) },
  'false logins': { bytes: of(post('/auth', LOGIN)) },
  challenges: { bytes: ({ account }) => get(`/auth?account=${account}`) },
  'unknown paths': { bytes: of(get('/no/such/path')) },
  '/metrics': { bytes: of(get('/metrics')) },
  '/healthz': { bytes: of(get('/healthz')) },
  'probes ahead of their answers': { bytes: of(Buffer.alloc(PROBE.length * 1000, PROBE)) },
  '/sim with a false token': { bytes: of(post('/sim/deposit', KEYS, bearer('x'))) },
  '/operator with a false token': { bytes: of(post('/operator/deposit', KEYS, bearer('x'))) },
  'scripts of the documentation': { bytes: of(get('/docs/static/swagger-ui.js')) },
  '/openapi.json, unread': { bytes: of(get('/openapi.json')), deaf: true, everyMs: 1 },
  'the deepest book': { bytes: of(get(`/book/${SYMBOL}?depth=5000`)) },
  'two thousand pipelined requests': {
    bytes: of(Buffer.alloc(27 * 2000, 'GET /time HTTP/1.1\r\nA: b\r\n\r\n'.slice(0, 27))),
  },
  'new connections': { bytes: of(get('/time', ['Connection: close'])), churn: true },
  'malformed requests': { bytes: of(Buffer.from('hello\r\n\r\n')), churn: true },
  'new feeds': { bytes: of(get('/ws', UPGRADE)), churn: true },
  'slow headers': { bytes: of(Buffer.from('X-A: b\r\n')), everyMs: 50 },
  'false logins of feeds': { bytes: of(rpc('auth', { bearer: GARBAGE })), feed: true },
  'repeated logins of feeds': {
    bytes: ({ token }) => rpc('auth', { bearer: token }),
    feed: true,
    everyMs: 1,
  },
  'unknown methods of feeds': { bytes: of(rpc('nothing', {})), feed: true },
  'invalid messages of feeds': {
    bytes: of(Buffer.concat(Array.from({ length: 500 }, () => textFrame('{')))),
    feed: true,
    everyMs: 1,
  },
  'large messages of feeds': { bytes: of(BIG_FRAME), feed: true, everyMs: 5 },
  'large messages after a login': {
    bytes: ({ token }, round) => (round === 0 ? rpc('auth', { bearer: token }) : BIG_FRAME),
    feed: true,
    everyMs: 5,
  },
  'batches of a feed': {
    writes: true,
    bytes: (login, round) =>
      round === 0
        ? rpc('auth', { bearer: login.token })
        : rpc('create', { type: 'batchOrders', orders: ordersOf(login, round) }),
    feed: true,
  },
  'pings of feeds': { bytes: of(PINGS), feed: true, everyMs: 1 },
  'fragments of feeds': { bytes: of(FRAGMENTS), feed: true, everyMs: 1 },
  'subscriptions of feeds': {
    bytes: (_login, round) =>
      rpc(round % 2 === 0 ? 'subscribe' : 'unsubscribe', { source: 'book', symbols: [] }),
    feed: true,
  },
  'filters of 500 orders': { bytes: list },
  'batches of 100 orders': { bytes: batch, writes: true },
  'batches that are dropped': { bytes: batch, writes: true, drops: true },
  'batches and their ends': { bytes: placeAndCancel, writes: true },
  'previews of batches': { bytes: previews },
  'cancels of unknown orders': { bytes: falseCancels, writes: true },
  'lists of transfers': {
    bytes: (login) => get(`/account/transfers?${ofAccount(login)}&limit=500`, as(login)),
  },
  'pages of equity': {
    bytes: (login) => get(`/account/history/equity?${ofAccount(login)}&limit=1000`, as(login)),
  },
  'all candles': { bytes: of(get(`/candles/${SYMBOL}?interval=1m&limit=5000`)) },
  'a key of a query, 1,900 times': { bytes: of(get(LONG_QUERY)) },
  '1,500 headers': { bytes: of(get('/time', HEADERS)) },
  'extensions of chunks': { bytes: of(EXTENSIONS) },
  'frames of an extension': { bytes: of(COMPRESSED), feed: true },
  preflights: {
    bytes: of(
      Buffer.from(
        'OPTIONS /account/orders HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nAccess-Control-Request-Method: POST\r\n\r\n',
      ),
    ),
  },
  // Each account looks light until all send their batch at once.
  'batches behind cheap reads': {
    writes: true,
    bytes: (login, round) => (round % 20 < 19 ? balance(login) : batch(login, round)),
  },
};

/** A client that behaves, with one connection: kinds that write are compared with it. */
export const ONE_CLIENT = 'orders of one client';
export const CLIENTS: Readonly<Record<string, Attack>> = {
  ...ATTACKS,
  [ONE_CLIENT]: { bytes: oneOrder, writes: true },
};

/**
 * The order flow of the `venue` benchmark of FLOX: limits of either side within 50 ticks of a fixed
 * price, of 1 to 5 lots, from 64 accounts, drawn by xorshift64. It is the same work as there: a self
 * trade cancels the incoming order, and 2,000,000 orders make 1,275,764 trades of 2,318,308 lots.
 *
 *     node --expose-gc --import tsx test/bench/limit-flow.ts
 *
 * Prints commands a second of processor time, without and with a sink, and bytes allocated a
 * command, as JSON. The bytes are those of V8's sampling heap profiler, with collected objects.
 */
import { Session, type HeapProfiler } from 'node:inspector';
import type { PlaceOrder } from '../../src/engine/commands.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG } from './engine-flow.ts';

raiseInliningLimits();

const ORDERS = 2_000_000;
const TRADES = 1_275_764;
const TRADED_LOTS = 2_318_308;
const ACCOUNTS = 64;
const MID = 10_000;
const SPREAD = 50n;
const WARMING = 1;
const ROUNDS = 3;
/** Commands created at a time, outside the timing. */
const BLOCK = 1000;
/** Commands before those whose allocation is measured, and their number. */
const SETTLING = 300_000;
const FAR_MS = 9_007_199_254_741n;
const WORD = (1n << 64n) - 1n;

/** Signed size, price and account of each order. */
function drawFlow() {
  const size = new Int8Array(ORDERS);
  const price = new Int32Array(ORDERS);
  const account = new Uint8Array(ORDERS);
  let state = 0x1234abcdn;
  for (let i = 0; i < ORDERS; i++) {
    state ^= (state << 13n) & WORD;
    state ^= state >> 7n;
    state ^= (state << 17n) & WORD;
    const side = (state & 1n) === 1n ? 1 : -1;
    price[i] = MID + Number(((state >> 1n) % (2n * SPREAD + 1n)) - SPREAD);
    size[i] = side * (1 + Number((state >> 10n) % 5n));
    account[i] = Number((state >> 20n) % BigInt(ACCOUNTS));
  }
  return { size, price, account };
}

const flow = drawFlow();

function openExchange(): { readonly exchange: Exchange; readonly firstUser: number } {
  const exchange = new Exchange(CONFIG);
  const at = CONFIG.genesisTimeUs;
  const spec = parseMarketSpec(
    {
      symbol: 'BENCH',
      tickSize: '0.01',
      lotSize: '1',
      initialMargin: '0.05',
      priceBand: '0.1',
      maxOpenOrders: 1_000_000,
      maxQuantity: '1000000',
      maxPrice: '1000000',
      maxOpenInterest: '1000000000',
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  exchange.apply({ kind: 'listMarket', timeUs: at, spec: spec.value });
  for (let i = 0; i < ACCOUNTS; i++) {
    const account = accountAddress(i);
    const amount = quanta(1_000_000_000_000_000n);
    exchange.apply({ kind: 'deposit', timeUs: at, account, subaccountIndex: 0, amount });
  }
  const first = exchange.subaccountIdOf(accountAddress(0), 0);
  if (first === undefined) throw new Error('the first account has a subaccount');
  const index = { market: marketId(0), priceTicks: priceTicks(MID), text: '100' };
  exchange.apply({ kind: 'setIndex', timeUs: at, ...index });
  return { exchange, firstUser: first };
}

function commandsOf(from: number, firstUser: number): PlaceOrder[] {
  return Array.from({ length: BLOCK }, (_, k): PlaceOrder => {
    const i = from + k;
    return {
      kind: 'placeOrder',
      timeUs: timeUs(CONFIG.genesisTimeUs + i),
      subaccount: subaccountId(firstUser + (flow.account[i] ?? 0)),
      market: marketId(0),
      orderType: 'limit',
      lots: lots(flow.size[i] ?? 0),
      priceTicks: priceTicks(flow.price[i] ?? 0),
      ioc: false,
      postOnly: false,
      reduceOnly: false,
      nonce: BigInt(i),
      expiresAtMs: FAR_MS,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    };
  });
}

/** Commands a second. */
function round(sink?: (event: EngineEvent) => void): number {
  const { exchange, firstUser } = openExchange();
  globalThis.gc?.();
  let us = 0;
  for (let from = 0; from < ORDERS; from += BLOCK) {
    const commands = commandsOf(from, firstUser);
    const before = process.cpuUsage();
    for (const command of commands) exchange.apply(command, sink);
    const { user, system } = process.cpuUsage(before);
    us += user + system;
  }
  return ORDERS / (us / 1e6);
}

/** Named, because its callees are found by its name in the profile. */
function applyBlock(exchange: Exchange, commands: readonly PlaceOrder[]): void {
  for (const command of commands) exchange.apply(command);
}

/** Bytes that the engine allocates for a command, on a book that has seen `SETTLING` of them. */
function allocatedEach(): number {
  const { exchange, firstUser } = openExchange();
  const play = (from: number, to: number): void => {
    for (; from < to; from += BLOCK) applyBlock(exchange, commandsOf(from, firstUser));
  };
  play(0, SETTLING);
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  } as HeapProfiler.StartSamplingParameterType);
  play(SETTLING, 2 * SETTLING);
  let bytes = 0;
  const sum = (node: HeapProfiler.SamplingHeapProfileNode, isInside: boolean): void => {
    const counts = isInside || node.callFrame.functionName === applyBlock.name;
    if (counts) bytes += node.selfSize;
    for (const child of node.children) sum(child, counts);
  };
  session.post('HeapProfiler.stopSampling', (error, result) => {
    if (error !== null) throw error;
    sum(result.profile.head, false);
  });
  session.disconnect();
  return bytes / SETTLING;
}

/** The work is FLOX's: its number of trades and lots. */
function checkWork(): void {
  let trades = 0;
  let traded = 0;
  round((event) => {
    if (event.kind !== 'tradePrinted') return;
    trades += 1;
    traded += Math.abs(event.lots);
  });
  if (trades === TRADES && traded === TRADED_LOTS) return;
  throw new Error(`${String(trades)} trades of ${String(traded)} lots are not the peer's work`);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

checkWork();
const unheard: number[] = [];
const delivered: number[] = [];
let indexes = 0;
for (let i = -WARMING; i < ROUNDS; i++) {
  const alone = round();
  const withSink = round(({ index }) => (indexes += index));
  if (i < 0) continue;
  unheard.push(alone);
  delivered.push(withSink);
}
const perSecond = median(unheard);
const withSink = median(delivered);
console.log(
  JSON.stringify({
    perSecond: Math.round(perSecond),
    withSink: Math.round(withSink),
    sinkRatio: perSecond / withSink,
    bytesEach: Math.round(allocatedEach()),
    delivered: indexes > 0,
  }),
);

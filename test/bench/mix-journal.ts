/** Journals for the time machine: a million commands of the mix, and recorded depth by size. */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { JournalWriter } from '../../src/journal/format/frames.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  quanta,
  seq,
  subaccountId,
  timeUs,
  type TimeUs,
} from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG, Flow, openingCommands } from './engine-flow.ts';
import { makeMix } from './mix.ts';

export interface MixJournal {
  readonly bytes: Uint8Array;
  /** First four bytes of the chain hash after each command. */
  readonly hashes: Uint32Array;
}

export function journalOfMix(commands: number): MixJournal {
  const mix = makeMix(commands);
  const flow = new Flow(mix);
  const writer = new JournalWriter(CONFIG);
  const engine = new Exchange(CONFIG);
  const opening = openingCommands();
  const hashes = new Uint32Array(commands + 1);
  const apply = (command: Command): void => {
    if (engine.seq >= commands) return;
    writer.append(seq(engine.seq + 1), command);
    engine.apply(command);
    hashes[engine.seq] = wordOf(engine.chainHash());
  };
  opening.forEach(apply);
  for (let i = 0; i < mix.count && engine.seq < commands; i++) {
    flow.commands(i, i + 1).forEach(apply);
  }
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  return { bytes: writer.bytes(), hashes };
}

export interface LiquidationJournal {
  readonly bytes: Uint8Array;
  readonly account: number;
  /** The command that liquidates the account. */
  readonly liquidationSeq: number;
}

/** Commands between two moves of the oracle, before and during the fall at the end. */
const MOVE_EVERY = 1000;
const FALL_EVERY = 10;
const FALL_TICKS = 25;
/** Commands of the mix before the end at which the account buys. */
const FALL_BEFORE_END = 4000;

/** The mix with moves of the oracle; at its end, prices fall and liquidate an account. */
export function journalOfLiquidation(commands: number): LiquidationJournal {
  const mix = makeMix(commands);
  const flow = new Flow(mix);
  const writer = new JournalWriter(CONFIG);
  const engine = new Exchange(CONFIG);
  let account = -1;
  let liquidationSeq = 0;
  let ticks = 100_000;
  let state = 1;
  let bought = Infinity;
  const apply = (command: Command): void => {
    writer.append(seq(engine.seq + 1), command);
    engine.apply(command, (event) => {
      if (event.kind !== 'liquidationStep' || event.subaccount !== account) return;
      if (event.step !== 'safe') liquidationSeq ||= engine.seq;
    });
  };
  const move = (by: number): void => {
    ticks += by;
    const priceText = String(ticks / 10);
    apply({
      kind: 'setIndex',
      timeUs: engine.nowUs,
      market: marketId(0),
      priceTicks: priceTicks(ticks),
      text: priceText,
    });
  };
  openingCommands().forEach(apply);
  for (let i = 0; liquidationSeq === 0 && i < mix.count; i++) {
    for (const command of flow.commands(i, i + 1)) {
      // The account's order has shifted the ids of later ones.
      const isLater = command.kind === 'cancelOrder' && command.orderId >= bought;
      apply(isLater ? { ...command, orderId: orderId(command.orderId + 1) } : command);
    }
    if (i % MOVE_EVERY === 0) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      // Prices return to where the mix trades.
      move((state % 41) - 20 + (ticks > 100_000 ? -2 : 2));
    }
    if (i === commands - FALL_BEFORE_END) {
      const owner = accountAddress(LATE);
      const at = engine.nowUs;
      const amount = quanta(300_000_000n);
      apply({ kind: 'deposit', timeUs: at, account: owner, subaccountIndex: 0, amount });
      account = engine.subaccountIdOf(owner, 0) ?? -1;
      bought = engine.lastOrderId + 1;
      apply(marketBuy(account, 500, ticks + 1000, at));
    }
    if (i > commands - FALL_BEFORE_END && i % FALL_EVERY === 0) move(-FALL_TICKS);
  }
  if (liquidationSeq === 0) throw new Error('the account is not liquidated');
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  return { bytes: writer.bytes(), account, liquidationSeq };
}

/** First four bytes of a hash in hex. */
export const wordOf = (hash: string): number => Number.parseInt(hash.slice(0, 8), 16);

/** Number of the account that joins for its liquidation. */
const LATE = 5000;

const LEVELS = 100;
const WRITTEN_AT_ONCE = 16 << 20;

/** Writes a journal of recorded depth of at least `bytes`; returns the chain hash at its end. */
export function writeDepthJournal(file: string, bytes: number): string {
  const spec = parseMarketSpec(
    {
      symbol: 'DEPTH',
      tickSize: '0.1',
      lotSize: '0.001',
      markSource: 'mid',
      recordedLiquidity: 'true',
    },
    keccak,
  );
  if (!spec.ok) throw new Error(spec.error);
  const to = openSync(file, 'w');
  const engine = new Exchange(CONFIG);
  let writer = new JournalWriter(CONFIG);
  let written = 0;
  const flush = (): void => {
    const made = writer.bytes();
    for (let from = 0; from < made.length;) from += writeSync(to, made, from);
    written += made.length;
    writer = new JournalWriter({ seq: engine.seq, timeUs: engine.nowUs });
  };
  const apply = (command: Command): void => {
    writer.append(seq(engine.seq + 1), command);
    engine.apply(command);
  };
  apply({ kind: 'listMarket', timeUs: CONFIG.genesisTimeUs, spec: spec.value });
  let state = 1;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 0x100000000) * bound);
  };
  for (let i = 1, pending = 0; written < bytes; i++) {
    const levels = Array.from({ length: LEVELS }, (_, k) => {
      const isBid = k % 2 === 0;
      return {
        side: isBid ? ('bid' as const) : ('ask' as const),
        priceTicks: priceTicks(1_000_000 + (isBid ? -1 - below(500) : 1 + below(500))),
        lots: lots(1 + below(1_000_000_000)),
      };
    });
    const at = timeUs(CONFIG.genesisTimeUs + i * 1000);
    apply({ kind: 'tapeDepth', timeUs: at, market: marketId(0), levels });
    pending += LEVELS * 10;
    if (pending < WRITTEN_AT_ONCE) continue;
    pending = 0;
    flush();
  }
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  flush();
  closeSync(to);
  return engine.chainHash();
}

function marketBuy(account: number, size: number, limit: number, at: TimeUs): Command {
  return {
    kind: 'placeOrder',
    timeUs: at,
    subaccount: subaccountId(account),
    market: marketId(0),
    orderType: 'limit',
    lots: lots(size),
    priceTicks: priceTicks(limit),
    ioc: true,
    postOnly: false,
    reduceOnly: false,
    nonce: 1n,
    expiresAtMs: 9_007_199_254_741n,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
}

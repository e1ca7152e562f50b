/**
 * Processor time of a command on exchanges of growing size, each in a process of its own. In the
 * rows "idle" the same 1,000 accounts trade near the middle while the rest waits; in the rows "at
 * random" each command is for another order or account, drawn from all. The row of bare memory
 * reads as many bytes an item at random. Prints nanoseconds a command, and their ratio to the
 * smallest size; each figure is the least of the rounds.
 *
 *     npm run bench:one -- test/bench/growth.ts [--only <text>] [--rounds 2]
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import type { Command } from '../../src/engine/commands.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { parseMarketSpec } from '../../src/gateway/market-config.ts';
import {
  lots,
  marketId,
  orderId,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
  type SubaccountId,
} from '../../src/num/units.ts';
import { raiseInliningLimits } from '../../src/platform/inlining-limits.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { accountAddress, CONFIG } from './engine-flow.ts';

raiseInliningLimits();

const SIZES = [1000, 10_000, 100_000, 1_000_000];
const MARKETS = [1, 10, 50, 200];
const ACTIVE = 1000;
const FIRST_USER = 6;
const MID = 100_000;
const WARMING = 100_000;
const MEASURED = 200_000;
/** Steps after which an active order is cancelled, if it still rests. */
const LIFETIME = 500;
/** Commands that are made at a time, outside the timing. */
const BLOCK = 1000;
const FAR_MS = 9_007_199_254_741n;
/** Of an account with a position, its margin and its order, about. */
const ITEM_BYTES = 512;

type Mode =
  | 'orders idle'
  | 'orders at random'
  | 'stops idle'
  | 'accounts idle'
  | 'positions idle'
  | 'positions at random'
  | 'markets'
  | 'memory at random';

const MODES: Readonly<Record<Mode, readonly number[]>> = {
  'orders idle': SIZES,
  'stops idle': SIZES,
  'accounts idle': SIZES,
  'positions idle': SIZES,
  markets: MARKETS,
  'orders at random': SIZES,
  'positions at random': SIZES,
  'memory at random': SIZES,
};

/** Numbers below `n`, the same in every run. */
class Draw {
  private state = 0x2545f491;

  below(n: number): number {
    let s = this.state;
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    this.state = s;
    return (s >>> 0) % n;
  }
}

class World {
  readonly exchange = new Exchange(CONFIG);
  readonly draw = new Draw();
  private now: number = CONFIG.genesisTimeUs;
  /** Orders that were ever accepted: the id of the last one. */
  placed = 0;
  private nonce = 0;

  constructor(markets: number, accounts: number) {
    for (let i = 0; i < markets; i++) this.list(i);
    for (let i = 0; i < accounts; i++) {
      this.exchange.apply({
        kind: 'deposit',
        timeUs: this.at(),
        account: accountAddress(i),
        subaccountIndex: 0,
        amount: quanta(1_000_000_000_000n),
      });
    }
  }

  private list(i: number): void {
    const spec = parseMarketSpec(
      {
        symbol: `M${String(i)}`,
        ...{ tickSize: '0.1', lotSize: '0.001', maxOpenOrders: 1_000_000 },
        ...{ priceBand: '0.5', markSource: 'external', funding: { source: 'external' } },
        ...{ maxQuantity: '1000000', maxOpenInterest: '1000000000', maxPrice: '1000000' },
      },
      keccak,
    );
    if (!spec.ok) throw new Error(spec.error);
    const market = marketId(i);
    const price = { market, priceTicks: priceTicks(MID), text: '10000' };
    this.exchange.apply({ kind: 'listMarket', timeUs: this.at(), spec: spec.value });
    this.exchange.apply({ kind: 'setIndex', timeUs: this.at(), ...price });
    this.exchange.apply({ kind: 'setMark', timeUs: this.at(), ...price });
  }

  at(): ReturnType<typeof timeUs> {
    return timeUs(this.now++);
  }

  private terms(size: number, ticks: number, market: number) {
    return {
      market: marketId(market),
      lots: lots(size),
      priceTicks: priceTicks(ticks),
      ...{ ioc: false, postOnly: false, reduceOnly: false },
      nonce: BigInt(++this.nonce),
      expiresAtMs: FAR_MS,
      ...{ clientId: null, originator: null, originatorFeePpm: ppm(0) },
    };
  }

  limit(owner: SubaccountId, size: number, ticks: number, market = 0): Command {
    this.placed += 1;
    return {
      ...{ kind: 'placeOrder', timeUs: this.at(), subaccount: owner, delegate: null },
      ...this.terms(size, ticks, market),
      orderType: 'limit',
    };
  }

  stop(owner: SubaccountId, ticks: number): Command {
    this.placed += 1;
    const order = {
      ...{
        ...this.terms(-1, 1, 0),
        orderType: 'stopLoss' as const,
        triggerTicks: priceTicks(ticks),
      },
      ...{ ioc: true, reduceOnly: true, trailingPpm: null, periodMs: null },
      ...{ parent: null, attached: false },
    };
    const kind = 'placeOrders' as const;
    return { kind, timeUs: this.at(), subaccount: owner, delegate: null, orders: [order] };
  }

  cancel(id: number): Command {
    return { kind: 'cancelOrder', timeUs: this.at(), orderId: orderId(id) };
  }

  /** Applies a command that must succeed. */
  must(command: Command): void {
    const outcome = this.exchange.apply(command);
    if (outcome !== 'ok') throw new Error(`${command.kind}: ${outcome.code}`);
  }
}

/** An exchange, and its next command. */
type Flow = readonly [World, () => Command];

const user = (i: number): SubaccountId => subaccountId(FIRST_USER + i);

/** Limits near the middle by the first accounts, and cancels of those that still rest. */
function active(world: World, markets = 1): () => Command {
  const ids: number[] = [];
  let step = 0;
  return () => {
    step += 1;
    if (step % 2 === 0 && ids.length > LIFETIME) return world.cancel(ids.shift() ?? 0);
    const size = world.draw.below(2) === 0 ? 2 : -2;
    const ticks = MID + world.draw.below(41) - 20;
    const command = world.limit(user(step % ACTIVE), size, ticks, step % markets);
    ids.push(world.placed);
    return command;
  };
}

/** A price far from the middle, of a buy or a sell. */
const farTicks = (world: World, size: number): number =>
  MID - Math.sign(size) * (1000 + world.draw.below(10_000));

function restFar(world: World, owner: SubaccountId): number {
  const size = world.draw.below(2) === 0 ? 1 : -1;
  world.must(world.limit(owner, size, farTicks(world, size)));
  return world.placed;
}

/** Each account buys from the first one. */
function openPositions(world: World, accounts: number): void {
  for (let i = 1; i < accounts; i++) {
    world.must(world.limit(user(0), -1, MID));
    world.must(world.limit(user(i), 1, MID));
  }
}

const SETUPS: Readonly<Record<Exclude<Mode, 'memory at random'>, (size: number) => Flow>> = {
  'orders idle': (size) => {
    const world = new World(1, 2 * ACTIVE);
    for (let i = 0; i < size; i++) restFar(world, user(ACTIVE + (i % ACTIVE)));
    return [world, active(world)];
  },
  'stops idle': (size) => {
    const world = new World(1, 2 * ACTIVE);
    openPositions(world, 2 * ACTIVE);
    for (let i = 0; i < size; i++) {
      world.must(world.stop(user(ACTIVE + (i % ACTIVE)), MID - 1000 - world.draw.below(10_000)));
    }
    return [world, active(world)];
  },
  'accounts idle': (size) => {
    const world = new World(1, ACTIVE + size);
    return [world, active(world)];
  },
  'positions idle': (size) => {
    const world = new World(1, ACTIVE + size);
    openPositions(world, ACTIVE + size);
    return [world, active(world)];
  },
  markets: (count) => {
    const world = new World(count, ACTIVE);
    return [world, active(world, count)];
  },
  'orders at random': (size) => {
    const world = new World(1, ACTIVE);
    const ids = Array.from({ length: size }, (_, i) => restFar(world, user(i % ACTIVE)));
    let next = -1;
    return [
      world,
      () => {
        if (next < 0) {
          next = world.draw.below(size);
          return world.cancel(ids[next] ?? 0);
        }
        const side = world.draw.below(2) === 0 ? 1 : -1;
        const command = world.limit(user(next % ACTIVE), side, farTicks(world, side));
        ids[next] = world.placed;
        next = -1;
        return command;
      },
    ];
  },
  'positions at random': (size) => {
    const world = new World(1, size);
    openPositions(world, size);
    let isMaker = false;
    return [
      world,
      () => {
        isMaker = !isMaker;
        return world.limit(user(world.draw.below(size)), isMaker ? 1 : -1, MID);
      },
    ];
  },
};

/** Nanoseconds of processor time a command, and the share of commands that were refused. */
function measure([{ exchange }, next]: Flow): { readonly ns: number; readonly refused: number } {
  let refused = 0;
  const run = (count: number): number => {
    let us = 0;
    for (let done = 0; done < count; done += BLOCK) {
      const block = Array.from({ length: BLOCK }, next);
      const before = process.cpuUsage();
      for (const command of block) {
        if (exchange.apply(command) !== 'ok') refused += 1;
      }
      const { user: own, system } = process.cpuUsage(before);
      us += own + system;
    }
    return us;
  };
  run(WARMING);
  globalThis.gc?.();
  refused = 0;
  const us = run(MEASURED);
  return { ns: (us * 1000) / MEASURED, refused: refused / MEASURED };
}

/** A loop that reads and writes eight places of an item at random. */
function memory(items: number): { readonly ns: number; readonly refused: number } {
  const words = ITEM_BYTES / 8;
  const bytes = new Float64Array(items * words);
  const draw = new Draw();
  const run = (): number => {
    const before = process.cpuUsage();
    for (let i = 0; i < MEASURED; i++) {
      const at = draw.below(items) * words;
      for (let j = 0; j < words; j += 8) bytes[at + j] = (bytes[at + j] ?? 0) + j;
    }
    const { user: own, system } = process.cpuUsage(before);
    return own + system;
  };
  run();
  return { ns: (run() * 1000) / MEASURED, refused: 0 };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '2' },
  },
});
const [mode, size] = positionals;
if (mode !== undefined) {
  const count = Number(size);
  const result =
    mode === 'memory at random'
      ? memory(count)
      : measure(SETUPS[mode as Exclude<Mode, 'memory at random'>](count));
  console.log(JSON.stringify(result));
} else {
  const table = new Table({
    head: ['ns a command', ...['first', '', '', 'last', 'ratio', 'refused']],
    style: { head: [], border: [], compact: true },
  });
  for (const [name, sizes] of Object.entries(MODES)) {
    if (!name.includes(values.only)) continue;
    const best = sizes.map(() => ({ ns: Infinity, refused: 0 }));
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [i, count] of sizes.entries()) {
        const child = spawnSync(
          process.execPath,
          [
            ...['--max-old-space-size=16384', ...process.execArgv],
            ...[fileURLToPath(import.meta.url), name, String(count)],
          ],
          { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
        );
        if (child.status !== 0) throw new Error(`${name} ${String(count)} failed`);
        const figure = JSON.parse(child.stdout) as { ns: number; refused: number };
        if (figure.ns < (best[i]?.ns ?? 0)) best[i] = figure;
      }
    }
    const ns = best.map((one) => one.ns);
    const ratio = (ns.at(-1) ?? 0) / (ns[0] ?? 1);
    const refused = Math.max(...best.map((one) => one.refused));
    console.error(name, ...ns.map((one) => one.toFixed(0)), ratio.toFixed(2), refused.toFixed(3));
    table.push([name, ...ns.map((one) => one.toFixed(0)), ratio.toFixed(2), refused.toFixed(3)]);
  }
  console.log(table.toString());
}

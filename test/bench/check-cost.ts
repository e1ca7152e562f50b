/**
 * Cost of checking: commands of the fuzzer applied to an engine alone, to one with all invariants
 * checked every 64 commands, and to one compared with the oracle after each command. Those commands
 * are created in advance. Also whole runs as in `orrery fuzz`, with generation and counting. One
 * core; variants alternate. Prints medians as JSON.
 *
 * No garbage collection is forced between rounds, as in a campaign: a forced one makes V8 discard
 * compiled code of classes without live objects, and recompilation would dominate the timing.
 */
import { performance } from 'node:perf_hooks';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { runBatch } from '../../src/fuzz/campaign.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { CommandGenerator } from '../../src/fuzz/generator.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';
import { stateInvariants } from '../../src/fuzz/state-checker.ts';

const ROUNDS = 5;
const LIVES = 16;
/** Commands between two state scans, as in `orrery fuzz`. */
const EVERY = 64;
const COMMANDS = 4000;

interface Lifecycle {
  readonly config: ExchangeConfig;
  readonly commands: readonly Command[];
}

function live(seed: number): Lifecycle {
  const name = PROFILE_NAMES[seed % PROFILE_NAMES.length] ?? 'swarm';
  const profile = drawProfile(String(seed), { name, commands: COMMANDS });
  const setup = setUp(profile);
  const exchange = new Exchange(setup.config);
  const generator = new CommandGenerator(profile, exchange, setup);
  const commands: Command[] = [];
  for (let command = generator.next(); command !== null; command = generator.next()) {
    commands.push(command);
    exchange.apply(command, generator.observe);
  }
  return { config: setup.config, commands };
}

const lives = Array.from({ length: LIVES }, (_, seed) => live(seed));

/**
 * Commands per second of wall time and of processor time; the latter is stable under other load.
 */
interface Rate {
  readonly wall: number;
  readonly cpu: number;
}

/** `run` returns the number of commands applied. */
function rateOf(run: () => number): Rate {
  const before = process.cpuUsage();
  const started = performance.now();
  const commands = run();
  const wallMs = performance.now() - started;
  const { user, system } = process.cpuUsage(before);
  return { wall: commands / (wallMs / 1000), cpu: commands / ((user + system) / 1e6) };
}

/** Over all runs. */
function perSecond(open: (config: ExchangeConfig) => (command: Command) => void): Rate {
  return rateOf(() => {
    for (const { config, commands } of lives) {
      const apply = open(config);
      for (const command of commands) apply(command);
    }
    return LIVES * COMMANDS;
  });
}

const alone = (): Rate =>
  perSecond((config) => {
    const exchange = new Exchange(config);
    return (command) => exchange.apply(command, () => undefined);
  });

const together = (): Rate =>
  perSecond((config) => {
    const lockstep = new Lockstep(new Exchange(config));
    return (command) => {
      const { divergence } = lockstep.apply(command);
      if (divergence !== null) throw new Error(divergence.what);
    };
  });

const sampled = (): Rate =>
  perSecond((config) => {
    const exchange = new Exchange(config);
    const checker = stateInvariants(EVERY);
    return (command) => {
      const outcome = exchange.apply(command, () => undefined);
      if (checker.after(exchange, command, outcome) !== null) throw new Error('violated');
    };
  });

/** Runs of a campaign as in a worker: generated, applied, checked, counted. */
function campaign(): Rate {
  const plan = {
    seed: 'bench',
    profile: 'all',
    commands: COMMANDS,
    oracle: false,
    every: EVERY,
  } as const;
  return rateOf(() => {
    const { commands, failed } = runBatch(plan, 0, LIVES);
    if (failed !== null) throw new Error(failed.violation.detail);
    return commands;
  });
}

interface Figure {
  readonly alone: Rate;
  readonly sampled: Rate;
  readonly campaign: Rate;
  readonly together: Rate;
}

const figures: Figure[] = [];
for (let round = -1; round < ROUNDS; round++) {
  const figure = {
    alone: alone(),
    sampled: sampled(),
    campaign: campaign(),
    together: together(),
  };
  // The first round warms the compiler.
  if (round >= 0) figures.push(figure);
}
const median = (of: (figure: Figure) => number): number =>
  figures.map(of).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;

/** A batch is one command, and counts as one request per order. */
const requests = lives
  .flatMap(({ commands }) => commands)
  .reduce((sum, c) => sum + (c.kind === 'placeOrders' ? c.orders.length : 1), 0);

console.log(
  JSON.stringify({
    commands: LIVES * COMMANDS,
    requests,
    sampledPerSecond: median(({ sampled: { wall } }) => wall),
    sampledPerCpuSecond: median(({ sampled: { cpu } }) => cpu),
    campaignPerSecond: median(({ campaign: { wall } }) => wall),
    campaignPerCpuSecond: median(({ campaign: { cpu } }) => cpu),
    sampledRatio: median(({ alone: rate, sampled: other }) => rate.cpu / other.cpu),
    lockstepPerSecond: median(({ together: { wall } }) => wall),
    lockstepPerCpuSecond: median(({ together: { cpu } }) => cpu),
    ratio: median(({ alone: rate, together: other }) => rate.cpu / other.cpu),
  }),
);

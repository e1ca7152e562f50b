/**
 * What lockstep costs: lives of the fuzzer applied to an engine alone, and to an engine with the oracle beside it, compared after each command. The
 * commands are made before; both take turns. Prints medians as JSON.
 */
import { performance } from 'node:perf_hooks';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { CommandGenerator } from '../../src/fuzz/generator.ts';
import { Lockstep } from '../../src/fuzz/oracle/lockstep.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { setUp } from '../../src/fuzz/run-setup.ts';

const ROUNDS = 5;
const LIVES = 21;
const COMMANDS = 1000;

interface Life {
  readonly config: ExchangeConfig;
  readonly commands: readonly Command[];
}

function live(seed: number): Life {
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

/** Commands a second over all lives. */
function perSecond(open: (config: ExchangeConfig) => (command: Command) => void): number {
  globalThis.gc?.();
  const started = performance.now();
  for (const { config, commands } of lives) {
    const apply = open(config);
    for (const command of commands) apply(command);
  }
  return (LIVES * COMMANDS) / ((performance.now() - started) / 1000);
}

const alone = (): number =>
  perSecond((config) => {
    const exchange = new Exchange(config);
    return (command) => exchange.apply(command, () => undefined);
  });

const together = (): number =>
  perSecond((config) => {
    const lockstep = new Lockstep(new Exchange(config));
    return (command) => {
      const { divergence } = lockstep.apply(command);
      if (divergence !== null) throw new Error(divergence.what);
    };
  });

const figures: { alone: number; together: number }[] = [];
for (let round = -1; round < ROUNDS; round++) {
  const figure = { alone: alone(), together: together() };
  // The first round warms the compiler.
  if (round >= 0) figures.push(figure);
}
const median = (of: (figure: { alone: number; together: number }) => number): number =>
  figures.map(of).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;

console.log(
  JSON.stringify({
    commands: LIVES * COMMANDS,
    lockstepPerSecond: median(({ together: rate }) => rate),
    ratio: median(({ alone: rate, together: other }) => rate / other),
  }),
);

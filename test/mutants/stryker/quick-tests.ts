/**
 * Tests of the first stage of `npm run stryker` (`.ci/stryker-runner.mjs`), without vitest: runs of
 * every profile of the fuzzer beside the oracle, and the scenarios with their golden hashes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from '../../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../../src/engine/config.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { checkCommands } from '../../../src/fuzz/check-journal.ts';
import { drawProfile } from '../../../src/fuzz/draw-profile.ts';
import { runFuzz } from '../../../src/fuzz/fuzz-run.ts';
import { PROFILE_NAMES, type FuzzProfile, type ProfileName } from '../../../src/fuzz/profile.ts';
import { allRows } from '../../../src/journal/diff/state-rows.ts';
import { JournalReader } from '../../../src/journal/format/frames.ts';
import { parseScenario } from '../../../src/scenario/parse.ts';
import { runScenario } from '../../../src/scenario/run-scenario.ts';
import { formatProblem } from '../../../src/scenario/source-node.ts';
import { addressOfName, keccak } from '../../../src/wallet/crypto-ports.ts';

/** The runner calls `record` and `judge` without a mutant, then the others with each mutant. */
export interface QuickTest {
  readonly name: string;
  /** Notes what a run without a mutant answers; once, before `differsAt`. */
  record(): void;
  /** The first command whose answer or state differs from the record; -1 if none does. */
  differsAt(): number;
  /** The whole test; with `upTo`, its part up to a command, and restores. Null, or the failure. */
  judge(upTo?: number): string | null;
}

const RUNS_EACH = 2;
const COMMANDS = 600;
/** Commands between two comparisons of the state. */
const STATE_EVERY = 64;
/** Commands between two restores from a snapshot, which change no answer. */
const RESTORE_EVERY = 100;

/** A run of the fuzzer, or a journal. */
interface Recording {
  readonly config: ExchangeConfig;
  readonly commands: readonly Command[];
}

/** A number that depends on every field of every event so far. */
class EventSum {
  sum = 0;
  readonly add = (event: object): void => {
    for (const value of Object.values(event) as unknown[]) this.sum = mixed(this.sum, value);
  };
}

function mixed(sum: number, value: unknown): number {
  switch (typeof value) {
    case 'number':
      return (Math.imul(sum, 31) + (value % 0x7fff_fff1)) | 0;
    case 'bigint':
      return mixed(sum, Number(value % 0x7fff_fff1n));
    case 'string':
      return mixed(mixed(sum, value.length), value.charCodeAt(0));
    case 'object':
      return value === null
        ? mixed(sum, 2)
        : (Object.values(value) as unknown[]).reduce<number>(mixed, mixed(sum, 3));
    default:
      return mixed(sum, value === true ? 4 : 5);
  }
}

/** A run is compared with its record at full speed; only the oracle decides that it fails. */
export function testOf(name: string, recorded: () => Recording): QuickTest {
  let recording: Recording | null = null;
  const hashes: string[] = [];
  const sums: number[] = [];
  const states = new Map<number, string>();
  const known = (): Recording => (recording ??= recorded());
  return {
    name,
    record: () => {
      const { config, commands } = known();
      let engine = new Exchange(config);
      const events = new EventSum();
      for (const [i, command] of commands.entries()) {
        if (i % RESTORE_EVERY === RESTORE_EVERY - 1) engine = engine.fork();
        engine.apply(command, events.add);
        hashes.push(engine.chainHash());
        sums.push(events.sum);
        if (isSampled(i, commands)) states.set(i, stateOf(engine));
      }
    },
    differsAt: () => {
      const { config, commands } = known();
      let at = 0;
      try {
        let engine = new Exchange(config);
        const events = new EventSum();
        for (const command of commands) {
          if (at % RESTORE_EVERY === RESTORE_EVERY - 1) engine = engine.fork();
          engine.apply(command, events.add);
          if (events.sum !== sums[at] || engine.chainHash() !== hashes[at]) return at;
          if (isSampled(at, commands) && stateOf(engine) !== states.get(at)) return at;
          at += 1;
        }
      } catch {
        return at;
      }
      return -1;
    },
    judge: (upTo) => {
      const { config, commands } = known();
      const part = upTo === undefined ? commands : commands.slice(0, upTo + 1);
      const failure =
        checkCommands(config, part, { checks: ['state', 'oracle'], every: 64 }) ??
        (upTo === undefined
          ? null
          : checkCommands(config, part, { checks: ['restore'], every: 64 }));
      if (failure === null) return null;
      const { rule, detail } = failure.violation;
      return `${rule}: ${detail}`;
    },
  };
}

const isSampled = (i: number, commands: readonly Command[]): boolean =>
  i % STATE_EVERY === STATE_EVERY - 1 || i === commands.length - 1;

/** Hashed state, and the figures that follow from it. */
const stateOf = (engine: Exchange): string =>
  engine.stateHash() +
  allRows(engine)
    .map(({ value }) => value)
    .join();

/** The commands that the generator makes for the exchange without a mutant. */
function drawn(profile: FuzzProfile): Recording {
  const commands: Command[] = [];
  const nothing = { after: () => null };
  const { engine } = runFuzz(profile, nothing, {
    onCommand: (command) => {
      commands.push(command);
      return false;
    },
  });
  return { config: engine.config, commands };
}

const SCENARIOS = new URL('../../../scenarios/', import.meta.url);
const CORPUS = new URL('../../fuzz/corpus/', import.meta.url);
/** Scenarios that take seconds. */
const LONG = ['black-friday.yaml'];

const ending = (folder: URL, end: string): string[] =>
  readdirSync(folder).filter((name) => name.endsWith(end) && !LONG.includes(name));

/** A scenario meets its expectations, ends with its golden hash, and agrees with the oracle. */
function scenarioTest(name: string): QuickTest {
  const run = (): { failure: string | null; journal: Uint8Array | null } => {
    const text = readFileSync(new URL(name, SCENARIOS), 'utf8');
    const parsed = parseScenario(text, name, keccak);
    if (!parsed.ok) {
      const problems = parsed.problems.map((problem) => formatProblem(name, problem));
      return { failure: problems.join('\n'), journal: null };
    }
    const { scenario } = parsed;
    const { passed, stateHash, journal } = runScenario(scenario, {
      keccak,
      addressOf: addressOfName,
    });
    if (!passed) return { failure: 'a step differs from its expectation', journal };
    const golden = stateHash === scenario.expect.stateHash;
    return { failure: golden ? null : 'the state hash is not the golden one', journal };
  };
  const commands = testOf(name, () => {
    const { journal, failure } = run();
    if (journal === null) throw new Error(`${name}: ${String(failure)}`);
    return commandsOf(journal);
  });
  return {
    ...commands,
    judge: (upTo) => {
      const failure = upTo === undefined ? null : commands.judge(upTo);
      return failure ?? run().failure;
    },
  };
}

function commandsOf(journal: Uint8Array): Recording {
  const reader = new JournalReader(journal);
  const commands: Command[] = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command') commands.push(frame.command);
  }
  return { config: reader.header.config, commands };
}

const runsOf = (name: ProfileName, runs: number): QuickTest[] =>
  Array.from({ length: runs }, (_, run) =>
    testOf(`${name} ${String(run)}`, () => {
      const profile = drawProfile(`stryker ${String(run)}`, { name });
      return drawn({ ...profile, commands: Math.min(profile.commands, COMMANDS) });
    }),
  );

/** `runs`: the runs of some profiles; the others have two each. */
export const quickTests = (runs: Partial<Record<ProfileName, number>> = {}): QuickTest[] => [
  ...ending(CORPUS, '.orrery').map((name) =>
    testOf(name, () => commandsOf(readFileSync(new URL(name, CORPUS)))),
  ),
  ...ending(SCENARIOS, '.yaml').map(scenarioTest),
  ...PROFILE_NAMES.flatMap((name) => runsOf(name, runs[name] ?? RUNS_EACH)),
];

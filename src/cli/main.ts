#!/usr/bin/env node
/**
 * `orrery`: each command is a module that is imported only when it runs, so that `--help` is fast.
 */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Argv, CommandModule } from 'yargs';
import { raiseInliningLimits } from '../platform/inlining-limits.ts';
import { explainFailure, InputError, print, takeExitCode, watchInterrupt } from './cli-support.ts';
import { completionScript } from './completion.ts';
import { dependentOptions, missingArguments, recordExamples } from './missing-arguments.ts';
import { programHelp } from './program-help.ts';
import { VERSION } from './release.ts';
import { helpOf, unknownWords, wrongArguments } from './wrong-arguments.ts';

interface LazyCommand {
  readonly usage: string;
  readonly describe: string;
  readonly load: () => Promise<{ readonly command: CommandModule<object, never> }>;
}

export const COMMANDS: readonly LazyCommand[] = [
  {
    usage: 'demo',
    describe: 'Replay a recorded BTCUSDT stream with a market maker and write a report',
    load: () => import('./commands/demo.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'backtest [strategy..]',
    describe: 'Run strategies on recorded data',
    load: () => import('./commands/backtest.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'live <strategy>',
    describe: 'Run a strategy against an exchange over HTTP and WebSocket',
    load: () => import('./commands/live.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'explain <run> <what>',
    describe: 'Explain an order, a fill or a liquidation of a run',
    load: () => import('./commands/explain.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'report <run..>',
    describe: 'Write the page of a run again, or several runs on one page',
    load: () => import('./commands/report.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'compare <left> <right>',
    describe: 'Compare the orders of two runs, such as live and backtest',
    load: () => import('./commands/compare.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'export <run>',
    describe: 'Write the tables of a run as Parquet, Arrow, CSV or NumPy files',
    load: () => import('./commands/export.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'bridge',
    describe: 'Run backtests whose decisions a Python program makes (JSON lines)',
    load: () => import('./commands/bridge.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'sweep [strategy]',
    describe: 'Search a strategy’s parameters on all cores and measure overfitting',
    load: () => import('./commands/sweep.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'walkforward [strategy]',
    describe: 'Fit parameters on one interval and test them on the next (walk-forward)',
    load: () => import('./commands/walkforward.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'worker',
    describe: 'Run jobs of campaigns that others submit to a PostgreSQL database',
    load: () => import('./commands/worker.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'campaigns [action] [id]',
    describe: 'List, cancel or reorder the campaigns of a PostgreSQL database',
    load: () => import('./commands/campaigns.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'lookahead <strategy>',
    describe: 'Test whether a strategy’s decisions depend on data of their future',
    load: () => import('./commands/lookahead.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'new <what> <name>',
    describe: 'Create a strategy or a scenario from a template',
    load: () => import('./commands/new.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'run <scenario..>',
    describe: 'Run scenario files and check their expectations',
    load: () => import('./commands/run.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'replay <journal>',
    describe: 'Re-execute a journal and verify its hashes',
    load: () => import('./commands/replay.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'inspect <journal>',
    describe: 'Open a journal in the time machine (--open), or print its commands',
    load: () => import('./commands/inspect.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'diff <a> <b>',
    describe: 'Find the first difference of two journals and print the state around it',
    load: () => import('./commands/diff.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'economic',
    describe: 'Search for a coalition of accounts that gains at the expense of others',
    load: () => import('./commands/economic.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'fuzz',
    describe: 'Run random commands on all cores, check invariants, shrink failures',
    load: () => import('./commands/fuzz.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'exhaust',
    describe: 'Run every sequence of operations of a small world, up to a depth',
    load: () => import('./commands/exhaust.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'journal <action>',
    describe: 'Inspect, verify, export, back up or compact a journal',
    load: () => import('./commands/journal.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'operator <action> [symbol]',
    describe: 'Run an operator command against a served exchange: terms, status, delisting, audit',
    load: () => import('./commands/operator.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'serve',
    describe: 'Serve the API over HTTP with a crash-safe journal',
    load: () => import('./commands/serve.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'doctor',
    describe: 'Check a host and a data folder for orrery serve, and say what to do',
    load: () => import('./commands/doctor.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'data <action>',
    describe: 'Import and verify recorded market data',
    load: () => import('./commands/data.ts') as ReturnType<LazyCommand['load']>,
  },
  {
    usage: 'metrics <equity>',
    describe: 'Compute performance metrics of an equity curve and its trades',
    load: () => import('./commands/metrics.ts') as ReturnType<LazyCommand['load']>,
  },
];

/** The command that yargs lists first. The script is ours. */
export const COMPLETION = {
  usage: 'completion',
  describe: 'Print a script that completes commands and options in bash, zsh or fish',
} as const;

/** Columns of a help at most. */
const HELP_WIDTH = 100;
const COMPLETIONS = '--get-yargs-completions';

/** Runs one command line; returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const asksHelp = argv.at(-1) === '--help' || argv.at(-1) === '-h';
  const isNarrow = process.stdout.columns < HELP_WIDTH;
  if (argv.length === 1 && asksHelp && !isNarrow) {
    print(programHelp([COMPLETION, ...COMMANDS]));
    return 0;
  }
  if (argv[0] === COMPLETION.usage && (argv.length === 1 || asksHelp)) {
    const { usage, describe } = COMPLETION;
    const help = `orrery ${usage}\n\n${describe}\n\nExamples:\n  orrery ${usage} >> ~/.bashrc`;
    print(asksHelp ? help : completionScript(process.env['SHELL']));
    return 0;
  }
  const parser = await parserOf(argv);
  try {
    mustNameFiles(argv);
    mustBeOneWord(argv);
    await parser.parseAsync();
    return takeExitCode();
  } catch (error) {
    takeExitCode();
    return explainFailure(error);
  }
}

/** yargs drops a lone dash: `orrery run -` would run no scenario and pass. */
function mustNameFiles(argv: readonly string[]): void {
  if (argv[0] === COMPLETIONS || !argv.includes('-')) return;
  throw new InputError('- names no file; standard input is /dev/stdin');
}

/** yargs prints its own script for `completion` with an argument, or does not know the command. */
function mustBeOneWord(argv: readonly string[]): void {
  const [command, argument = ''] = argv;
  if (command !== COMPLETION.usage) return;
  const isOption = argument.startsWith('-');
  const what = isOption ? 'unknown option' : 'unexpected argument';
  throw new InputError(`${what} ${isOption ? argument : JSON.stringify(argument)}`, {
    hint: 'the script is for the shell of $SHELL: SHELL=zsh orrery completion',
  });
}

/** The parser with the command that the line names; of others it knows name and description. */
export async function parserOf(argv: readonly string[]): Promise<Argv> {
  const { default: yargs } = await import('yargs');
  const tokens = joinNegativeValues(withOperands(argv));
  const parser = yargs(tokens)
    .scriptName('orrery')
    .usage('$0 <command> [options]')
    .version(VERSION)
    .strict()
    .demandCommand(1, 'name a command; --help lists them')
    .help()
    .completion(COMPLETION.usage, COMPLETION.describe)
    .alias('help', 'h')
    .wrap(Math.min(HELP_WIDTH, process.stdout.columns || HELP_WIDTH))
    .exitProcess(false)
    .middleware((values) => {
      if (argv[0] === COMPLETIONS) return;
      mustHaveValues(argv, values);
      mustBeTrueOrFalse(argv, values);
      mustBeGivenOnce(argv, values, lists());
      mustBeNumbers(argv, values);
    })
    .fail((message: string | null, error: Error | undefined) => {
      if (error !== undefined) throw error;
      const unknown = unknownWords(parser, tokens);
      const missing =
        unknown === null ? missingArguments(parser, message, { examples, tokens }) : null;
      const words =
        unknown ?? dependentOptions(message) ?? wrongArguments(parser, message, tokens) ?? message;
      const hint = helpOf(parser, tokens);
      throw missing ?? new InputError(words ?? 'bad command line', { hint });
    });
  const examples = recordExamples(parser);
  // yargs knows which options take several values; its types do not have the method.
  const lists = (): readonly string[] =>
    (parser as Argv & { getOptions: () => { array: readonly string[] } }).getOptions().array;
  // The shell asks for completions with `--get-yargs-completions orrery <command> …`.
  const name = argv[0] === COMPLETIONS ? argv[2] : argv[0];
  for (const { usage, describe, load } of COMMANDS) {
    if (usage.split(' ')[0] === name) {
      const { command } = await load();
      parser.command({
        ...command,
        command: command.command ?? usage,
        describe,
      } as CommandModule);
    } else {
      parser.command(
        usage,
        describe,
        (sub: Argv) => sub,
        () => undefined,
      );
    }
  }
  keepNoHelp(parser);
  return parser;
}

/**
 * yargs renders the help after it calls a handler, in case that fails later. No failure here prints
 * help, and the rendering takes a tenth of a second.
 */
function keepNoHelp(parser: Argv): void {
  const inside = parser as Partial<YargsInside>;
  const usage = inside.getInternalMethods?.().getUsageInstance();
  if (usage !== undefined) usage.cacheHelpMessage = () => undefined;
}

interface YargsInside {
  getInternalMethods(): { getUsageInstance(): { cacheHelpMessage: () => void } };
}

/** An empty value of these stands for their environment variable. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['pg']);

/** Throws `InputError` for an option of the line that has no value, such as a last `--seed`. */
function mustHaveValues(argv: readonly string[], values: Readonly<Record<string, unknown>>): void {
  const end = argv.indexOf('--');
  for (const [i, token] of (end < 0 ? argv : argv.slice(0, end)).entries()) {
    const [, name = 'no-name', equals] = /^--([a-z][\w-]*)(=?)$/.exec(token) ?? [];
    // A flag needs none.
    if (name.startsWith('no-') || typeof values[name] === 'boolean') continue;
    const next = argv[i + 1];
    const hasValue = next !== undefined && next !== '' && !next.startsWith('--');
    if (equals === '' && hasValue) continue;
    if (MAY_BE_EMPTY.has(name) && (equals === '=' || next === '')) continue;
    throw new InputError(`--${name} needs a value`, { hint: `see orrery ${argv[0] ?? ''} --help` });
  }
}

/** Throws `InputError` for a flag with another value, which yargs takes as false. */
function mustBeTrueOrFalse(
  argv: readonly string[],
  values: Readonly<Record<string, unknown>>,
): void {
  for (const token of argv) {
    const [, name = '', text] = /^--([a-z][\w-]*)=(.*)$/s.exec(token) ?? [];
    if (typeof values[name] !== 'boolean' || text === 'true' || text === 'false') continue;
    throw new InputError(`--${name} takes no value, or true or false; got ${JSON.stringify(text)}`);
  }
}

/** Throws `InputError` for an option of one value that the line has twice. */
function mustBeGivenOnce(
  argv: readonly string[],
  values: Readonly<Record<string, unknown>>,
  lists: readonly string[],
): void {
  for (const [name, value] of Object.entries(values)) {
    if (!Array.isArray(value) || lists.includes(name) || !/^[a-z][\w-]*$/.test(name)) continue;
    if (!argv.some((token) => token.split('=')[0] === `--${name}`)) continue;
    throw new InputError(`--${name} takes one value; ${String(value.length)} are given`, {
      hint: `see orrery ${argv[0] ?? ''} --help`,
    });
  }
}

/** Throws `InputError` with the text of a number that is none: yargs keeps NaN only. */
function mustBeNumbers(argv: readonly string[], values: Readonly<Record<string, unknown>>): void {
  const tokens = joinNegativeValues(argv);
  for (const [i, token] of tokens.entries()) {
    const [, name = '', , joined] = /^--([a-z][\w-]*)(=(.*))?$/s.exec(token) ?? [];
    const value = values[name];
    const numbers: readonly unknown[] = Array.isArray(value) ? value : [value];
    const text = joined ?? tokens[i + 1] ?? '';
    // yargs takes a blank for 0.
    const isBlank = typeof value === 'number' && text.trim() === '';
    if (!isBlank && !numbers.some((one) => Number.isNaN(one))) continue;
    throw new InputError(`--${name} must be a number, got ${JSON.stringify(text)}`, {
      field: name,
    });
  }
}

/** yargs drops what follows `--`. A file there whose name starts with a dash is named by a path. */
function withOperands(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  if (end < 0 || argv[0] === COMPLETIONS) return argv;
  const operands = argv.slice(end + 1).map((name) => (name.startsWith('-') ? `./${name}` : name));
  // An option without its value does not take a file for it.
  const last = /^--[^=]+$/.test(argv[end - 1] ?? '') ? end - 1 : end;
  return [...argv.slice(0, last), ...operands, ...argv.slice(last, end)];
}

/** Joins `--option -value`, because yargs would parse the value as short options. */
function joinNegativeValues(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (const token of argv) {
    const last = joined.at(-1);
    // `-h` is the only short option.
    const isNegative = /^-[^-]/.test(token) && token !== '-h';
    if (isNegative && last !== undefined && /^--[^=]+$/.test(last) && !joined.includes('--')) {
      joined[joined.length - 1] = `${last}=${token}`;
    } else joined.push(token);
  }
  return joined;
}

function isEntryPoint(): boolean {
  const script = process.argv[1];
  return script !== undefined && realpathSync(script) === fileURLToPath(import.meta.url);
}

if (isEntryPoint()) {
  raiseInliningLimits();
  watchInterrupt();
  process.exitCode = await main(process.argv.slice(2));
}

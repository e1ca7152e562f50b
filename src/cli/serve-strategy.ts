/**
 * `orrery serve --replay … --strategy`: a strategy that trades beside people on the replay. It is a
 * process of its own (`orrery live`), so that it neither stops nor slows the server, and it moves
 * the virtual clock; its pace is set by `POST /sim/replay`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Host, ServedStrategy } from '../http/exchange-host.ts';
import type { OperatorLog } from '../http/operator-log.ts';
import { parseDecimal, stepsExact } from '../num/decimal.ts';
import { COLLATERAL_DECIMALS, quanta, type Quanta } from '../num/units.ts';
import { fileError } from '../platform/file-error.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { KeyWallet } from '../wallet/key-wallet.ts';
import { EXIT, InputError } from './cli-support.ts';
import { RUN_OPTIONS } from './run-options.ts';
import type { PlannedReplay } from './serve-replay.ts';
import type { ServeSettings } from './serve-settings.ts';
import { TYPE_CHECK_OPTION, type TypeCheckArguments } from './type-check.ts';

export interface StrategyArguments extends TypeCheckArguments {
  readonly strategy: string | undefined;
  readonly param: readonly string[] | undefined;
  readonly deposit: string | undefined;
}

export const STRATEGY_OPTIONS = {
  strategy: {
    type: 'string',
    describe: 'strategy file that trades on the replay, beside people; it needs --sim-token',
  },
  param: { ...RUN_OPTIONS.param, describe: 'parameter of the strategy, name=value' },
  deposit: {
    type: 'string',
    describe: 'first deposit of the strategy',
    defaultDescription: '10000',
  },
  ...TYPE_CHECK_OPTION,
} as const;

const DEPOSIT = '10000';
const KEY_FILE = 'strategy.key';
const RECORD_FOLDER = 'strategy';
const MAX_LOG = 50;
const KILL_MS = 5000;
/** More than the interval at which `orrery live` reads its signal. */
const RELEASE_MS = 250;

export interface PlannedStrategy {
  readonly file: string;
  readonly parameters: readonly string[];
  readonly deposit: Quanta;
  readonly simToken: string;
  readonly check: boolean;
}

/** Null without `--strategy`. Throws `InputError`. */
export function planStrategy(
  { strategy, param, deposit, check }: StrategyArguments,
  { clock, simToken, journal }: ServeSettings,
  replay: PlannedReplay | null,
): PlannedStrategy | null {
  if (strategy === undefined) {
    for (const [name, value] of Object.entries({ param, deposit })) {
      if (value === undefined) continue;
      throw new InputError(`--${name} applies to a strategy: give --strategy <file>`);
    }
    return null;
  }
  if (replay === null) throw new InputError('--strategy applies to a replay: give --replay');
  if (clock !== 'virtual') {
    throw new InputError('--strategy needs --clock virtual: the strategy moves the clock');
  }
  if (simToken === null) throw new InputError('--strategy needs a --sim-token');
  if (journal !== null) throw new InputError('--strategy does not work with --journal');
  const amount = parseDecimal(deposit ?? DEPOSIT);
  const money =
    amount === null ? null : stepsExact(amount, { digits: 1n, scale: COLLATERAL_DECIMALS });
  if (money === null || money <= 0n || BigInt.asIntN(64, money) !== money) {
    throw new InputError(`--deposit '${deposit ?? ''}': must be an amount above 0`);
  }
  const file = resolve(strategy);
  return { file, parameters: param ?? [], deposit: quanta(money), simToken, check };
}

/** A strategy with its account, ready to start. */
export interface PreparedStrategy {
  readonly planned: PlannedStrategy;
  readonly key: string;
  readonly state: Shown;
}

/** The key stays in the data folder, so that a restart trades with the same account. */
async function keyIn(folder: string): Promise<string> {
  const path = join(folder, KEY_FILE);
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw fileError(path, error);
  }
  let key = randomBytes(32).toString('hex');
  while (KeyWallet.ofHex(key) === null) key = randomBytes(32).toString('hex');
  await writeWholeFile(path, Buffer.from(`${key}\n`));
  return key;
}

/**
 * Gives the strategy its account and first deposit, before clients connect. Rejects with
 * `InputError`, or `FileError`.
 */
export async function prepareStrategy(
  host: Host,
  planned: PlannedStrategy,
  dataDir: string,
): Promise<PreparedStrategy> {
  const key = await keyIn(dataDir);
  const wallet = KeyWallet.ofHex(key);
  if (wallet === null) throw new InputError(`${join(dataDir, KEY_FILE)}: is not a private key`);
  const { address: account } = wallet;
  if (host.view.accountIdOf(account) === undefined) {
    const { deposit: amount } = planned;
    host.submit({ kind: 'deposit', timeUs: host.nowUs(), account, subaccountIndex: 0, amount });
  }
  const state = new Shown(basename(planned.file), account);
  host.strategy = state;
  return { planned, key, state };
}

/** Starts the strategy once the server listens; the result ends it. */
export function startStrategy(
  host: Host,
  { planned, key, state }: PreparedStrategy,
  url: string,
  dataDir: string,
  log: OperatorLog,
): () => Promise<void> {
  const { file, parameters, simToken, check } = planned;
  const child = spawn(
    process.execPath,
    [
      ...process.execArgv,
      ...[process.argv[1] ?? '', 'live', file, '--url', url],
      ...parameters.flatMap((one) => ['--param', one]),
      ...(check ? [] : ['--no-check']),
      ...['--out', join(dataDir, RECORD_FOLDER), '--overwrite'],
    ],
    {
      env: { ...process.env, ORRERY_KEY: key, ORRERY_SIM_TOKEN: simToken },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A Ctrl-C in the terminal is for the server, which then stops the strategy once.
      detached: true,
    },
  );
  const say = (text: string): void => {
    state.log.push(text);
    if (state.log.length > MAX_LOG) state.log.shift();
  };
  let last = '';
  let isEnding = false;
  linesOf(child.stdout, say);
  linesOf(child.stderr, (text) => {
    last = text;
    // The first line names strategy and account.
    if (state.state === 'starting') state.state = 'running';
    else say(text);
  });
  const ended = new Promise<void>((done) => {
    const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
      // Before it runs, a strategy has no handlers of the stop.
      const isStopped = isEnding && (signal === 'SIGINT' || code === EXIT.interrupted);
      const isGood = code === 0 || isStopped;
      state.state = isGood ? 'ended' : 'failed';
      state.message = isGood ? '' : last;
      if (!isGood) log('strategy_failed', `the strategy ${state.name} has failed: ${last}`);
      done();
    };
    child.once('error', (error) => {
      last = error.message;
      if (child.pid !== undefined) return;
      // Without a process, `close` may never come.
      child.off('close', settle);
      settle(null, null);
    });
    child.once('close', settle);
  });
  return () => {
    isEnding = true;
    return end(child, ended, host);
  };
}

class Shown implements ServedStrategy {
  readonly name: string;
  readonly account: ServedStrategy['account'];
  state: ServedStrategy['state'] = 'starting';
  message = '';
  readonly log: string[] = [];

  constructor(name: string, account: ServedStrategy['account']) {
    this.name = name;
    this.account = account;
  }
}

/**
 * Its handlers of the stop run, within a limit. It may wait for the replay, which goes on once the
 * strategy has taken the signal, so that it plays no further history.
 */
async function end(child: ChildProcess, ended: Promise<void>, { replay }: Host): Promise<void> {
  child.kill('SIGINT');
  const release = setTimeout(() => replay?.release(), RELEASE_MS);
  const late = setTimeout(() => child.kill('SIGKILL'), KILL_MS);
  await ended;
  clearTimeout(release);
  clearTimeout(late);
}

function linesOf(stream: NodeJS.ReadableStream | null, take: (text: string) => void): void {
  let rest = '';
  stream?.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') take(line.trim());
  });
  stream?.on('end', () => {
    if (rest.trim() !== '') take(rest.trim());
  });
}

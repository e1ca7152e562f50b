/**
 * What every command does alike: exit codes, errors in one line, interruption, progress, output.
 *
 * Exit codes: 0 done, 1 an expectation or verification failed, 2 bad input, 130 interrupted.
 */
import { writeSync } from 'node:fs';
import cliProgress from 'cli-progress';
import { StrategyError } from '../strategy/definition.ts';
import { ArchiveError } from '../base/archive.ts';
import { MetricsError } from '../metrics/curve.ts';
import { SearchError } from '../search/samplers/space.ts';
import { JournalError } from '../journal/format/frames.ts';
import { TapeError } from '../tape/record.ts';
import { FileError } from '../platform/file-error.ts';

export const EXIT = { ok: 0, failed: 1, badInput: 2, interrupted: 130 } as const;

let exitCode: number = EXIT.ok;

/** What the running command ends with, unless it fails. */
export function setExitCode(code: number): void {
  exitCode = code;
}

/** The exit code that the last command set; the next one starts from 0. */
export function takeExitCode(): number {
  const code = exitCode;
  exitCode = EXIT.ok;
  return code;
}

/** Bad input of a command line or a file, in words for its user. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** The command was interrupted; nothing half-written is left. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/** A number of the command line that counts something; one that was not given is fine. Throws `InputError` naming option and limits. */
export function mustBeWhole(
  name: string,
  value: number | undefined,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  const bounds = most === Number.MAX_SAFE_INTEGER && !(value > most) ? '' : ` to ${String(most)}`;
  throw new InputError(
    `--${name} must be a whole number from ${String(least)}${bounds}, got ${String(value)}`,
  );
}

/** `--from` and `--to` of numbered commands; Infinity is the end. */
export function mustBeRange(from: number, to: number): void {
  mustBeWhole('from', from, 1);
  mustBeWhole('to', to === Infinity ? undefined : to, 1);
  if (from > to) throw new InputError(`--from ${String(from)} is after --to ${String(to)}`);
}

let interrupted = false;
let interruptedAtMs = Infinity;
let watching = false;
/** Who asked to stop waits so long for a point to go on from. */
const PATIENCE_MS = 2000;

/** Whether the user asked to stop; long work polls this. The first call starts to listen. */
export function isInterrupted(): boolean {
  watchInterrupt();
  return interrupted;
}

/** Whether the user asked to stop a while ago: what is asked for now is to stop at once. */
export function isInterruptOld(): boolean {
  return performance.now() - interruptedAtMs > PATIENCE_MS;
}

/** Throws when the user asked to stop. */
export function stopIfInterrupted(): void {
  if (isInterrupted()) throw new Interrupted('interrupted');
}

/** A second interrupt ends the process at once. */
export function watchInterrupt(): void {
  if (watching) return;
  watching = true;
  const onSignal = (): void => {
    if (interrupted) process.exit(EXIT.interrupted);
    interrupted = true;
    interruptedAtMs = performance.now();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}

/** Writes a line to stdout; a closed pipe ends the program quietly. */
export function print(line = ''): void {
  write(1, `${line}\n`);
}

export function printError(line: string): void {
  write(2, `${line}\n`);
}

function write(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') continue;
      if (code === 'EPIPE') process.exit(EXIT.ok);
      throw error;
    }
  }
}

/** JSON for programs: one value, bigints as text. */
export function printJson(value: unknown): void {
  print(
    JSON.stringify(
      value,
      (_key, field: unknown) => (typeof field === 'bigint' ? field.toString() : field),
      2,
    ),
  );
}

export interface Progress {
  /** 0…1, and what else there is to say. */
  update(fraction: number, note?: string): void;
  stop(): void;
}

/** A bar on a terminal, nothing elsewhere. */
export function startProgress(title: string, quiet = false): Progress {
  if (quiet || !process.stderr.isTTY) return { update: () => undefined, stop: () => undefined };
  const bar = new cliProgress.SingleBar(
    {
      format: `${title} {bar} {percentage}% {duration_formatted}{note}`,
      hideCursor: true,
      clearOnComplete: true,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(1000, 0, { note: '' });
  return {
    update: (fraction, note = '') => {
      bar.update(Math.floor(fraction * 1000), { note: note === '' ? '' : `  ${note}` });
    },
    stop: () => {
      bar.stop();
    },
  };
}

/** Says what went wrong in one line and answers the exit code. `ORRERY_DEBUG=1` adds the stack. */
export function explainFailure(error: unknown): number {
  if (error instanceof Interrupted) {
    printError('interrupted');
    return EXIT.interrupted;
  }
  const message = error instanceof Error ? error.message : String(error);
  printError(`orrery: ${message}`);
  if (process.env['ORRERY_DEBUG'] === '1' && error instanceof Error) printError(error.stack ?? '');
  const isInput =
    error instanceof InputError ||
    error instanceof FileError ||
    error instanceof JournalError ||
    error instanceof TapeError ||
    error instanceof StrategyError ||
    error instanceof ArchiveError ||
    error instanceof SearchError ||
    error instanceof MetricsError;
  if (isInput) return EXIT.badInput;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' && code.startsWith('E') ? EXIT.badInput : EXIT.failed;
}

/**
 * Shared behaviour of all commands: exit codes, one-line errors, interruption, progress, output.
 *
 * Exit codes: 0 success, 1 an expectation or verification failed, 2 bad input, 130 interrupted.
 */
import { InvariantError } from '../base/assert.ts';
import { writeSync } from 'node:fs';
import { UserError } from '../base/user-error.ts';

export const EXIT = { ok: 0, failed: 1, badInput: 2, interrupted: 130 } as const;

let exitCode: number = EXIT.ok;

/** Sets the exit code of the running command, unless it fails. */
export function setExitCode(code: number): void {
  exitCode = code;
}

/** Returns the exit code set by the last command and resets it to 0. */
export function takeExitCode(): number {
  const code = exitCode;
  exitCode = EXIT.ok;
  return code;
}

/** Bad input of a command line or a file, with a message for the user. */
export class InputError extends UserError {
  override readonly name = 'InputError';
  readonly code = 'input';
}

/** Thrown when the user interrupts the command; partial output is removed. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

/**
 * Validates an integer option; undefined is valid. Throws `InputError` that names option and
 * limits.
 */
export function mustBeWhole(
  name: string,
  value: number | undefined,
  min: number,
  max = Number.MAX_SAFE_INTEGER,
): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const bounds = max === Number.MAX_SAFE_INTEGER && !(value > max) ? '' : ` to ${String(max)}`;
  const limit = `a whole number from ${String(min)}${bounds}`;
  throw new InputError(`--${name} must be ${limit}, got ${String(value)}`, { field: name, limit });
}

/** Validates `--from` and `--to` of numbered commands; Infinity is the end. */
export function mustBeRange(from: number, to: number): void {
  mustBeWhole('from', from, 1);
  mustBeWhole('to', to === Infinity ? undefined : to, 1);
  if (from > to) throw new InputError(`--from ${String(from)} is after --to ${String(to)}`);
}

let interrupted = false;
let noticedAtMs = Infinity;
let watching = false;
/** Max wait after an interrupt for a point from which the run can be resumed. */
const PATIENCE_MS = 2000;

/**
 * Whether the user interrupted the command; polled by long work. The first call installs the
 * handler.
 */
export function isInterrupted(): boolean {
  watchInterrupt();
  if (interrupted) noticedAtMs = Math.min(noticedAtMs, performance.now());
  return interrupted;
}

/**
 * Whether work has polled an interrupt for `PATIENCE_MS`: the command must stop immediately. The
 * time before the first poll, such as that of loading, does not count.
 */
export function isInterruptOld(): boolean {
  return performance.now() - noticedAtMs > PATIENCE_MS;
}

/** Throws if the user interrupted the command. */
export function stopIfInterrupted(): void {
  if (isInterrupted()) throw new Interrupted('interrupted');
}

/** Installs the interrupt handler; a second interrupt ends the process immediately. */
export function watchInterrupt(): void {
  if (watching) return;
  watching = true;
  letSignalsEnd(false);
}

function onSignal(signal: NodeJS.Signals): void {
  if (interrupted) endBy(signal);
  interrupted = true;
}

/** Ends the process, also while a thread waits for a file that does not answer. */
export function endBy(signal: NodeJS.Signals): never {
  // An exit would wait for the thread. The other listeners of `exit` run before this one.
  process.once('exit', () => {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  process.exit(EXIT.interrupted);
}

/** Whether signals end the process by themselves, because its listeners cannot run. */
export function letSignalsEnd(end: boolean): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.off(signal, onSignal);
    if (!end) process.on(signal, onSignal);
  }
}

/**
 * Does work that never returns to the event loop, where no listener of a signal would run: signals
 * end the process by themselves. The work leaves nothing unfinished.
 */
export function endable<T>(work: () => T): T {
  letSignalsEnd(true);
  try {
    return work();
  } finally {
    letSignalsEnd(false);
  }
}

/** Returns to the event loop, so that interrupts arrive. Throws if one has. */
export async function letInterrupt(): Promise<void> {
  await new Promise(setImmediate);
  stopIfInterrupted();
}

/** Writes a line to stdout. By default a closed pipe ends the program without an error. */
export function print(line = '', onClosed: () => void = endQuietly): void {
  write(1, `${visible(line)}\n`, onClosed);
}

/** The reader of the output has ended, and needs nothing more. */
export function endQuietly(): never {
  process.exit(EXIT.ok);
}

/** Writes a line to stderr. One that cannot be written, as on a full disk, ends no command. */
export function printError(line: string): void {
  try {
    write(2, `${visible(line)}\n`);
  } catch {
    // There is no other place to report it.
  }
}

/** Control characters as escapes, since a terminal obeys them; line feeds and tabs stay. */
const visible = (text: string): string =>
  text.replaceAll(
    /(?![\n\t])\p{Cc}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function write(descriptor: number, text: string, onClosed: (() => void) | null = null): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') continue;
      if (code !== 'EPIPE' || onClosed === null) throw error;
      onClosed();
      return;
    }
  }
}

/** Prints one JSON value; bigints are text. */
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
  /** `fraction`: 0…1; `note`: further text. */
  update(fraction: number, note?: string): void;
  stop(): void;
}

const BAR_WIDTH = 40;
const REDRAW_MS = 100;
const ERASE_LINE = '\r\u001b[K';

/** A bar on a terminal, nothing elsewhere. */
export function startProgress(title: string, quiet = false): Progress {
  if (quiet || !process.stderr.isTTY) return { update: () => undefined, stop: () => undefined };
  const startedMs = performance.now();
  let drawnMs = -Infinity;
  return {
    update: (fraction, note = '') => {
      const nowMs = performance.now();
      if (nowMs - drawnMs < REDRAW_MS) return;
      drawnMs = nowMs;
      const seconds = Math.round((nowMs - startedMs) / 1000);
      const share = Math.min(1, Math.max(0, fraction));
      const done = Math.floor(share * BAR_WIDTH);
      const bar = '█'.repeat(done) + '░'.repeat(BAR_WIDTH - done);
      const percent = String(Math.floor(share * 100));
      const line = `${title} ${bar} ${percent}% ${String(seconds)}s${note === '' ? '' : `  ${note}`}`;
      write(2, `${ERASE_LINE}${line.slice(0, Math.max(BAR_WIDTH, process.stderr.columns - 1))}`);
    },
    stop: () => {
      write(2, ERASE_LINE);
    },
  };
}

/** Errors of a run that was asked for correctly; all others are bad input. */
const FAILED_RUNS = new Set([
  'strategy-failed',
  'refused',
  'request',
  'store-stopped',
  'feed',
  'no-answer',
  'worker',
  'scenario',
]);

/**
 * Prints a one-line error and returns the exit code: the one place that decides both. The stack
 * follows for an error of the program, and for every error with `ORRERY_DEBUG=1`.
 */
export function explainFailure(error: unknown): number {
  if (error instanceof Interrupted) {
    printError('interrupted');
    return EXIT.interrupted;
  }
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof UserError ? error.hint : undefined;
  printError(`orrery: ${message}${hint === undefined ? '' : ` (${hint})`}`);
  const isDebugged = process.env['ORRERY_DEBUG'] === '1' && error instanceof Error;
  if (isDebugged || error instanceof InvariantError) printError(error.stack ?? '');
  if (error instanceof UserError) {
    return FAILED_RUNS.has(error.code) ? EXIT.failed : EXIT.badInput;
  }
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' && code.startsWith('E') ? EXIT.badInput : EXIT.failed;
}

/**
 * JSON lines over standard input and output. Reads block, so that virtual time stands still while
 * the other process decides. The end of the other process is the end of this one.
 */
import { readSync, writeSync } from 'node:fs';
import { UserError } from '../../base/user-error.ts';
import { endQuietly } from '../cli-support.ts';

/** Longest message. */
const MAX_LINE = 64 * 1024 * 1024;
const LINE_FEED = 10;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

export class BridgeError extends UserError {
  override readonly name = 'BridgeError';
  readonly code = 'bridge';
}

export type Message = Readonly<Record<string, unknown>>;

export class Wire {
  private readonly input: number;
  private readonly output: number;
  private outgoing = Buffer.alloc(1 << 16);
  private chunk = Buffer.alloc(1 << 16);
  /** Bytes of `chunk` that are read but not taken. */
  private from = 0;
  private to = 0;

  constructor(input = 0, output = 1) {
    this.input = input;
    this.output = output;
  }

  send(message: Message): void {
    this.sendText(JSON.stringify(message));
  }

  /** A message that is JSON already. */
  sendText(text: string): void {
    // At most three bytes of UTF-8 for a unit of UTF-16, and the line feed.
    const longest = text.length * 3 + 1;
    if (longest > this.outgoing.length) this.outgoing = Buffer.alloc(longest * 2);
    const bytes = this.outgoing;
    const end = bytes.write(text) + 1;
    bytes[end - 1] = LINE_FEED;
    for (let at = 0; at < end;) {
      at += attempted(() => writeSync(this.output, bytes, at, end - at)) ?? 0;
    }
  }

  /** The next message; null at the end of the input. Throws `BridgeError`. */
  receive(): Message | null {
    for (let searched = this.from; ;) {
      // Bytes from `to` on are those of earlier messages.
      const end = searched < this.to ? this.chunk.indexOf(LINE_FEED, searched) : -1;
      if (end >= 0 && end < this.to) {
        const text = this.chunk.toString('utf8', this.from, end);
        this.from = end + 1;
        return parsed(text);
      }
      searched = this.to;
      const moved = this.makeRoom();
      searched -= moved;
      const count = attempted(() =>
        readSync(this.input, this.chunk, this.to, this.chunk.length - this.to, null),
      );
      if (count === 0) {
        if (this.from === this.to) return null;
        throw new BridgeError('the input ends inside a message: no line feed follows it');
      }
      this.to += count ?? 0;
    }
  }

  /** Returns the number of bytes by which the content moved. */
  private makeRoom(): number {
    const moved = this.from;
    if (moved === 0 && this.to < this.chunk.length) return 0;
    this.chunk.copyWithin(0, this.from, this.to);
    this.to -= moved;
    this.from = 0;
    if (this.to < this.chunk.length) return moved;
    if (this.to >= MAX_LINE) throw new BridgeError('a message is longer than 64 MiB');
    const larger = Buffer.alloc(this.chunk.length * 2);
    this.chunk.copy(larger);
    this.chunk = larger;
    return moved;
  }
}

/** null where the system asks to try again. */
function attempted(run: () => number): number | null {
  try {
    return run();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EOF') return 0;
    if (code === 'EPIPE') endQuietly();
    if (code !== 'EAGAIN') throw error;
    Atomics.wait(PAUSE, 0, 0, 1);
    return null;
  }
}

function parsed(text: string): Message {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    throw new BridgeError(`a message is not JSON: ${text.slice(0, 80)}`);
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw new BridgeError(`a message must be an object: ${text.slice(0, 80)}`);
  }
  return message as Message;
}

/** Limits of one connection's messages and pings; a client that ignores them is closed. */
import type { WebSocket } from 'ws';
import { SMALL_BODY } from '../../contract/body-limits.ts';
import { MESSAGES } from '../../contract/messages.ts';
import type { Admission } from '../admission.ts';
import { closeWithin } from './close-within.ts';

/** Refused messages in a row, and pings a second, beyond which a connection is closed. */
const MAX_REFUSALS = 100;
const MAX_PINGS = 20;
const SECOND_MS = 1000;
/** Pace of a connection's messages that are larger than a single request. */
const LARGE_BYTES_PER_MS = 1024;
/** Application close code: too many messages. */
export const CLOSE_RATE = 4429;
/** Time for a client to read its refusals and the close frame behind them. */
const CLOSE_WAIT_MS = 10_000;

export class MessageLimits {
  private readonly socket: WebSocket;
  private readonly admission: Admission | null;
  /** Refused messages since the last accepted one. */
  private refusals = 0;
  private pings = 0;
  private pingsFromMs = 0;
  /** Time from which the next large message may pass. */
  private largeFromMs = 0;

  constructor(socket: WebSocket, admission: Admission | null) {
    this.socket = socket;
    this.admission = admission;
    socket.on('ping', (data: Buffer) => {
      this.pong(data);
    });
  }

  /** Counts a message of the account or address; null once the connection is closed. */
  accepts(caller: string, isAccount: boolean, bytes: number): boolean | null {
    const { admission } = this;
    if (admission === null) return true;
    const isAccepted =
      admission.refusalOf(caller) === null && admission.takesBytes(caller, isAccount, bytes);
    this.refusals = isAccepted ? 0 : this.refusals + 1;
    if (this.refusals <= MAX_REFUSALS) return isAccepted;
    if (this.socket.readyState === this.socket.OPEN) {
      closeWithin(this.socket, CLOSE_WAIT_MS, CLOSE_RATE, MESSAGES.tooManyRequests.message);
    }
    return null;
  }

  /** Time in ms until a message of this size may pass. */
  delayOf(bytes: number): number {
    if (this.admission === null || bytes <= SMALL_BODY.bytes) return 0;
    const now = performance.now();
    const fromMs = Math.max(now, this.largeFromMs, this.admission.turnOfLarge(now, bytes));
    this.largeFromMs = fromMs + bytes / LARGE_BYTES_PER_MS;
    return Math.ceil(fromMs - now);
  }

  private pong(data: Buffer): void {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return;
    const now = performance.now();
    if (now - this.pingsFromMs > SECOND_MS) {
      this.pings = 0;
      this.pingsFromMs = now;
    }
    this.pings += 1;
    if (this.pings > MAX_PINGS) socket.terminate();
    else socket.pong(data);
  }
}

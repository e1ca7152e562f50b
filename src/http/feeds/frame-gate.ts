/**
 * The frames of a feed on their way to the parser of WebSocket messages. One read may contain ten
 * thousand frames, and the parser handles all of them before it returns to other connections. The
 * gate passes on `FRAMES_PER_TURN` in a turn of the event loop, of those that all gates may pass
 * (`FrameTurns`), and keeps the rest; unread bytes stay with the client. It reads the length of a
 * frame from its header, so that a message beyond the limit is neither buffered nor copied.
 *
 * Frames are those of RFC 6455, section 5.2. The gate checks lengths only; the parser checks all
 * else. Cost: constant per frame.
 */
import type { Duplex } from 'node:stream';
import { FrameTurns } from './frame-turns.ts';

const FRAMES_PER_TURN = 4;
/** Bytes of a refused message that are read and dropped, so that the client can read the answer. */
const DRAIN_BYTES = 262_144;
const CONTINUATION = 0;
const FIRST_CONTROL = 8;
const MIN_HEADER = 2;
const MASK_BYTES = 4;

export interface GateRules {
  /** Max bytes of a message now. */
  readonly maxBytes: () => number;
  /** Time in ms until the payload of a frame may pass. */
  readonly delayOf: (bytes: number) => number;
  /** Called once, before the bytes of a larger message; nothing is passed on afterwards. */
  readonly refuse: () => void;
}

export class FrameGate {
  private readonly stream: Duplex;
  private readonly rules: GateRules;
  private readonly turns: FrameTurns;
  private readonly deliver: (chunk: Buffer) => void;
  /** Received bytes that are not passed on; `from` is the offset in the first. */
  private readonly kept: Buffer[] = [];
  private from = 0;
  private frames = 0;
  private isTurnOpen = false;
  private holds = 0;
  private hasReceived = false;
  /** Bytes dropped since a refusal; null: none was refused. */
  private dropped: number | null = null;
  /** The header of the current frame, as far as it is received. */
  private readonly header = Buffer.alloc(14);
  private headerBytes = 0;
  private payloadLeft = 0;
  private messageBytes = 0;

  /** `stream`: that of an accepted upgrade, which the parser reads. `turns`: of all gates. */
  constructor(stream: Duplex, rules: GateRules, turns = new FrameTurns()) {
    this.stream = stream;
    this.rules = rules;
    this.turns = turns;
    const listeners = stream.listeners('data') as ((chunk: Buffer) => void)[];
    this.deliver = (chunk) => {
      for (const listener of listeners) listener.call(stream, chunk);
    };
    stream.on('data', (chunk: Buffer) => {
      this.receive(chunk);
    });
    for (const listener of listeners) stream.off('data', listener);
    // The parser reads the rest of a closed stream at once, past the gate: up to 64 KiB of frames.
    stream.prependListener('close', () => {
      this.kept.length = 0;
      stream.read(stream.readableLength);
    });
  }

  /** True if bytes have come since the last call, or some may wait that the gate does not read. */
  showsLife(): boolean {
    const shows = this.hasReceived || this.holds > 0 || this.kept.length > 0;
    this.hasReceived = false;
    return shows;
  }

  /** Passes nothing on until as many calls of `release`. */
  hold(): void {
    this.holds += 1;
    this.stream.pause();
  }

  release(): void {
    this.holds -= 1;
    this.pass();
  }

  private receive(chunk: Buffer): void {
    this.hasReceived = true;
    if (this.dropped !== null) {
      this.dropped += chunk.length;
      if (this.dropped > DRAIN_BYTES) this.stream.pause();
      return;
    }
    this.kept.push(chunk);
    // The parser resumes the stream when it likes.
    if (this.kept.length > 1) this.stream.pause();
    else this.pass();
  }

  private pass(): void {
    while (this.mayPass()) {
      const [chunk] = this.kept;
      if (chunk === undefined) {
        if (this.stream.isPaused()) this.stream.resume();
        return;
      }
      const { from } = this;
      const to = this.endOfFrame(chunk);
      if (this.dropped !== null) return;
      this.from = to;
      if (to === chunk.length) {
        this.kept.shift();
        this.from = 0;
      }
      this.deliver(from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to));
    }
  }

  private mayPass(): boolean {
    if (this.holds > 0 || this.dropped !== null || this.stream.destroyed) return false;
    if (this.frames < FRAMES_PER_TURN && this.turns.hasLeft) return true;
    if (this.kept.length > 0) this.stream.pause();
    this.openTurn();
    return false;
  }

  private openTurn(): void {
    if (this.isTurnOpen) return;
    this.isTurnOpen = true;
    this.turns.next(() => {
      this.isTurnOpen = false;
      this.frames = 0;
      this.pass();
    });
  }

  /** Offset behind the current frame, or the length of the chunk if the frame continues. */
  private endOfFrame(chunk: Buffer): number {
    let at = this.from;
    while (at < chunk.length) {
      if (this.payloadLeft > 0) {
        const taken = Math.min(this.payloadLeft, chunk.length - at);
        this.payloadLeft -= taken;
        at += taken;
        if (this.payloadLeft === 0) return this.ended(at);
        continue;
      }
      this.header[this.headerBytes] = chunk[at] ?? 0;
      this.headerBytes += 1;
      at += 1;
      if (this.headerBytes < MIN_HEADER || this.headerBytes < this.headerSize()) continue;
      this.headerBytes = 0;
      this.payloadLeft = this.payloadSize();
      if (this.isTooLarge()) {
        this.refuse();
        return at;
      }
      if (this.payloadLeft === 0) return this.ended(at);
      if (this.mustWait()) return at;
    }
    return at;
  }

  private ended(at: number): number {
    this.frames += 1;
    this.turns.take();
    this.openTurn();
    return at;
  }

  private mustWait(): boolean {
    const delayMs = this.rules.delayOf(this.payloadLeft);
    if (delayMs <= 0) return false;
    this.hold();
    setTimeout(() => {
      this.release();
    }, delayMs);
    return true;
  }

  private headerSize(): number {
    const second = this.header[1] ?? 0;
    const length = second & 0x7f;
    const extended = length === 127 ? 8 : length === 126 ? 2 : 0;
    return MIN_HEADER + extended + (second >= 0x80 ? MASK_BYTES : 0);
  }

  private payloadSize(): number {
    const length = (this.header[1] ?? 0) & 0x7f;
    if (length === 126) return this.header.readUInt16BE(2);
    if (length === 127) return Number(this.header.readBigUInt64BE(2));
    return length;
  }

  /** Fragments of one message count together. */
  private isTooLarge(): boolean {
    const opcode = (this.header[0] ?? 0) & 0x0f;
    if (opcode < FIRST_CONTROL) {
      this.messageBytes = (opcode === CONTINUATION ? this.messageBytes : 0) + this.payloadLeft;
    }
    return Math.max(this.messageBytes, this.payloadLeft) > this.rules.maxBytes();
  }

  private refuse(): void {
    this.dropped = 0;
    this.kept.length = 0;
    this.rules.refuse();
  }
}

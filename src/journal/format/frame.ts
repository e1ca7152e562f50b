/** Decoded frames of a journal. */
import type { Command } from '../../engine/commands.ts';
import type { Seq, TimeUs } from '../../num/units.ts';

export interface CommandFrame {
  readonly kind: 'command';
  readonly seq: Seq;
  readonly command: Command;
}

export type JournalFrame =
  | CommandFrame
  | {
      readonly kind: 'checkpoint';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly stateHash: string;
    }
  | {
      readonly kind: 'end';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly chainHash: string;
    }
  /** Chain hash after this command, as computed by the serving exchange. */
  | {
      readonly kind: 'chain';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly chainHash: string;
    }
  | OrderIdsFrame;

const DIGEST_BYTES = 32;

/**
 * Digests of consecutive orders of the command before. The engine does not store them.
 * They are made into text on demand, since a recovery needs those of retained orders only.
 */
export class OrderIdsFrame {
  readonly kind = 'orderIds';
  readonly seq: Seq;
  readonly timeUs: TimeUs;
  readonly firstId: number;
  /** 32 bytes each; a part of the journal's bytes. */
  readonly bytes: Uint8Array;

  constructor(seq: Seq, timeUs: TimeUs, firstId: number, bytes: Uint8Array) {
    this.seq = seq;
    this.timeUs = timeUs;
    this.firstId = firstId;
    this.bytes = bytes;
  }

  /** 64 hex digits each. */
  get digests(): readonly string[] {
    return Array.from({ length: this.bytes.length / DIGEST_BYTES }, (_, i) =>
      digestAt(this.bytes, i),
    );
  }
}

/** Character codes of the digest that is made into text. */
const codes = new Array<number>(2 * DIGEST_BYTES).fill(0);

function digitCode(digit: number): number {
  return digit < 10 ? 0x30 + digit : 0x57 + digit;
}

/** The i-th digest of 32 bytes, as 64 hex digits. */
export function digestAt(bytes: Uint8Array, i: number): string {
  const from = i * DIGEST_BYTES;
  for (let at = 0; at < DIGEST_BYTES; at++) {
    const byte = bytes[from + at] ?? 0;
    codes[2 * at] = digitCode(byte >> 4);
    codes[2 * at + 1] = digitCode(byte & 15);
  }
  // One flat string; joined parts would be kept as a tree.
  return String.fromCharCode(...codes);
}

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
const DIGITS = '0123456789abcdef';

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

/** The i-th digest of 32 bytes, as 64 hex digits. */
export function digestAt(bytes: Uint8Array, i: number): string {
  const codes: number[] = [];
  for (let at = i * DIGEST_BYTES; at < (i + 1) * DIGEST_BYTES; at++) {
    const byte = bytes[at] ?? 0;
    codes.push(DIGITS.charCodeAt(byte >> 4), DIGITS.charCodeAt(byte & 15));
  }
  // One flat string; joined parts would be kept as a tree.
  return String.fromCharCode(...codes);
}

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
  /**
   * Digests of consecutive orders of the command before. The engine does not store them.
   */
  | {
      readonly kind: 'orderIds';
      readonly seq: Seq;
      readonly timeUs: TimeUs;
      readonly firstId: number;
      /** 64 hex digits each. */
      readonly digests: readonly string[];
    };

/**
 * Frames of orders and cancels that are read into again and again: most of a journal are these, and
 * a replay that made objects of each would spend a good part of its time on making them and on
 * collecting what is left of them.
 */
import { seq as seqOf, type Seq, type TimeUs } from '../../num/units.ts';
import type { CancelOrder, PlaceOrder } from '../../engine/commands.ts';
import type { ByteReader } from './bytes.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import { decodeUncommon } from './codec.ts';
import type { CommandFrame } from './frame.ts';
import {
  ANY_CANCEL,
  ANY_ORDER,
  readCancelOrder,
  readPlaceOrder,
  type Writable,
} from './order-codec.ts';

interface ReusedFrame<C> {
  readonly kind: 'command';
  seq: Seq;
  readonly command: Writable<C>;
}

const TAG_PLACE_ORDER = COMMANDS.placeOrder.tag;
const TAG_CANCEL_ORDER = COMMANDS.cancelOrder.tag;

export class ReusedFrames {
  private readonly orders: ReusedFrame<PlaceOrder>[] = [];
  private readonly cancels: ReusedFrame<CancelOrder>[] = [];
  private ordersUsed = 0;
  private cancelsUsed = 0;

  /** So many of each kind can be in use at a time. */
  constructor(count: number) {
    for (let i = 0; i < count; i++) {
      this.orders.push({
        kind: 'command',
        seq: seqOf(0),
        command: { ...ANY_ORDER },
      });
      this.cancels.push({
        kind: 'command',
        seq: seqOf(0),
        command: { ...ANY_CANCEL },
      });
    }
  }

  /** Releases the frames read so far for reuse. */
  reuse(): void {
    this.ordersUsed = 0;
    this.cancelsUsed = 0;
  }

  /**
   * The command that begins where the reader stands, in a frame that is good until `reuse`. Throws
   * `BytesError`.
   */
  read(reader: ByteReader, seq: Seq, atUs: TimeUs): CommandFrame {
    const start = reader.at;
    const tag = reader.u8();
    if (tag === TAG_CANCEL_ORDER) {
      const frame = this.cancels[this.cancelsUsed];
      if (frame !== undefined) {
        readCancelOrder(reader, atUs, frame.command);
        frame.seq = seq;
        this.cancelsUsed += 1;
        return frame;
      }
    } else if (tag === TAG_PLACE_ORDER) {
      const frame = this.orders[this.ordersUsed];
      if (frame !== undefined && readPlaceOrder(reader, atUs, frame.command)) {
        frame.seq = seq;
        this.ordersUsed += 1;
        return frame;
      }
    }
    reader.at = start;
    return { kind: 'command', seq, command: decodeUncommon(reader, atUs) };
  }
}

import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';
import { StreamInvariant } from './stream-invariant.ts';

/** Numbers and times increase: one `seq` per command, one index per event, one id per trade. */
export class Sequence extends StreamInvariant {
  readonly name = 'monotoneSequence';
  readonly rule = 'R-2.10, R-12.1';
  readonly says =
    'sequence numbers, event indices, order and trade ids count up, and time never goes back';
  private seq = 0;
  private index = 0;
  private timeUs = 0;
  private orderId = 0;
  private tradeId = 0;

  see(event: EngineEvent): void {
    if (event.seq !== this.seq + 1) this.fail(`event of command ${event.seq} in ${this.seq + 1}`);
    if (event.index !== this.index) {
      this.fail(`command ${event.seq}: event ${event.index} where ${this.index} follows`);
    }
    this.index = event.index + 1;
    if (event.timeUs < this.timeUs) {
      this.fail(`command ${event.seq}: ${event.kind} at ${event.timeUs} after ${this.timeUs}`);
    }
    this.timeUs = event.timeUs;
    if (event.kind === 'tradePrinted') {
      if (event.tradeId !== this.tradeId + 1) {
        this.fail(`command ${event.seq}: trade ${event.tradeId} after ${this.tradeId}`);
      }
      this.tradeId = event.tradeId;
    }
    if (event.kind === 'orderAccepted' || event.kind === 'orderRejected') {
      if (
        event.orderId <= this.orderId &&
        event.kind === 'orderAccepted' &&
        event.cause !== 'command'
      ) {
        this.fail(`command ${event.seq}: order ${event.orderId} after ${this.orderId}`);
      }
      this.orderId = Math.max(this.orderId, event.orderId);
    }
  }

  override settle(engine: Engine, command: Command): void {
    this.seq += 1;
    this.index = 0;
    if (engine.seq !== this.seq) this.fail(`sequence ${engine.seq} after ${this.seq} commands`);
    if (this.timeUs > command.timeUs || engine.nowUs !== command.timeUs) {
      this.fail(`command ${this.seq}: now is ${engine.nowUs}, it was given at ${command.timeUs}`);
    }
    if (engine.lastOrderId < this.orderId) {
      this.fail(`order ${this.orderId} was seen, the last is ${engine.lastOrderId}`);
    }
  }
}

import type { EngineEvent } from '../../engine/events.ts';
import { StreamInvariant } from './stream-invariant.ts';

/** A frozen market has no event that depends on or changes its price. */
export class FrozenMarkets extends StreamInvariant {
  readonly name = 'frozenMarketsRest';
  readonly rule = 'R-5.3b';
  readonly says =
    'a frozen market has no trigger, no funding and no liquidation, and its mark does not move';
  private readonly frozen = new Set<number>();
  private readonly marks = new Map<number, number>();

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'marketFrozen':
        if (event.frozen === this.frozen.has(event.market)) {
          this.fail(`market ${event.market} is frozen ${String(event.frozen)} twice`);
        }
        if (event.frozen) this.frozen.add(event.market);
        else this.frozen.delete(event.market);
        break;
      case 'marketListed':
        if (event.spec.initialMarkTicks !== null) {
          this.marks.set(event.market, event.spec.initialMarkTicks);
        }
        break;
      case 'markChanged': {
        const before = this.marks.get(event.market);
        if (this.frozen.has(event.market) && before !== event.markTicks) {
          this.fail(`market ${event.market}: the mark moved to ${event.markTicks}`);
        }
        this.marks.set(event.market, event.markTicks);
        break;
      }
      case 'orderReleased':
        if (event.cause === 'trigger' && this.frozen.has(event.market)) {
          this.fail(`market ${event.market}: order ${event.orderId} fired`);
        }
        break;
      case 'fundingSettled':
        if (event.ratePpb !== 0 && this.frozen.has(event.market)) {
          this.fail(`market ${event.market}: funding was settled at ${event.ratePpb}`);
        }
        break;
      case 'liquidationStep':
        if (event.step === 'order' && event.market !== null && this.frozen.has(event.market)) {
          this.fail(`market ${event.market}: subaccount ${event.subaccount} is liquidated`);
        }
        break;
      default:
    }
  }
}

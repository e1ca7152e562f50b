import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';
import { StreamInvariant } from './stream-invariant.ts';

type Transferred = Extract<EngineEvent, { kind: 'positionTransferred' }>;

/** Positions are transferred at the settlement price, or to the vault at the take-over price. */
export class TransferPrices extends StreamInvariant {
  readonly name = 'transfersAtSettlement';
  readonly rule = 'R-6.2, R-6.4, R-13.2';
  readonly says =
    'a position is closed against another at the index, or at the mark if there is no index or the mark is recorded; the vault takes it at that price or at the worse of both';
  private readonly recorded = new Set<number>();
  private readonly marks = new Map<number, number>();
  private readonly indices = new Map<number, number>();
  private wrong: string | null = null;

  see(event: EngineEvent): void {
    switch (event.kind) {
      case 'marketListed':
        if (event.spec.markSource === 'external') this.recorded.add(event.market);
        if (event.spec.initialMarkTicks !== null) {
          this.marks.set(event.market, event.spec.initialMarkTicks);
        }
        break;
      case 'oracleSet':
        this.indices.set(event.market, event.indexTicks);
        break;
      case 'markChanged':
        this.marks.set(event.market, event.markTicks);
        if (event.indexTicks !== null) this.indices.set(event.market, event.indexTicks);
        break;
      case 'positionTransferred':
        this.checker(event);
        break;
      default:
    }
  }

  private checker({ market, reason, lots, priceTicks, moneyQuanta }: Transferred): void {
    if (reason === 'delisting') {
      if (moneyQuanta !== 0n) this.fail(`market ${market}: ${moneyQuanta} went with a delisting`);
      return;
    }
    const mark = this.marks.get(market);
    const index = this.recorded.has(market) ? undefined : this.indices.get(market);
    const settlement = index ?? mark;
    const worse = lots > 0 ? Math.min : Math.max;
    const fits =
      priceTicks === settlement ||
      (reason === 'takeover' &&
        mark !== undefined &&
        settlement !== undefined &&
        priceTicks === worse(mark, settlement));
    if (fits) return;
    this.wrong ??= `market ${market}: ${reason} at ${priceTicks}, mark ${mark ?? 'none'}, settlement ${settlement ?? 'none'}`;
  }

  /** Prices inside a bar are reported only at its end. */
  override settle(_engine: Engine, command: Command): void {
    if (this.wrong !== null && command.kind !== 'tapeBar') this.fail(this.wrong);
    this.wrong = null;
  }
}

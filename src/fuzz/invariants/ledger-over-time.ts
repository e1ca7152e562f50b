import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';
import { subaccountId } from '../../num/units.ts';
import { StreamInvariant } from './stream-invariant.ts';

/** Every change of cash has a ledger entry, and funding sums to zero. */
export class Ledger extends StreamInvariant {
  readonly name = 'ledgerAddsUp';
  readonly rule = 'R-1.6, R-6.6, R-7.3, R-8.1';
  readonly says =
    'a balance is the sum of its entries, funding sums to zero with its rounding, insurance is never below zero and the shortfall never above it';
  private readonly cash = new Map<number, bigint>();
  private funding = 0n;
  private insurance: number | null = null;
  private shortfall: number | null = null;

  see(event: EngineEvent): void {
    if (event.kind === 'balanceChanged') {
      const before = this.cash.get(event.subaccount) ?? 0n;
      if (before + event.deltaQuanta !== event.balanceQuanta) {
        this.fail(
          `subaccount ${event.subaccount}: ${before} + ${event.deltaQuanta} (${event.reason}) ≠ ${event.balanceQuanta}`,
        );
      }
      this.cash.set(event.subaccount, event.balanceQuanta);
      if (event.reason === 'funding') this.funding += event.deltaQuanta;
    } else if (event.kind === 'isolatedMarginChanged') {
      if (event.reason === 'funding') this.funding += event.deltaQuanta;
    } else if (event.kind === 'fundingSettled') {
      if (this.funding + event.roundingQuanta !== 0n || event.roundingQuanta < 0n) {
        this.fail(
          `market ${event.market}: funding moved ${this.funding}, rounding ${event.roundingQuanta}`,
        );
      }
      this.funding = 0n;
    }
  }

  override settle(engine: Engine): void {
    this.insurance ??= engine.subaccountIdOf(engine.config.insuranceAccount, 0) ?? null;
    const held = this.insurance === null ? 0n : (this.cash.get(this.insurance) ?? 0n);
    if (held < 0n) this.fail(`insurance holds ${held}`);
    this.shortfall ??= engine.subaccountIdOf(engine.config.shortfallAccount, 0) ?? null;
    const missing = this.shortfall === null ? 0n : (this.cash.get(this.shortfall) ?? 0n);
    if (missing > 0n) this.fail(`the shortfall holds ${missing}`);
  }

  override compare(engine: Engine): void {
    for (const [id, cash] of this.cash) {
      const held = engine.subaccount(subaccountId(id)).balanceQuanta;
      if (held !== cash) this.fail(`subaccount ${id} holds ${held}, its entries add up to ${cash}`);
    }
  }
}

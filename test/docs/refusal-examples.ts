/** Refusals with example data, for the pages that list their texts. */
import {
  REFUSALS,
  type Refusal,
  type RefusalCode,
  type RefusalOf,
} from '../../src/engine/refusals.ts';
import { lots, ppm, priceTicks, quanta, timeUs } from '../../src/num/units.ts';

/** Every code whose refusals carry data has at least one example; the compiler asks for it. */
type Examples = {
  readonly [
    Code in RefusalCode as { code: Code } extends RefusalOf<Code> ? never : Code
  ]: readonly RefusalOf<Code>[];
};

const maxTicks = priceTicks(2_147_483_647);
const tickSize = '0.1';
const lotSize = '0.0001';

const EXAMPLES: Examples = {
  batch_too_large: [{ code: 'batch_too_large', maxOrders: 100 }],
  price_not_positive: [
    { code: 'price_not_positive', field: 'price' },
    { code: 'price_not_positive', field: 'stopLoss.price' },
  ],
  price_off_tick: [
    { code: 'price_off_tick', field: 'price', tickSize, ioc: false },
    { code: 'price_off_tick', field: 'triggerPrice', tickSize, ioc: false },
    { code: 'price_off_tick', field: 'price', tickSize, ioc: true },
  ],
  price_too_high: [{ code: 'price_too_high', field: 'price', maxTicks, tickSize }],
  quantity_off_lot: [{ code: 'quantity_off_lot', lotSize }],
  quantity_below_minimum: [{ code: 'quantity_below_minimum', minLots: lots(10), lotSize }],
  quantity_above_maximum: [{ code: 'quantity_above_maximum', maxLots: lots(10_000_000), lotSize }],
  originator_fee_too_high: [{ code: 'originator_fee_too_high', maxPpm: ppm(1000) }],
  period_not_allowed: [
    { code: 'period_not_allowed', orderType: 'limit' },
    { code: 'period_not_allowed', orderType: 'twap' },
  ],
  trigger_price_not_positive: [{ code: 'trigger_price_not_positive', field: 'triggerPrice' }],
  parent_not_allowed: [
    { code: 'parent_not_allowed', leg: null, orderType: 'limit' },
    { code: 'parent_not_allowed', leg: 'takeProfit', orderType: 'twap' },
    { code: 'parent_not_allowed', leg: 'takeProfit', orderType: 'limit' },
  ],
  vault_deposit_too_small: [{ code: 'vault_deposit_too_small', minQuanta: quanta(10_000_000n) }],
  vault_shares_locked: [{ code: 'vault_shares_locked', untilUs: timeUs(1_700_000_000_000_000) }],
  amount_exceeds_available: [{ code: 'amount_exceeds_available', availableQuanta: quanta(0n) }],
  margin_below_initial: [{ code: 'margin_below_initial', minPpm: ppm(50_000) }],
  too_many_delegates: [{ code: 'too_many_delegates', maxDelegates: 16 }],
  signers_count: [{ code: 'signers_count', maxSigners: 16 }],
};

export function examplesOf(code: RefusalCode): readonly Refusal[] {
  // A code without an example is one without data.
  return (
    (EXAMPLES as Partial<Record<RefusalCode, readonly Refusal[]>>)[code] ?? [{ code } as Refusal]
  );
}

export const ALL_EXAMPLES: readonly Refusal[] = REFUSALS.flatMap(examplesOf);

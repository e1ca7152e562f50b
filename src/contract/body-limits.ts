/** Limits of request bodies and feed messages, by endpoint; enforced while they arrive. */
import type { EndpointId } from './endpoints.ts';
import type { JsonLimits } from './json-scan.ts';

/** One order with 16 signatures has 4 KiB. */
export const SMALL_BODY: JsonLimits = { bytes: 16_384, digits: 64, items: 512, depth: 16 };
/** A hundred such orders, or the ids of 500 cancels. */
export const BATCH_BODY: JsonLimits = { bytes: 524_288, digits: 64, items: 16_384, depth: 16 };
/** Terms of a market, under /sim and /operator. */
export const CONTROL_BODY: JsonLimits = { bytes: 65_536, digits: 64, items: 4096, depth: 16 };

const BATCHES: readonly EndpointId[] = ['submitOrders', 'cancelOrders'];

export function bodyLimitsOf(id: EndpointId): JsonLimits {
  return BATCHES.includes(id) ? BATCH_BODY : SMALL_BODY;
}

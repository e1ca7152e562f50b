/** Extracts signed requests from unvalidated input, to recover signers ahead of the gateway. */
import type { EndpointId } from '../contract/endpoints.ts';
import { MAX_BATCH_ORDERS } from '../engine/orders/group-rules.ts';
import type { SignedRequest } from './ports.ts';

const KINDS: Partial<Record<EndpointId, SignedRequest['kind']>> = {
  submitOrder: 'Order',
  submitOrders: 'Order',
  transfer: 'Transfer',
  updateDelegates: 'Delegate',
  updateSigners: 'Signers',
  updateMargin: 'Margin',
};
export const MAX_SIGNATURES = 16;

/** Empty if the endpoint is unsigned or the input is malformed. */
export function signedRequestsOf(endpoint: EndpointId, input: unknown): readonly SignedRequest[] {
  const kind = KINDS[endpoint];
  if (kind === undefined) return [];
  const bodies = endpoint === 'submitOrders' ? own(input, 'orders') : [input];
  if (!Array.isArray(bodies) || bodies.length > MAX_BATCH_ORDERS) return [];
  return bodies.flatMap((body: unknown): SignedRequest[] => {
    const signatures = own(body, 'signatures');
    if (!isSignatures(signatures)) return [];
    return [{ kind, body: body as SignedRequest['body'], signatures }];
  });
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

function isSignatures(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= MAX_SIGNATURES &&
    value.every((one) => typeof one === 'string')
  );
}

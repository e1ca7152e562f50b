/**
 * HTTP and in-process replies are identical: status and body of every endpoint × caller, and of
 * every rejected order.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGE_HEADERS } from '../../src/contract/endpoints.ts';
import type { Caller } from '../../src/gateway/context.ts';
import { callerOf, KINDS, ROWS, setUp } from '../engine/accounts/permission-table.ts';
import type { RiskWorld } from '../engine/risk-world.ts';
import { SUBMIT_REFUSALS } from '../gateway/submit-refusals.ts';
import { order, Fixture, ALICE } from '../gateway/fixture.ts';
import { Served } from './served.ts';

/** JSON as both sides encode it. */
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('endpoints and callers', () => {
  let served: Served;
  let world: RiskWorld;
  beforeAll(async () => {
    world = setUp();
    served = await Served.start({ config: world.engine.config, opening: world.commands });
    expect(served.host.view.seq).toBe(world.engine.seq);
  });
  afterAll(() => served.remove());

  for (const [endpoint, input] of ROWS) {
    // Login exists over HTTP only (wallet.test.ts).
    if (['getAuth', 'postAuth', 'getClaims'].includes(endpoint)) continue;
    test.each(KINDS)(`${endpoint} by %s`, async (kind) => {
      const body = input(world);
      const caller: Caller | null = callerOf(world, kind);
      const wanted = world.gateway.handle(endpoint, body, caller);
      const got = await served.call(endpoint, body, caller);
      expect([got.status, got.body]).toEqual([wanted.status, json(wanted.body)]);
      expect(got.headers.get(PAGE_HEADERS.next)).toBe(wanted.page?.next ?? null);
      const kindOfText = wanted.status === 200 ? 'application/json' : 'text/plain';
      expect(got.headers.get('content-type')).toContain(kindOfText);
    });
  }
});

describe('rejected orders', () => {
  let served: Served;
  const fixture = new Fixture();
  beforeAll(async () => {
    served = await Served.start({ opening: fixture.commands });
  });
  afterAll(() => served.remove());

  test.each(
    SUBMIT_REFUSALS.filter(([name]) => !['NaN as nonce', 'a rounded nonce'].includes(name)),
  )('%s', async (_name, changes, status, message) => {
    const got = await served.call('submitOrder', order(changes), { account: ALICE, signer: ALICE });
    expect(got.status).toBe(status);
    if (message !== '') expect(got.body).toBe(message);
  });
});

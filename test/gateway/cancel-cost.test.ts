import { expect, test, vi } from 'vitest';
import { ClientIds } from '../../src/engine/book/client-ids.ts';
import { ALICE, Fixture, order } from './fixture.ts';

const ENDED = 400;
const ASKED = 100;

test('R-11.2: cancels of unknown orders cost the same after many orders have ended', () => {
  const fixture = new Fixture();
  const flags = { ioc: true, postOnly: false, reduceOnly: false };
  for (let i = 0; i < ENDED; i++) {
    const placed = order({ clientId: `ended-${String(i)}`, flags });
    expect(fixture.call('submitOrder', placed).status).toBe(200);
  }
  fixture.call('submitOrder', order({ clientId: 'resting' }));
  const compared = vi.spyOn(ClientIds.prototype, 'is');
  const unknown = Array.from({ length: ASKED }, (_, i) => `none-${String(i)}`);
  const clientIds = ['ended-7', ...unknown, 'resting'];
  const { status, body } = fixture.call('cancelOrders', { account: ALICE, clientIds });
  const visits = compared.mock.calls.length;
  compared.mockRestore();
  expect(status).toBe(200);
  expect(body).toMatchObject({ cancelled: [{ clientId: 'resting' }] });
  expect((body as { failed: unknown[] }).failed).toHaveLength(1 + ASKED);
  // The ended orders of the account are not visited for each.
  expect(visits).toBeLessThan(ENDED);
});

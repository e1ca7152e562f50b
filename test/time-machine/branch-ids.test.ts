import { expect, it } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { OrderOrigins } from '../../src/time-machine/what-if/branch-ids.ts';

const accepted = (orderId: number, cause: string): EngineEvent =>
  ({ kind: 'orderAccepted', orderId, cause }) as unknown as EngineEvent;

it('an order that a command lacks moves no order of the exchange', () => {
  const base = new OrderOrigins(10);
  const branch = new OrderOrigins(10);
  base.note('5', [accepted(11, 'liquidation'), accepted(12, 'command'), accepted(13, 'command')]);
  branch.note('5', [accepted(11, 'liquidation'), accepted(12, 'command')], 0);
  expect(branch.originOf(11)).toBe(base.originOf(11));
  expect(branch.originOf(12)).toBe(base.originOf(13));
});

/** `/sim/command`: any command of the engine, at its own time, on a virtual clock only. */
import { afterAll, expect, test } from 'vitest';
import { Served } from './served.ts';

const open: Served[] = [];
afterAll(async () => {
  for (const served of open) await served.remove();
});

async function serve(clock: 'wall' | 'virtual'): Promise<Served> {
  const served = await Served.start({ clock });
  open.push(served);
  return served;
}

test('a command is applied at its time, and its outcome returned', async () => {
  const served = await serve('virtual');
  const timeUs = served.host.nowUs() + 1_000_001;
  const account = `0x${'1'.repeat(40)}`;
  const deposit = { kind: 'deposit', timeUs, account, subaccountIndex: 0, amount: '5000000' };
  expect(await served.sim('command', deposit)).toMatchObject({
    status: 200,
    body: { outcome: 'ok' },
  });
  expect(served.host.view.nowUs).toBe(timeUs);
  const refused = await served.sim('command', { ...deposit, amount: '0' });
  expect(refused.body).toEqual({ outcome: 'amount_not_positive' });
});

test('a faulty command, an earlier one, and a wall clock are refused with the field', async () => {
  const served = await serve('virtual');
  const fault = await served.sim('command', { kind: 'cancelOrder', orderId: 'x' });
  expect(fault).toMatchObject({ status: 400 });
  expect(fault.text).toContain('orderId: must be a whole number');
  const early = await served.sim('command', { kind: 'advanceTime', timeUs: 1 });
  expect(early.text).toContain('timeUs: must not be before now');
  const wall = await serve('wall');
  const late = await wall.sim('command', { kind: 'advanceTime' });
  expect(late.status).toBe(400);
  expect(late.text).toContain('--clock virtual');
});

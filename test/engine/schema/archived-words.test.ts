/** Words of a snapshot are stored as codes: an unknown code is an error, never another word. */
import { expect, test } from 'vitest';
import { ArchiveError, ArchiveWriter } from '../../../src/base/archive.ts';
import { Exchange } from '../../../src/engine/exchange.ts';
import { AttackWorld } from '../../attacks/world.ts';

const UNKNOWN = 60;

/** Place behind the name of a section. */
function placeOf(bytes: Uint8Array, section: string): number {
  const writer = new ArchiveWriter();
  writer.section(section);
  const name = writer.bytes();
  const at = Buffer.from(bytes).lastIndexOf(name);
  expect(at).toBeGreaterThan(0);
  return at + name.length;
}

test('type and status of an order', () => {
  const world = new AttackWorld([{ symbol: 'M', tickSize: '0.01', lotSize: '1' }]);
  world.fund({ alice: '1000' });
  world.price('10', 'M');
  expect(world.order('alice', '1', '9', { symbol: 'M' })).toMatchObject({ status: 'new' });
  const bytes = world.engine.snapshot();
  const restored = (at: number) => () => {
    const changed = Uint8Array.from(bytes);
    changed[at] = UNKNOWN << 1;
    return Exchange.restore(changed);
  };
  // Behind the number of orders: id, subaccount and market, of one byte each.
  const type = placeOf(bytes, 'orders') + 4;
  expect(restored(type)).toThrow(/code 60 is none of limit, /);
  expect(restored(type)).toThrow(ArchiveError);
  let statuses = 0;
  for (let at = type + 1; at < type + 80; at++) {
    try {
      restored(at)();
    } catch (error) {
      if (/code 60 is none of new, /.test((error as Error).message)) statuses += 1;
    }
  }
  expect(statuses).toBe(1);
});

/** Values that cross the boundary of a strategy's realm. */
import { expect, test } from 'vitest';
import { pack, packReply, unpack } from '../../src/strategy/plain-data.ts';

const REPLIES: readonly (readonly [string, unknown])[] = [
  ['an order', { orderId: 'ab', nonce: 7, price: '1.5', flags: { ioc: true }, reason: null }],
  ['a list', [1, 'two', null, [true]]],
  ['a bigint', { expiresAt: 2n ** 63n - 1n, nonce: 1 }],
  ['nothing', undefined],
  ['text', 'done'],
  ['the key of tags', { $: ['bigint', '7'] }],
  ['the key of tags inside', { orders: [{ $: ['map', []] }], text: '{"$":1}' }],
];

test.each(REPLIES)('%s is the same after its way as a reply', (_name, reply) => {
  expect(unpack(packReply(reply))).toEqual(reply);
  expect(unpack(packReply(reply))).toEqual(unpack(pack(reply)));
});

test('a plain reply is its JSON', () => {
  const reply = { status: 'filled', fills: [{ price: '10' }] };
  expect(packReply(reply)).toBe(JSON.stringify(reply));
});

import { expect, test } from 'vitest';
import { hostsOf, shownAddress } from '../../src/postgres/address.ts';

test('several hosts are addresses of their own', () => {
  expect(hostsOf('postgres://me:secret@a:5432,b:5433/x?sslmode=require')).toEqual([
    'postgres://me:secret@a:5432/x?sslmode=require',
    'postgres://me:secret@b:5433/x?sslmode=require',
  ]);
  expect(hostsOf('postgres://a/x?user=me@corp')).toEqual(['postgres://a/x?user=me@corp']);
  expect(hostsOf('postgresql:///x')).toEqual(['postgresql:///x']);
  expect(() => hostsOf('./var')).toThrow(/must start with postgres/);
});

test.each([
  'postgres://me:secret@a:5432/x',
  'postgres://me:se@cret@a:5432/x',
  'postgres://me:se/cret@a:5432/x',
  'postgres://me:se?cret@a:5432/x?password=secret',
  'postgres://a:5432/x?user=me&password=secret',
  'postgres://a:5432/x?user=me@corp&password=secret',
])('%s is shown without its password', (address) => {
  expect(shownAddress(address)).not.toMatch(/secret|cret/);
});

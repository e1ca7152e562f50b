import { expect, test } from 'vitest';
import { asksForPrimary, hostsOf, shownAddress } from '../../src/postgres/address.ts';
import { Session } from '../../src/postgres/session.ts';

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
  ['postgres://me:se/cret@a:5432/x', true],
  ['postgres://me:se?cret@a:5432/x', true],
  ['postgres://me:se#cret@a:5432/x', true],
  ['postgres://me:s@se/c?ret@a:5432/x?sslmode=require', true],
  ['postgres://me:s%2Fecret@a:5432/x?options=a@b', false],
  ['postgres://me:se@cret@a:5432/x', false],
  ['postgres:///x?host=/run/a@b', false],
  ['postgres://a,b/x?user=me@corp', false],
])('%s: a password that must be encoded: %s', (address, isRefused) => {
  if (isRefused) expect(() => hostsOf(address)).toThrow(/write \/ as %2F/);
  else expect(hostsOf(address).length).toBeGreaterThan(0);
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

test.each([
  ['postgres:///x?host=a,b', 'write several hosts as postgres://a:5432,b:5432/exchange'],
  ['postgres:///x?host=a%2Cb&port=1%2C2', 'write several hosts as postgres://'],
  ['postgres:///x?hostaddr=10.0.0.1', 'hostaddr is not supported; name the host'],
  ['postgres:///?service=main', 'service is not supported; name the host'],
  ['postgres://a,b/x?target_session_attrs=any', 'must be read-write or primary'],
  ['postgres://a/x?target_session_attrs=standby', 'must be read-write or primary'],
])('%s names no server that the client would use', async (address, message) => {
  expect(() => hostsOf(address)).toThrow(message);
  const session = new Session({ address, connectMs: 1000, answerMs: 1000 });
  await expect(session.query('one', 'select 1')).rejects.toThrow(message);
});

test('a server that takes writes may be asked for, as in libpq', () => {
  for (const choice of ['read-write', 'primary']) {
    const address = `postgres://a,b/x?target_session_attrs=${choice}&sslmode=require`;
    expect(hostsOf(address)).toHaveLength(2);
    expect(asksForPrimary(address)).toBe(true);
  }
  expect(hostsOf('postgres://a/x?target_session_attrs=any')).toHaveLength(1);
  expect(asksForPrimary('postgres://a/x?target_session_attrs=any')).toBe(false);
});

test('an address that is not valid is named by its error', async () => {
  const address = 'postgres://me:secret@a:99999/x';
  const session = new Session({ address, connectMs: 1000, answerMs: 1000 });
  await expect(session.query('one', 'select 1')).rejects.toMatchObject({
    ...{ name: 'DatabaseError', message: 'postgres://a:99999/x: Invalid URL' },
  });
});

test('the error of several hosts has the answer of each', async () => {
  const address = 'postgres://me@127.0.0.1:1,127.0.0.1:2/x';
  const session = new Session({ address, connectMs: 1000, answerMs: 1000 });
  await expect(session.query('one', 'select 1')).rejects.toThrow(/127.0.0.1:1; .*127.0.0.1:2$/);
});

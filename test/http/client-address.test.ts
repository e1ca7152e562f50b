/** Addresses behind proxies equal those of the package that Fastify uses. */
import proxyAddress from '@fastify/proxy-addr';
import { expect, test } from 'vitest';
import { clientAddress } from '../../src/http/client-address.ts';

const TRUSTED = [
  [],
  ['loopback'],
  ['10.0.0.0/8', '192.168.1.7'],
  ['10.0.0.0/255.255.0.0', 'uniquelocal'],
  ['2001:db8::/32', 'linklocal', '127.0.0.1'],
];
const ADDRESSES = [
  ...['127.0.0.1', '::ffff:127.0.0.1', '::1', '10.0.3.4', '10.9.0.1', '192.168.1.7', '192.168.1.8'],
  ...['2001:db8::5', '2001:db9::5', 'fe80::1', '203.0.113.9', '::ffff:10.0.0.9', 'fc00::1'],
];

test.each(TRUSTED.map((trusted) => ({ trusted })))('with trusted $trusted', ({ trusted }) => {
  const mine = clientAddress(trusted);
  const theirs = proxyAddress.compile(trusted);
  const seen = new Set<string>();
  for (const remoteAddress of ADDRESSES) {
    for (const first of ADDRESSES) {
      for (const second of [null, ...ADDRESSES]) {
        const header = second === null ? first : `${first}, ${second}`;
        const request = {
          headers: { 'x-forwarded-for': header },
          socket: { remoteAddress },
        } as never;
        const found = mine(request);
        expect(found, `${remoteAddress} ${header}`).toBe(proxyAddress(request, theirs));
        seen.add(found);
      }
    }
  }
  expect(seen.size).toBeGreaterThan(5);
});

test('without a header, the address of the socket', () => {
  const request = { headers: {}, socket: { remoteAddress: '127.0.0.1' } } as never;
  expect(clientAddress(['loopback'])(request)).toBe('127.0.0.1');
});

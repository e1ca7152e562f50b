/** Addresses of clients behind proxies, for WebSocket upgrades: as `request.ip` of Fastify. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { IncomingMessage } from 'node:http';

const RANGES: Readonly<Record<string, readonly string[]>> = {
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  loopback: ['127.0.0.1/8', '::1/128'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** An address, a subnet with its length or mask, or a name of `RANGES`. */
export function isProxyRange(text: string): boolean {
  if (Object.hasOwn(RANGES, text)) return true;
  const [network = '', length, ...more] = text.split('/');
  const family = isIP(network);
  if (family === 0 || more.length > 0) return false;
  if (length === undefined || (family === 4 && isIPv4(length))) return true;
  return (
    /^\d{1,3}$/.test(length) && Number(length) >= 1 && Number(length) <= (family === 4 ? 32 : 128)
  );
}

/**
 * The last address that no trusted proxy forwarded.
 *
 * @param trusted addresses, subnets (`10.0.0.0/8`), or names of `RANGES`; Fastify refuses others
 */
export function clientAddress(
  trusted: readonly string[],
): (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string {
  const proxies = new BlockList();
  for (const range of trusted.flatMap((text) => RANGES[text] ?? [text])) {
    const [network = '', length] = range.split('/');
    const family = isIPv4(network) ? 'ipv4' : 'ipv6';
    if (length === undefined) proxies.addAddress(network, family);
    else proxies.addSubnet(network, prefixOf(length), family);
  }
  const isProxy = (text: string): boolean =>
    isIP(text) !== 0 && proxies.check(text, isIPv4(text) ? 'ipv4' : 'ipv6');
  return ({ headers, socket }) => {
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    const given = forwarded.map((text) => text.trim()).filter((text) => text !== '');
    const chain = [socket.remoteAddress ?? '', ...given.reverse()];
    return chain.find((text) => !isProxy(text)) ?? chain.at(-1) ?? '';
  };
}

/** Of `8`, or of the mask `255.0.0.0`. */
function prefixOf(length: string): number {
  if (!isIPv4(length)) return Number(length);
  const bits = length.split('.').map((part) => Number(part).toString(2).padStart(8, '0'));
  return bits.join('').lastIndexOf('1') + 1;
}

/**
 * A difference between a host and its twin as a scenario: the commands, then the request whose
 * reply differs, with that part of the reply which the rules require. For a difference of a feed,
 * all feeds are checked after each command. It runs in the process of a build, so it shows faults
 * of engine and gateway, and none of the server around them.
 */
import { PAGE_HEADERS } from '../../contract/endpoints.ts';
import type { ExchangeConfig } from '../../engine/config.ts';
import type { Command } from '../../engine/commands.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { Keccak } from '../../gateway/ports.ts';
import { HOST_SPECIFIC } from '../twin/compare-replies.ts';
import type { HostDivergence } from '../twin/divergence.ts';
import type { HostReply } from '../twin/twin-host.ts';
import { Twin } from '../twin/twin.ts';
import { reproduce } from './reproduction.ts';
import { scenarioReference, scenarioText, type LastRequest } from './scenario-text.ts';

interface Found {
  readonly config: ExchangeConfig;
  /** Commands of the twin before the probe. */
  readonly commands: readonly Command[];
  readonly divergence: HostDivergence;
}

/** Null if a scenario has no words for it, such as simulation control. */
export function hostScenario(found: Found, keccak: Keccak): string | null {
  const { config, commands, divergence } = found;
  const { probe, timeMs, difference, violation } = divergence;
  const write = (checks: readonly string[], last: LastRequest | null): string => {
    const reproduction = reproduce(config, commands, {
      createEngine: (own) => new Exchange(own),
      keccak,
      reference: scenarioReference,
      tape: true,
      readable: true,
    });
    return scenarioText(config, reproduction, violation, checks, last);
  };
  if (probe.kind === 'feeds') return write(['feeds'], null);
  if (probe.kind !== 'call') return null;
  const expect = expectationOf(replyTo(found, keccak), difference.path);
  if (expect === null) return null;
  const { endpoint, request, account, page } = probe;
  return write([], { timeUs: timeMs * 1000, endpoint, request, account, page: page + 1, expect });
}

/** The reply of a correct exchange. */
function replyTo({ config, commands, divergence }: Found, keccak: Keccak): HostReply {
  const { probe, timeMs } = divergence;
  if (probe.kind !== 'call') throw new Error('only a request has a reply');
  const twin = new Twin(config, [], keccak, () => () => undefined);
  for (const command of commands) twin.repeat(command);
  if (timeMs * 1000 > twin.engine.nowUs) twin.advanceToMs(timeMs);
  const { endpoint, request, account, page } = probe;
  let reply = twin.call(endpoint, request, account);
  for (let at = 0; at < page; at += 1) {
    reply = twin.call(endpoint, { ...request, cursor: reply.page?.next }, account);
  }
  return reply;
}

/** The part of a reply at a path of a difference; null if an expectation cannot say it. */
function expectationOf(
  { status, body, page }: HostReply,
  path: string,
): LastRequest['expect'] | null {
  if (path === 'status') return { status };
  if (path === PAGE_HEADERS.next) return { more: (page?.next ?? null) !== null };
  if (path === PAGE_HEADERS.keptSince) return { keptSince: page?.keptSinceMs ?? null };
  if (status !== 200 || !/^body([.[]|$)/.test(path)) return null;
  const names = [...path.matchAll(/\.(\w+)|\[(\d+)\]/g)].map(([, name, at]) => name ?? Number(at));
  const part = partOf(body, names);
  return part === undefined ? null : { body: part };
}

/** Lists match in full, so each item has the same part. */
function partOf(value: unknown, path: readonly (string | number)[]): unknown {
  const [next, ...rest] = path;
  if (Array.isArray(value)) {
    if (next === undefined || next === 'length') return value.map(() => ({}));
    const parts = value.map((item: unknown) => partOf(item, rest));
    return parts.includes(undefined) ? undefined : parts;
  }
  if (typeof value !== 'object' || value === null) return next === undefined ? value : undefined;
  const record = value as Readonly<Record<string, unknown>>;
  if (next === undefined) {
    return Object.fromEntries(Object.entries(record).filter(([name]) => !HOST_SPECIFIC.has(name)));
  }
  const part = partOf(record[next], rest);
  return part === undefined ? undefined : { [next]: part };
}

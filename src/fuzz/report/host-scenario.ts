/**
 * A difference between a host and its twin as a scenario: the commands, then the request whose
 * reply differs, with that part of the reply which the rules require. It runs in the process of a
 * build, so it shows faults of engine and gateway, and none of the server around them.
 */
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

/** Null if a scenario has no words for it: pages after the first, feeds and simulation control. */
export function hostScenario(found: Found, keccak: Keccak): string | null {
  const { config, commands, divergence } = found;
  const { probe, timeMs, difference, violation } = divergence;
  if (probe.kind !== 'call' || probe.page > 0) return null;
  const timeUs = timeMs * 1000;
  const expect = expectationOf(replyTo(found, keccak), difference.path);
  if (expect === null) return null;
  const reproduction = reproduce(config, commands, {
    createEngine: (own) => new Exchange(own),
    keccak,
    reference: scenarioReference,
    tape: true,
    readable: true,
  });
  const { endpoint, request, account } = probe;
  const last = { timeUs, endpoint, request, account, expect };
  return scenarioText(config, reproduction, violation, [], last);
}

/** The reply of a correct exchange. */
function replyTo({ config, commands, divergence }: Found, keccak: Keccak): HostReply {
  const { probe, timeMs } = divergence;
  if (probe.kind !== 'call') throw new Error('only a request has a reply');
  const twin = new Twin(config, [], keccak, () => () => undefined);
  for (const command of commands) twin.repeat(command);
  if (timeMs * 1000 > twin.engine.nowUs) twin.advanceToMs(timeMs);
  return twin.call(probe.endpoint, probe.request, probe.account);
}

/** The part of a reply at a path of a difference; null if an expectation cannot say it. */
function expectationOf({ status, body }: HostReply, path: string): LastRequest['expect'] | null {
  if (path === 'status') return { status };
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

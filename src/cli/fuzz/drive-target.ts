/** `orrery fuzz --target`: a host of this API in lockstep with a twin in this process. */
import { drawProfile } from '../../fuzz/draw-profile.ts';
import { describeProfile, type ProfileName } from '../../fuzz/profile.ts';
import { driveHost, type DriveResult } from '../../fuzz/twin/drive.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/exchange-config.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { timeUs } from '../../num/units.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { defaultMarkets, readExchangeFile } from '../exchange-file.ts';
import { InputError, isInterrupted, print, type Progress } from '../cli-support.ts';
import { HttpHost } from './http-host.ts';

export interface TargetOptions {
  readonly url: string;
  readonly simToken: string;
  /** Configuration file of the host; null for defaults. */
  readonly configPath: string | null;
  readonly seed: string;
  readonly profile: ProfileName;
  readonly commands: number;
  /** Duration, seconds. */
  readonly seconds: number;
  readonly quiet: boolean;
}

const USERS = 4;
/** A line of progress costs as much as a request. */
const SHOWN_EVERY_MS = 100;

export interface TargetResult extends DriveResult {
  readonly config: ExchangeConfig;
  readonly markets: readonly MarketSpec[];
}

/** A host with the wallets of a seed. */
export function hostOf(url: string, simToken: string, seed: string): HttpHost {
  const names = Array.from({ length: USERS }, (_, i) => `orrery fuzz ${seed} ${String(i)}`);
  return new HttpHost(url, simToken, names);
}

function mustBeUrl(text: string): void {
  const { protocol = '' } = URL.canParse(text) ? new URL(text) : {};
  if (protocol === 'http:' || protocol === 'https:') return;
  const limit = 'an address that starts with http:// or https://';
  throw new InputError(`--target must be ${limit}, got ${text}`, { field: 'target', limit });
}

/** The time in ms that a host answers; another server may answer anything. */
function timeOf(url: string, body: unknown): number {
  const time =
    typeof body === 'object' && body !== null ? (body as { time?: unknown }).time : undefined;
  if (typeof time === 'number' && time >= 0 && Number.isSafeInteger(time * 1000)) return time;
  throw new InputError(
    `${url}: GET /time responds with ${JSON.stringify(body ?? null).slice(0, 100)}, not with {"time": ms}: is it a server of this API?`,
  );
}

/** A virtual clock stands still meanwhile. */
const CLOCK_MS = 30;

/** A running clock or earlier commands would be reported as a defect of the host. */
export async function mustBeNew(host: HttpHost, url: string, markets: number): Promise<void> {
  const before = await host.call('getTime', {}, null);
  await new Promise((resolve) => setTimeout(resolve, CLOCK_MS));
  const after = await host.call('getTime', {}, null);
  if (timeOf(url, before.body) !== timeOf(url, after.body)) {
    throw new InputError(`${url}: its clock runs; start the host with --clock virtual`);
  }
  const commands = await host.commandsSoFar();
  if (commands === null || commands <= markets) return;
  throw new InputError(
    `${url}: has executed ${String(commands)} commands, a new host has ${String(markets)}, one for each market; start it with an empty data folder, and give its configuration file as --config`,
  );
}

export async function driveTarget(
  options: TargetOptions,
  progress: Progress,
): Promise<TargetResult> {
  const { url, seed, commands } = options;
  mustBeUrl(url);
  const host = hostOf(url, options.simToken, seed);
  const { status, body } = await host.call('getTime', {}, null);
  if (status !== 200) throw new InputError(`${url}: GET /time responds with ${String(status)}`);
  const genesisUs = timeUs(timeOf(url, body) * 1000);
  const file =
    options.configPath === null ? null : await readExchangeFile(options.configPath, genesisUs);
  const config = { ...(file?.config ?? DEFAULT_EXCHANGE_CONFIG), genesisTimeUs: genesisUs };
  const markets = file?.markets ?? defaultMarkets();
  await mustBeNew(host, options.url, markets.length);
  const profile = drawProfile(seed, { name: options.profile, commands });
  if (!options.quiet) print(describeProfile(profile));
  const started = performance.now();
  let shownAt = started;
  const driven = driveHost(profile, {
    host,
    config,
    markets,
    users: host.users,
    keccak,
    onRequest: (requests) => {
      const now = performance.now();
      const seconds = (now - started) / 1000;
      if (now >= shownAt + SHOWN_EVERY_MS) {
        shownAt = now;
        progress.update(Math.min(1, seconds / options.seconds), `${String(requests)} requests`);
      }
      return isInterrupted() || seconds >= options.seconds;
    },
  });
  const result = await driven.finally(() => host.close());
  return { ...result, config, markets };
}

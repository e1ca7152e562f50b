/** `orrery fuzz --target`: a host of this API in lockstep with a twin in this process. */
import { drawProfile } from '../../fuzz/draw-profile.ts';
import { journalOf } from '../../fuzz/check-journal.ts';
import { describeProfile, type ProfileName } from '../../fuzz/profile.ts';
import { driveHost, type DriveResult } from '../../fuzz/twin/drive.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../gateway/market-config.ts';
import { timeUs } from '../../num/units.ts';
import { writeWholeFile } from '../../platform/whole-file.ts';
import { keccak } from '../../wallet/crypto-ports.ts';
import { defaultMarkets, readExchangeFile } from '../exchange-file.ts';
import { InputError, isInterrupted, print, type Progress } from '../cli-support.ts';
import { makeFolder } from '../../platform/make-folder.ts';
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
  /** Commands of the twin in its own time, readable by `orrery replay` and `inspect`. */
  readonly journal: Uint8Array;
}

export async function driveTarget(
  options: TargetOptions,
  progress: Progress,
): Promise<TargetResult> {
  const { url, seed, commands } = options;
  const names = Array.from({ length: USERS }, (_, i) => `orrery fuzz ${seed} ${String(i)}`);
  const host = new HttpHost(url, options.simToken, names);
  const { status, body } = await host.call('getTime', {}, null);
  if (status !== 200) throw new InputError(`${url}: GET /time responds with ${String(status)}`);
  const genesisUs = timeUs((body as { time: number }).time * 1000);
  const file =
    options.configPath === null ? null : await readExchangeFile(options.configPath, genesisUs);
  const config = { ...(file?.config ?? DEFAULT_EXCHANGE_CONFIG), genesisTimeUs: genesisUs };
  const markets = file?.markets ?? defaultMarkets();
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
  return { ...result, journal: journalOf(config, result.commands) };
}

/** Writes the twin's journal; returns its path. */
export async function writeTwinJournal(
  out: string,
  id: string,
  journal: Uint8Array,
): Promise<string> {
  await makeFolder(out);
  const path = `${out}/${id.replaceAll(/[^\w.-]+/g, '-')}.orrery`;
  await writeWholeFile(path, journal);
  return path;
}

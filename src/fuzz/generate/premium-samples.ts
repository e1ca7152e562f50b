/** Times at which the premium of a market is sampled, written a second time from. */
import { halfSipHash, halfSipKey } from '../../base/half-siphash.ts';
import type { KnownMarket } from '../fuzz-world.ts';

const PREMIUM = 2;
const WORD = 0x100000000;

/** The first sample of a market's premium in an interval that begins after a time. */
export function nextSample(
  seed: string,
  { id, spec }: Pick<KnownMarket, 'id' | 'spec'>,
  fromUs: number,
): number {
  const { sampleIntervalUs } = spec.funding;
  const n = Math.floor(fromUs / sampleIntervalUs) + 1;
  const draw = halfSipHash(halfSipKey(seed), [PREMIUM, id, n | 0, Math.floor(n / WORD)]);
  const offset = (BigInt(draw) * BigInt(sampleIntervalUs - 1)) >> 32n;
  return n * sampleIntervalUs + 1 + Number(offset);
}

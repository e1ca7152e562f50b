/** Sampling times of prices: HalfSipHash-2-4 keyed with the secret seed. */
import type { World } from './world.ts';

const SECOND = 1_000_000n;
const WORD = 2n ** 32n;

const rotated = (word: bigint, by: bigint): bigint => ((word << by) % WORD) | (word >> (32n - by));

/** HalfSipHash-2-4 with 32-bit output over 32-bit words; the key is 8 bytes as 16 hex digits. */
export function halfSipHash(key: string, words: readonly bigint[]): bigint {
  const byte = (i: number): bigint => BigInt(`0x${key.slice(2 * i, 2 * i + 2)}`);
  const half = (i: number): bigint =>
    byte(i) + byte(i + 1) * 256n + byte(i + 2) * 256n ** 2n + byte(i + 3) * 256n ** 3n;
  const [k0, k1] = [half(0), half(4)];
  let v0 = k0;
  let v1 = k1;
  let v2 = k0 ^ 0x6c796765n;
  let v3 = k1 ^ 0x74656462n;
  const round = (): void => {
    v0 = (v0 + v1) % WORD;
    v1 = rotated(v1, 5n) ^ v0;
    v0 = rotated(v0, 16n);
    v2 = (v2 + v3) % WORD;
    v3 = rotated(v3, 8n) ^ v2;
    v0 = (v0 + v3) % WORD;
    v3 = rotated(v3, 7n) ^ v0;
    v2 = (v2 + v1) % WORD;
    v1 = rotated(v1, 13n) ^ v2;
    v2 = rotated(v2, 16n);
  };
  // The last word has the length in bytes in its highest byte.
  const length = (BigInt(words.length * 4) % 256n) * 2n ** 24n;
  for (const word of [...words, length]) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  v2 ^= 0xffn;
  for (let i = 0; i < 4; i++) round();
  return v1 ^ v3;
}

/** The instant of an interval that was asked for. */
interface Known {
  readonly n: bigint;
  readonly length: bigint;
  readonly at: bigint;
}

/** The newest instants of a world by kind, market and parity: every command asks for the next. */
const known = new WeakMap<World, Map<number, Known>>();

/** The instant of the `n`-th interval of a length; never on a boundary. Kind 1: EMA, 2: premium. */
function instant(world: World, kind: bigint, market: number, n: bigint, length: bigint): bigint {
  let instants = known.get(world);
  if (instants === undefined) {
    instants = new Map();
    known.set(world, instants);
  }
  const place = 4 * market + Number(kind - 1n) * 2 + Number(n % 2n);
  const last = instants.get(place);
  if (last?.n === n && last.length === length) return last.at;
  const words = [kind, BigInt(market), n % WORD, n / WORD];
  const draw = halfSipHash(world.config.samplingSeed, words);
  const at = n * length + 1n + (draw * (length - 1n)) / WORD;
  instants.set(place, { n, length, at });
  return at;
}

/** Sampling time of the basis in a second. */
export const emaInstant = (world: World, market: number, second: bigint): bigint =>
  instant(world, 1n, market, second, SECOND);

export function nextEmaInstant(world: World, market: number): bigint {
  const second = world.now / SECOND;
  const at = emaInstant(world, market, second);
  return at > world.now ? at : emaInstant(world, market, second + 1n);
}

/** The newest second whose instant has passed. */
export function passedSecond(world: World, market: number): bigint {
  const second = world.now / SECOND;
  return emaInstant(world, market, second) <= world.now ? second : second - 1n;
}

/** Sampling time of the premium in an interval. */
const premiumInstant = (world: World, market: number, interval: bigint, k: bigint): bigint =>
  instant(world, 2n, market, k, interval);

export function nextPremiumInstant(world: World, market: number, interval: bigint): bigint {
  const k = world.now / interval;
  const at = premiumInstant(world, market, interval, k);
  return at > world.now ? at : premiumInstant(world, market, interval, k + 1n);
}

export const isPremiumInstant = (world: World, market: number, interval: bigint): boolean =>
  premiumInstant(world, market, interval, world.now / interval) === world.now;

import { describe, expect, it } from 'vitest';
import { applyDelta, deltaOf } from '../../src/time-machine/byte-delta.ts';
import { Keyframes, type Keyframe } from '../../src/time-machine/keyframes.ts';
import { BEGINNING } from '../../src/journal/format/header.ts';

let state = 1;
const below = (bound: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 0x100000000) * bound);
};
const random = (length: number, values = 256): Uint8Array =>
  Uint8Array.from({ length }, () => below(values));
const joined = (...parts: readonly Uint8Array[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => [...part]));

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Some bytes replaced, inserted, removed or moved. */
function changed(bytes: Uint8Array): Uint8Array {
  let now = bytes;
  for (let i = below(12); i > 0; i--) {
    const at = below(now.length + 1);
    const end = Math.min(now.length, at + below(60));
    const made = random(below(60), below(2) === 0 ? 2 : 256);
    const isMove = below(4) === 0;
    const rest = joined(now.subarray(0, at), made, now.subarray(end));
    now = isMove ? joined(rest, now.subarray(at, end)) : rest;
  }
  return now;
}

describe('deltaOf', () => {
  it('gives back the new bytes, whatever changed', () => {
    for (let i = 0; i < 300; i++) {
      const base = random(below(2000), i % 3 === 0 ? 3 : 256);
      const target = i % 7 === 0 ? random(below(2000)) : changed(base);
      expect(isSame(applyDelta(base, deltaOf(base, target)), target)).toBe(true);
    }
  });

  it('takes a few bytes for each change', () => {
    const base = random(100_000);
    const target = base.slice();
    for (let at = 500; at < target.length; at += 1000) target[at] = (target[at] ?? 0) ^ 1;
    expect(deltaOf(base, target).length).toBeLessThan(1000);
    const inserted = joined(base.subarray(0, 50_000), random(3000), base.subarray(50_000));
    expect(deltaOf(base, inserted).length).toBeLessThan(3100);
    expect(deltaOf(base, base).length).toBeLessThan(16);
  });

  it.each([
    [0, 0],
    [0, 9],
    [9, 0],
    [1, 1],
  ])('takes %i bytes to %i', (from, to) => {
    const [base, target] = [random(from), random(to)];
    expect(applyDelta(base, deltaOf(base, target))).toEqual(target);
  });

  it('refuses a delta of other bytes', () => {
    const base = random(1000);
    const delta = deltaOf(base, base);
    expect(() => applyDelta(base.subarray(0, 500), delta)).toThrow('bytes of its base');
  });
});

describe('Keyframes', () => {
  /** States that differ little from one to the next, and now and then in all. */
  function* states(count: number): Generator<Keyframe> {
    let bytes = random(4000);
    for (let i = 0; i < count; i++) {
      yield { seq: i * 10, state: bytes, place: { part: 0, offset: i, after: BEGINNING } };
      bytes = i % 90 === 89 ? random(4000) : changed(bytes);
    }
  }
  const all = [...states(300)];

  it.each([10_000_000, 150_000, 40_000])('has each kept state, in %i bytes', (budget) => {
    const [first, ...rest] = all;
    const frames = new Keyframes(first!, budget, 10);
    for (const frame of rest) if (frames.isDue(frame.seq)) frames.add(frame);
    expect(frames.usedBytes).toBeLessThanOrEqual(budget);
    expect(frames.count).toBe(Math.ceil(all.length / (frames.distance / 10)));
    for (let seq = 0; seq < all.length * 10; seq += 17) {
      const found = frames.before(seq);
      expect(frames.seqBefore(seq)).toBe(found.seq);
      expect(found.seq).toBe(Math.floor(seq / frames.distance) * frames.distance);
      expect(isSame(found.state, all[found.seq / 10]!.state)).toBe(true);
      expect(found.place).toBe(all[found.seq / 10]!.place);
    }
  });

  it('takes a fraction of whole states', () => {
    const [first, ...rest] = all;
    const frames = new Keyframes(first!, 10_000_000, 10);
    for (const frame of rest) frames.add(frame);
    const whole = all.reduce((sum, { state: { length } }) => sum + length, 0);
    expect(frames.usedBytes).toBeLessThan(0.4 * whole);
  });
});

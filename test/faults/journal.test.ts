/**
 * A journal under faults of disk and network: truncated at any byte, a flipped bit in any byte,
 * frames lost, duplicated or reordered. It is either recovered up to a command with the exact state
 * at that command, or refused with an offset.
 */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { seq as seqOf } from '../../src/num/units.ts';
import { JournalError, JournalWriter } from '../../src/journal/format/frames.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { drawLife } from '../metamorphic/life.ts';
import { EFFORT } from '../setup/effort.ts';

/** Every byte in long proofs; a sample otherwise. */
const STEP = EFFORT === 1 ? 17 : 1;
const { config, commands: life } = drawLife('journal', { name: 'money', commands: 40 });

/** Chain hashes after each command, and the end offset of each command's frame. */
const { bytes, hashes, ends } = (() => {
  const engine = new Exchange(config);
  const writer = new JournalWriter(config);
  const chain = [engine.chainHash()];
  const after = [writer.bytes().length];
  for (const command of life) {
    writer.append(seqOf(engine.seq + 1), command);
    engine.apply(command);
    chain.push(engine.chainHash());
    after.push(writer.bytes().length);
  }
  writer.end(engine.seq, engine.nowUs, engine.chainHash());
  return { bytes: writer.bytes(), hashes: chain, ends: after };
})();

/** Number of recovered commands, after comparing the state; null if the journal was refused. */
function recovered(damaged: Uint8Array): number | null {
  try {
    const { engine, commands, mismatch } = replay(damaged, { verify: true, recover: true });
    expect(mismatch).toBeNull();
    expect(engine.chainHash()).toBe(hashes[commands]);
    return commands;
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    expect(error.message).toMatch(/^(journal|not a journal)/);
    return null;
  }
}

test('a complete journal is recovered completely', () => {
  expect(recovered(bytes)).toBe(life.length);
});

test('truncated at a byte: exactly the complete commands before it are recovered', () => {
  const [header = 0] = ends;
  for (let length = 0; length < bytes.length; length += STEP) {
    const found = recovered(bytes.subarray(0, length));
    if (length < header) expect(found, `cut at ${String(length)}`).toBeNull();
    else
      expect(found, `cut at ${String(length)}`).toBe(
        ends.filter((end) => end <= length).length - 1,
      );
  }
});

test('a flipped bit: refused, or recovered up to it', () => {
  let refused = 0;
  for (let at = 0; at < bytes.length; at += STEP) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
    const found = recovered(damaged);
    if (found === null) refused += 1;
    else {
      expect(found, `byte ${String(at)}`).toBeLessThanOrEqual(life.length);
      expect(at, 'only the tail can count as a torn write').toBeGreaterThanOrEqual(
        ends[found] ?? 0,
      );
    }
  }
  // All frames but the last are followed by valid ones, so damage to them is not a torn write.
  expect(refused).toBeGreaterThan(bytes.length / STEP / 2);
});

const frame = (i: number): Uint8Array => bytes.subarray(ends[i - 1], ends[i]);
const whole = (order: readonly number[]): Uint8Array =>
  Uint8Array.from([...bytes.subarray(0, ends[0]), ...order.flatMap((i) => [...frame(i)])]);
const inOrder = life.map((_, i) => i + 1);

test('duplicate, reordered or missing frames are refused', () => {
  expect(recovered(whole(inOrder))).toBe(life.length);
  for (let i = 1; i < life.length; i += STEP > 1 ? 5 : 1) {
    const twice = [...inOrder.slice(0, i), i, ...inOrder.slice(i)];
    const swapped = inOrder.map((k) => (k === i ? i + 1 : k === i + 1 ? i : k));
    const lost = inOrder.filter((k) => k !== i);
    for (const order of [twice, swapped, lost]) expect(recovered(whole(order))).toBeNull();
  }
});

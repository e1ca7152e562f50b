import { describe, expect, it, vi } from 'vitest';
import type { Exchange } from '../../src/engine/exchange.ts';
import { replay } from '../../src/journal/replay/replay.ts';
import { Cursors } from '../../src/time-machine/cursors.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import { STEP_FLAGS } from '../../src/time-machine/index/step-flags.ts';
import { bytesInMemory } from '../../src/time-machine/source/journal-bytes.ts';
import { randomJournal } from './journals.ts';

const { bytes, commands } = randomJournal('timeline', 600);

/** Chain hash after each command, by one straight replay. */
const hashes: string[] = [''];
replay(bytes, { verify: true, afterCommand: (engine) => hashes.push(engine.chainHash()) });

describe('Timeline', () => {
  it('has the hash of a straight replay after each of many random seeks', () => {
    const timeline = Timeline.open(bytes, { spacing: 37 });
    timeline.index();
    let state = 7;
    for (let i = 0; i < 300; i++) {
      state = (state * 1103515245 + 12345) % 2147483648;
      const seq = 1 + (state % commands);
      expect(timeline.hashAt(seq), `command ${String(seq)}`).toBe(hashes[seq]);
    }
  });

  it('steps backwards through the whole journal, with and without preparation', () => {
    const timeline = Timeline.open(bytes, { spacing: 128 });
    for (let seq = commands; seq > 0; seq--) {
      expect(timeline.hashAt(seq)).toBe(hashes[seq]);
      if (seq % 3 === 0) timeline.prepare();
    }
    expect(timeline.seek(0).step).toBeNull();
  });

  it('returns to marks in any order of steps and seeks, also while they are prepared', () => {
    const timeline = Timeline.open(bytes, { spacing: 256 });
    timeline.index();
    let state = 3;
    const below = (bound: number): number => {
      state = (state * 1103515245 + 12345) % 2147483648;
      return Math.floor((state / 2147483648) * bound);
    };
    let seq = commands;
    for (let i = 0; i < 400; i++) {
      const far = below(20) === 0 ? below(600) - 300 : below(9) - 5;
      seq = Math.min(commands, Math.max(1, seq + far));
      expect(timeline.hashAt(seq), `${String(i)}: command ${String(seq)}`).toBe(hashes[seq]);
      for (let prepared = below(4); prepared > 0; prepared--) timeline.prepare();
    }
  });

  /** Hashes after seeks that follow one during which a command was applied in part. */
  function hashesAfterFailure(): (string | undefined)[] {
    const timeline = Timeline.open(bytes, { spacing: 128 });
    timeline.index();
    const engine = timeline.seek(300).engine as Exchange;
    const apply = engine.apply.bind(engine);
    engine.apply = (command, sink) => {
      apply(command, sink);
      engine.apply = apply;
      // The command is applied twice if this exchange is used again.
      apply(command, sink);
      throw new Error('planted');
    };
    expect(() => timeline.seek(305)).toThrow('planted');
    return [305, 306, 300, 310].map((seq) => {
      try {
        return timeline.hashAt(seq);
      } catch {
        return undefined;
      }
    });
  }

  it('gives up an exchange in which a command failed', () => {
    const expected = [305, 306, 300, 310].map((seq) => hashes[seq]);
    expect(hashesAfterFailure()).toEqual(expected);
    // Planted: the exchange is kept.
    const kept = vi.spyOn(Cursors.prototype, 'drop').mockImplementation(() => undefined);
    expect(hashesAfterFailure()).not.toEqual(expected);
    expect(kept).toHaveBeenCalled();
    kept.mockRestore();
  });

  it('keeps its snapshots within the budget by doubling their distance', () => {
    const timeline = Timeline.open(bytes, { spacing: 4, keyframeBytes: 100_000 });
    timeline.index();
    expect(timeline.keyframes.usedBytes).toBeLessThanOrEqual(100_000);
    expect(timeline.keyframes.distance).toBeGreaterThan(4);
    expect(timeline.hashAt(commands - 1)).toBe(hashes[commands - 1]);
  });

  it('reads any command, and those around it, from a place near it', () => {
    const timeline = Timeline.open(bytes);
    const straight = [1, 255, 256, 257, 512, commands].map((seq) => timeline.commandAt(seq));
    timeline.index();
    const near = [1, 255, 256, 257, 512, commands].map((seq) => timeline.commandAt(seq));
    expect(near).toEqual(straight);
    expect(near).not.toContain(null);
    const first = timeline.framesAfter(300).next();
    expect(first?.seq).toBeGreaterThan(200);
    expect(first?.seq).toBeLessThanOrEqual(301);
  });

  it('indexes in parts, verifies recorded hashes and reports the end', () => {
    const timeline = Timeline.open(bytes);
    expect(timeline.index(10)).toMatchObject({ seq: 10, complete: false });
    expect(timeline.index()).toMatchObject({
      seq: commands,
      complete: true,
      ended: true,
      chainHashes: 1,
      torn: null,
      mismatch: null,
      fault: null,
    });
  });

  it('finds the next and the previous command of a kind', () => {
    const timeline = Timeline.open(bytes);
    timeline.index();
    const fills: number[] = [];
    for (let seq = 1; seq <= commands; seq++) {
      const { step } = timeline.seek(seq);
      if (step?.events.some(({ kind }) => kind === 'orderFilled') === true) fills.push(seq);
    }
    const found: number[] = [];
    for (let at: number | null = 0; at !== null;) {
      at = timeline.steps.next(at, STEP_FLAGS.fill);
      if (at !== null) found.push(at);
    }
    expect(found).toEqual(fills);
    expect(timeline.steps.previous(commands + 1, STEP_FLAGS.fill)).toBe(fills.at(-1));
    // Known before the listing, too.
    const { spec } = timeline.seek(commands).engine.markets()[0]!;
    expect(timeline.steps.tickSizeOf(0)).toBe(spec.tickSize);
    expect(timeline.steps.countOf('fill')).toBe(fills.length);
  });

  it('seeks by time to the last command at or before it', () => {
    const timeline = Timeline.open(bytes);
    timeline.index();
    const { timeUs } = timeline.seek(300);
    const instant = timeline.seekTime(timeUs);
    expect(instant.timeUs).toBe(timeUs);
    expect(instant.seq).toBeGreaterThanOrEqual(300);
    expect(timeline.seekTime(0).seq).toBe(0);
  });

  it('begins at a snapshot, as a compacted data folder does', () => {
    const base = Timeline.open(bytes).snapshotAt(200);
    const timeline = Timeline.open({ parts: [bytesInMemory(bytes)], base });
    expect(timeline.baseSeq).toBe(200);
    timeline.index();
    expect(timeline.hashAt(201)).toBe(hashes[201]);
    expect(timeline.hashAt(commands)).toBe(hashes[commands]);
    expect(() => timeline.seek(199)).toThrow('its first is 201');
  });

  it('accepts a torn end and reports it', () => {
    const timeline = Timeline.open(bytes.subarray(0, bytes.length - 70));
    const progress = timeline.index();
    expect(progress.torn).not.toBeNull();
    expect(progress.fault).toBeNull();
    expect(progress.seq).toBeGreaterThan(commands - 5);
    expect(() => timeline.seek(commands + 1)).toThrow('its last is');
  });

  it('reports damage in the middle with its position, and reaches the commands before it', () => {
    const damaged = Uint8Array.from(bytes);
    const middle = Math.floor(bytes.length / 2);
    damaged[middle] = (damaged[middle] ?? 0) ^ 0xff;
    const timeline = Timeline.open(damaged);
    const { fault, seq } = timeline.index();
    expect(fault).toMatch(/journal at byte \d+, after command \d+/);
    expect(timeline.hashAt(seq)).toBe(hashes[seq]);
  });

  it('reports a recorded hash that is not reproduced', () => {
    const other = randomJournal('timeline', 600, { wrongHashAt: 400 });
    expect(Timeline.open(other.bytes).index().mismatch).toMatchObject({
      what: 'chainHash',
      seq: 400,
    });
  });

  it.each([
    ['no bytes', new Uint8Array(), 'empty'],
    ['text', new TextEncoder().encode('{"a":1}'), 'not a journal'],
    ['zeros', new Uint8Array(100), 'not a journal'],
  ])('refuses %s', (_name, source, message) => {
    expect(() => Timeline.open(source)).toThrow(message);
  });

  it.each([-1, 0.5, NaN, 1e9, Infinity])('refuses to seek command %s', (seq) => {
    expect(() => Timeline.open(bytes).seek(seq)).toThrow('is not in this journal');
  });
});

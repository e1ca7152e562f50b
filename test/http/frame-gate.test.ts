/** Frames of a feed before their parser: all pass in order, few in a turn, and no large message. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { FrameGate } from '../../src/http/feeds/frame-gate.ts';
import { FrameTurns } from '../../src/http/feeds/frame-turns.ts';

/** A masked frame; the mask is zero. */
function frame(bytes: number, opcode = 0x81): Buffer {
  const length =
    bytes < 126
      ? [0x80 | bytes]
      : bytes < 65_536
        ? [0x80 | 126, bytes >> 8, bytes & 255]
        : [0x80 | 127, 0, 0, 0, 0, 0, bytes >> 16, (bytes >> 8) & 255, bytes & 255];
  return Buffer.concat([Buffer.from([opcode, ...length, 0, 0, 0, 0]), Buffer.alloc(bytes, opcode)]);
}

interface Gated {
  readonly stream: PassThrough;
  readonly gate: FrameGate;
  readonly passed: Buffer[];
  readonly refusals: () => number;
}

function gated(maxBytes: number, turnsOfAll = new FrameTurns()): Gated {
  const stream = new PassThrough();
  const passed: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => passed.push(chunk));
  let refused = 0;
  const rules = {
    maxBytes: () => maxBytes,
    delayOf: (bytes: number) => (bytes === 77 ? 60 : 0),
    refuse: () => {
      refused += 1;
    },
  };
  return {
    stream,
    gate: new FrameGate(stream, rules, turnsOfAll),
    passed,
    refusals: () => refused,
  };
}

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

test('every byte passes once and in order, however reads cut the frames', async () => {
  const sizes = [0, 1, 125, 126, 127, 300, 65_535, 65_536, 70_000, 0, 0, 5];
  const bytes = Buffer.concat(sizes.map((size) => frame(size)));
  for (const step of [1, 3, 7, 4096, 65_536, bytes.length]) {
    const { stream, passed, refusals } = gated(1_000_000);
    const input = step === 1 ? Buffer.concat([frame(3), frame(200)]) : bytes;
    for (let at = 0; at < input.length; at += step) stream.write(input.subarray(at, at + step));
    await expect.poll(() => Buffer.concat(passed).length).toBe(input.length);
    expect(Buffer.concat(passed).equals(input), String(step)).toBe(true);
    expect(refusals()).toBe(0);
  }
});

test('one read of a thousand frames passes over many turns', async () => {
  const { stream, passed } = gated(100);
  stream.write(Buffer.concat(Array.from({ length: 1000 }, () => frame(1))));
  await turns(3);
  expect(passed.length).toBeGreaterThan(0);
  expect(passed.length).toBeLessThan(20);
  await expect.poll(() => passed.length).toBe(1000);
});

test('nothing passes while it is held, or once the stream is destroyed', async () => {
  const { stream, gate, passed } = gated(100);
  gate.hold();
  stream.write(Buffer.concat([frame(1), frame(1)]));
  await turns(5);
  expect(passed).toHaveLength(0);
  gate.release();
  await expect.poll(() => passed.length).toBe(2);
  stream.write(Buffer.concat(Array.from({ length: 100 }, () => frame(1))));
  await turns(2);
  stream.destroy();
  const { length } = passed;
  await turns(5);
  expect(passed).toHaveLength(length);
  expect(length).toBeLessThan(50);
});

test('a frame waits behind its header, and those behind it wait too', async () => {
  const { stream, passed } = gated(100);
  stream.write(Buffer.concat([frame(1), frame(77), frame(1)]));
  await turns(5);
  expect(Buffer.concat(passed)).toHaveLength(7 + 6);
  await expect.poll(() => Buffer.concat(passed).length).toBe(7 + 6 + 77 + 7);
});

test.each([
  ['one frame', [frame(101)]],
  ['a length of 64 bits', [Buffer.from([0x81, 0xff, 127, 255, 255, 255, 255, 255, 255, 255])]],
  ['fragments together', [frame(60, 0x01), frame(60, 0x00)]],
  ['fragments around a ping', [frame(60, 0x01), frame(9, 0x89), frame(60, 0x00)]],
])('a message beyond the limit is refused by its header: %s', async (_name, frames) => {
  const { stream, passed, refusals } = gated(100);
  stream.write(Buffer.concat([frame(100), frame(100, 0x89), ...frames, Buffer.alloc(4)]));
  await expect.poll(refusals).toBe(1);
  // The parser gets the frames before it, whole.
  const before = Buffer.concat([frame(100), frame(100, 0x89), ...frames.slice(0, -1)]);
  expect(Buffer.concat(passed).equals(before)).toBe(true);
  stream.write(frame(1));
  await turns(3);
  expect(refusals()).toBe(1);
  expect(Buffer.concat(passed)).toHaveLength(before.length);
});

test('a stream that closes leaves nothing to its parser', async () => {
  const stream = new PassThrough();
  stream.on('data', () => undefined);
  let left = -1;
  stream.on('close', () => {
    left = stream.readableLength;
  });
  const gate = new FrameGate(stream, {
    maxBytes: () => 100,
    delayOf: () => 0,
    refuse: () => undefined,
  });
  gate.hold();
  for (let i = 0; i < 3; i++) stream.write(frame(1));
  await turns(3);
  expect(stream.readableLength).toBeGreaterThan(0);
  stream.destroy();
  await expect.poll(() => left).toBe(0);
});

test('many floods pass few frames in a turn together, and each has its share', async () => {
  const ofAll = new FrameTurns();
  const floods = Array.from({ length: 100 }, () => gated(100, ofAll));
  for (const { stream } of floods) {
    stream.write(Buffer.concat(Array.from({ length: 300 }, () => frame(1))));
  }
  const passed = (): number => floods.reduce((sum, each) => sum + each.passed.length, 0);
  let before = passed();
  for (let i = 0; i < 40; i++) {
    await turns(1);
    expect(passed() - before).toBeLessThanOrEqual(128);
    before = passed();
  }
  const counts = floods.map((each) => each.passed.length);
  expect(Math.min(...counts)).toBeGreaterThan(8);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(8);
  // One that floods less is not behind the floods.
  const light = gated(100, ofAll);
  light.stream.write(frame(1));
  await turns(20);
  expect(light.passed).toHaveLength(1);
});

import { expect, it } from 'vitest';
import { JournalReader, JournalWriter } from '../../src/journal/format/frames.ts';
import { describeCommand } from '../../src/journal/format/codec.ts';
import type { JournalFrame } from '../../src/journal/format/frame.ts';
import { headerBytes } from '../../src/journal/format/header.ts';
import { FrameStream } from '../../src/time-machine/source/frame-stream.ts';
import { bytesInMemory } from '../../src/time-machine/source/journal-bytes.ts';
import { randomJournal } from './journals.ts';

const { bytes } = randomJournal('stream', 200);
const text = (frame: JournalFrame): string =>
  frame.kind === 'command'
    ? `${String(frame.seq)} ${JSON.stringify(describeCommand(frame.command))}`
    : `${frame.kind} ${String(frame.seq)}`;

function drain(source: { next(): JournalFrame | null }): string[] {
  const lines: string[] = [];
  for (let frame = source.next(); frame !== null; frame = source.next()) lines.push(text(frame));
  return lines;
}

const whole = drain(new JournalReader(bytes));

it.each([1, 7, 64, 333, 4096])('reads the same frames from blocks of %i bytes', (block) => {
  const stream = new FrameStream([bytesInMemory(bytes)], undefined, block);
  expect(drain(stream)).toEqual(whole);
  expect(stream.ended).toBe(true);
  expect(stream.torn).toBeNull();
  expect(stream.offset).toBe(bytes.length);
});

it('continues from any kept place', () => {
  const parts = [bytesInMemory(bytes)];
  const stream = new FrameStream(parts, undefined, 500);
  for (let i = 0; i < 100; i++) {
    stream.next();
    const [line] = drain(new FrameStream(parts, stream.place, 500));
    expect(line).toBe(whole[i]);
  }
});

it('reads segments of groups one after the other, with zeros at their ends', () => {
  const { header } = new JournalReader(bytes);
  const parts: Uint8Array[] = [];
  const reader = new JournalReader(bytes);
  const lines: string[] = [];
  let after = header.after;
  for (let part = 0; part < 3; part++) {
    const writer = new JournalWriter(after);
    const groups: Uint8Array[] = [headerBytes(header.config, after)];
    for (let i = 0; i < 50; i++) {
      const frame = reader.next();
      if (frame?.kind !== 'command') continue;
      lines.push(text(frame));
      writer.append(frame.seq, frame.command);
      if (i % 7 !== 6) continue;
      const group = writer.takeGroup();
      if (group !== null) groups.push(group.bytes);
    }
    const rest = writer.takeGroup();
    if (rest !== null) groups.push(rest.bytes);
    after = reader.position;
    groups.push(new Uint8Array(100));
    parts.push(Uint8Array.from(groups.flatMap((group) => [...group])));
  }
  const sources = parts.map(bytesInMemory);
  for (const block of [1, 100, 10_000]) {
    expect(drain(new FrameStream(sources, undefined, block))).toEqual(lines);
  }
  const stream = new FrameStream(sources, undefined, 300);
  for (let i = 0; i < 90; i++) stream.next();
  const again = drain(new FrameStream(sources, stream.place, 300));
  expect(lines.slice(-again.length)).toEqual(again);
  expect(again.length).toBeGreaterThanOrEqual(lines.length - 90);
  const swapped = [sources[0]!, sources[2]!];
  expect(() => drain(new FrameStream(swapped))).toThrow('part 2 does not follow');
});

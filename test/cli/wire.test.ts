/** Messages of the bridge: lines of any length, several in one read, and those before them. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BridgeError, Wire } from '../../src/cli/bridge/wire.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wire-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Messages that a wire reads from a text. */
function received(text: string): unknown[] {
  const path = join(folder, 'in');
  writeFileSync(path, text);
  const input = openSync(path, 'r');
  try {
    const wire = new Wire(input, input);
    const messages: unknown[] = [];
    for (let one = wire.receive(); one !== null; one = wire.receive()) messages.push(one);
    return messages;
  } finally {
    closeSync(input);
  }
}

/** Bytes that a wire writes. */
function sent(messages: readonly Record<string, unknown>[]): string {
  const path = join(folder, 'out');
  const output = openSync(path, 'w');
  const wire = new Wire(output, output);
  for (const message of messages) wire.send(message);
  closeSync(output);
  return readFileSync(path, 'utf8');
}

const lines = (messages: readonly unknown[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

const MESSAGES = [
  { a: [0.5] },
  { text: 'x'.repeat(70_000) },
  { text: '€'.repeat(70_000) },
  { a: [] },
  ...Array.from({ length: 20_000 }, (_, i) => ({ a: [i % 41] })),
  { text: '€\u{1f600}\ud800' },
];

test('messages of all lengths arrive as they were sent', () => {
  expect(received(lines(MESSAGES))).toEqual(MESSAGES);
});

test('a shorter message has no bytes of the one before it', () => {
  expect(sent(MESSAGES)).toBe(lines(MESSAGES));
});

test('the end of the input inside a message is an error', () => {
  // Bytes of earlier messages are in the buffer behind it.
  const earlier = Array.from({ length: 20_000 }, (_, i) => ({ a: [i % 41] }));
  expect(received(lines(earlier))).toEqual(earlier);
  expect(() => received(`${lines(earlier)}{"a":[2]}`)).toThrow(
    'the input ends inside a message: no line feed follows it',
  );
});

test.each(['{"a":', '[1]', '3', 'null'])('%s is refused', (line) => {
  expect(() => received(`${line}\n`)).toThrow(BridgeError);
});

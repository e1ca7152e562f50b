/** A journal is compressed in pieces as it is as a whole, up to the limit of a page. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { wholeFrames } from '../../src/journal/format/bare-frames.ts';
import { PackedJournal } from '../../src/report/packed-journal.ts';
import { writeRunPage } from '../../src/report/run-page.ts';
import { TIME_MACHINE } from '../../src/report/write.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-packed-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Bytes that do not repeat. */
function bytesOf(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => (state = (state * 48_271) % 2_147_483_647) & 255);
}

function packedOf(
  bytes: Uint8Array,
  size: number,
  most?: number,
  pieceBytes?: number,
): PackedJournal {
  const journal = new PackedJournal(most, pieceBytes);
  for (let at = 0; at < bytes.length; at += size) journal.add(bytes.slice(at, at + size));
  return journal;
}

const gunzipped = (text: string): Uint8Array =>
  wholeFrames(gunzipSync(Buffer.from(text, 'base64')));

/** As the page does, in a browser. */
async function unpacked(text: string): Promise<Uint8Array> {
  const stream = new Blob([Buffer.from(text, 'base64')]).stream();
  const whole = new Response(stream.pipeThrough(new DecompressionStream('gzip')));
  return wholeFrames(new Uint8Array(await whole.arrayBuffer()));
}

test.each([0, 1, 1000, 300_000])('a journal of %s bytes', async (length) => {
  const bytes = bytesOf(length);
  for (const size of [997, 1 << 16]) {
    // As one piece or two, a piece for each call, and a piece for a few calls.
    for (const pieceBytes of [undefined, 1, 2500]) {
      const text = await packedOf(bytes, size, undefined, pieceBytes).end();
      expect(Buffer.compare(gunzipped(text ?? ''), bytes)).toBe(0);
      expect(Buffer.compare(await unpacked(text ?? ''), bytes)).toBe(0);
    }
  }
});

test('a piece that ends with the journal, and bytes that grow when they are compressed', async () => {
  const bytes = Uint8Array.from(
    { length: 3 << 18 },
    (_, i) => Math.imul(i * i, 2_654_435_761) >>> 24,
  );
  const text = await packedOf(bytes, 1 << 18).end();
  expect(Buffer.compare(await unpacked(text ?? ''), bytes)).toBe(0);
});

test('a journal beyond the limit has no text, and one of just that size has', async () => {
  const bytes = bytesOf(5000);
  expect(await packedOf(bytes, 100, 4999).end()).toBeNull();
  expect(await packedOf(bytes, 5000, 4999).end()).toBeNull();
  expect(await packedOf(bytes, 100, 5000).end()).not.toBeNull();
  expect(await packedOf(bytes, 100, 4999, 1000).end()).toBeNull();
  expect(await packedOf(bytes, 100, 5000, 1000).end()).not.toBeNull();
});

test('the page is that of the file; without a journal an earlier page is removed', async () => {
  const page = join(folder, TIME_MACHINE);
  const bytes = bytesOf(50_000);
  const file = join(folder, 'journal');
  await writeFile(file, bytes);
  await writeRunPage(folder, file);
  const embedded = (text: string): string => {
    const pieces = text.matchAll(/<script type="text\/plain" class="journal">([^<]*)</g);
    return [...pieces].map(([, piece]) => piece).join('');
  };
  const whole = Buffer.from(embedded(await readFile(page, 'utf8')), 'base64');
  expect(Buffer.compare(gunzipSync(whole), bytes)).toBe(0);
  await writeRunPage(folder, packedOf(bytes, 4096));
  expect(Buffer.compare(gunzipped(embedded(await readFile(page, 'utf8'))), bytes)).toBe(0);
  await writeRunPage(folder, packedOf(bytes, 4096, 10));
  expect(existsSync(page)).toBe(false);
  await writeRunPage(folder, packedOf(bytes, 4096));
  await writeRunPage(folder, null);
  expect(existsSync(page)).toBe(false);
});

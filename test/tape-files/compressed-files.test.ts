/** Damage of compressed recordings, and files that cannot be read twice. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { zipSync, type Zippable } from 'fflate';
import { readFiles } from './read-files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'orrery-compressed-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});

const ROWS = '1,42313.9,1.5,0,1704067200000,true\n' + '2,42314.1,2.5,0,1704067201000,false\n';
/** `zstd --check` of the rows. */
const ZSTD = Buffer.from(
  'KLUv/SRHzQEAxAIxLDQyMzEzLjksMS41LDAsMTcwNDA2NzIwLHRydWUKMjQuMSwyMWZhbHNlCgQAIBBAaqPEFIAxjKHtPA==',
  'base64',
);
/** `lz4` of the rows. */
const LZ4 = Buffer.from(
  'BCJNGGRApzsAAADwCjEsNDIzMTMuOSwxLjUsMCwxNzA0MDY3MjABAHEsdHJ1ZQoyIwBaNC4xLDIjALAxMDAwLGZhbHNlCgAAAADABVYp',
  'base64',
);
/** A frame without data. */
const EMPTY = Buffer.from('KLUv/SQAAQAAmenYUQ==', 'base64');
/** A skippable frame of 4 bytes. */
const SKIPPABLE = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);

async function prices(content: Uint8Array): Promise<number[]> {
  const path = join(scratch, 'BTCUSDT-trades-2024-01.data');
  writeFileSync(path, content);
  const { records } = await readFiles('binance-trades', [path]);
  return records.flatMap((record) => (record.kind === 'trade' ? record.priceTicks : []));
}

const zipped = (files: Zippable): Buffer => Buffer.from(zipSync(files));
const stored = (): Buffer => zipped({ 'a.csv': [Buffer.from(ROWS), { level: 0 }] });

/** The bytes with those at a place replaced. */
function altered(bytes: Buffer, at: number, ...to: readonly number[]): Buffer {
  const copy = Buffer.from(bytes);
  copy.set(to, at);
  return copy;
}

test('frames are read in a row, with skippable ones and without records', async () => {
  expect(await prices(ZSTD)).toEqual([423139, 423141]);
  expect(await prices(Buffer.concat([ZSTD, SKIPPABLE, EMPTY, SKIPPABLE]))).toEqual([
    423139, 423141,
  ]);
  // As `pzstd` writes them.
  expect(await prices(Buffer.concat([SKIPPABLE, SKIPPABLE, ZSTD]))).toEqual([423139, 423141]);
  expect(await prices(Buffer.concat([SKIPPABLE, LZ4]))).toEqual([423139, 423141]);
  await expect(prices(Buffer.concat([SKIPPABLE, SKIPPABLE.subarray(0, -1)]))).rejects.toThrow(
    'the zstd data end early',
  );
  await expect(prices(Buffer.concat([ZSTD, Buffer.from('more')]))).rejects.toThrow(
    'damaged zstd data: the magic number of a frame is missing',
  );
  for (const cut of [1, 4, 20, 60]) {
    await expect(prices(ZSTD.subarray(0, -cut)), String(cut)).rejects.toThrow(
      'the zstd data end early',
    );
  }
});

test('zstd data with a window that would fill the memory are refused', async () => {
  const magic = [0x28, 0xb5, 0x2f, 0xfd];
  const block = [1, 0, 0];
  const message = 'have a window above 128 MiB; compress them without --long';
  expect(
    await prices(Buffer.concat([ZSTD, Buffer.from([...magic, 0, 17 << 3, ...block])])),
  ).toEqual([423139, 423141]);
  for (const header of [
    [0, (17 << 3) + 1],
    [0, 20 << 3],
    [0, 255],
    [0xa0, 1, 0, 0, 8],
    [0xe0, 0, 0, 0, 0, 1, 0, 0, 0],
  ]) {
    const frame = Buffer.from([...magic, ...header, ...block]);
    await expect(prices(frame), header.join()).rejects.toThrow(message);
  }
});

test('a flipped bit of zstd data, of which any row can be read, is damage', async () => {
  const at = ZSTD.indexOf('42313.9');
  await expect(prices(altered(ZSTD, at, 0x35))).rejects.toThrow(
    'damaged zstd data: the content checksum differs',
  );
});

test('a flipped bit of a zip archive, of which any row can be read, is damage', async () => {
  const zip = stored();
  expect(await prices(zip)).toEqual([423139, 423141]);
  await expect(prices(altered(zip, zip.indexOf('42313.9'), 0x35))).rejects.toThrow(
    'damaged zip data: the checksum of its file differs',
  );
});

test('a zip archive is read whose comment contains the signature of its end', async () => {
  const comment = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(30)]);
  const zip = stored();
  zip.writeUInt16LE(comment.length, zip.length - 2);
  expect(await prices(Buffer.concat([zip, comment]))).toEqual([423139, 423141]);
  expect(await prices(Buffer.concat([stored(), Buffer.alloc(5)]))).toEqual([423139, 423141]);
});

test('a zip archive is read by its directory', async () => {
  const deflated = zipped({ 'a.csv': Buffer.from(ROWS) });
  expect(await prices(deflated)).toEqual([423139, 423141]);
  expect(await prices(zipped({ 'a/': new Uint8Array(), 'a/b.csv': Buffer.from(ROWS) }))).toEqual([
    423139, 423141,
  ]);
  const entry = deflated.indexOf(Buffer.from('PK\x01\x02'));
  const faults: readonly (readonly [Buffer, string])[] = [
    [deflated.subarray(0, -30), 'the zip archive ends early: its directory is missing'],
    [Buffer.concat([deflated, stored()]), 'its directory is not where it should be'],
    [zipped({}), 'a zip archive without a file in it'],
    [altered(deflated, entry + 8, 1), 'the file a.csv is encrypted'],
    [altered(deflated, entry + 10, 12), 'the file a.csv is compressed by method 12'],
    [altered(deflated, entry + 24, 9), 'its file has 71 bytes, not 9'],
    [altered(deflated, entry + 20, 9), 'damaged zip data: unexpected end of file'],
  ];
  for (const [bytes, message] of faults) {
    await expect(prices(bytes), message).rejects.toThrow(message);
  }
});

test('a pipe or a device in place of a recording is refused, not waited for', async () => {
  const pipe = join(scratch, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero']) {
    for (const format of ['binance-trades', 'parquet', 'arrow']) {
      await expect(readFiles(format, [path]), `${format} ${path}`).rejects.toThrow(
        `${path}: is a pipe or a device; a recording is read more than once`,
      );
    }
  }
  await expect(readFiles('parquet', [scratch])).rejects.toThrow('is a folder; expected a file');
});

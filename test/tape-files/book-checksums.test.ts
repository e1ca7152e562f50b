/** Checksums that venues send with their books: compared on import, counted by `data verify`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type * as CliSupport from '../../src/cli/cli-support.ts';
import { main } from '../../src/cli/main.ts';
import { krakenChecksum, okxChecksum, TextBook } from '../../src/tape/formats/book-checksum.ts';
import { RandomStreams } from '../../src/virtual-time/rng.ts';

vi.mock('../../src/cli/cli-support.ts', async (original) => {
  const real = await original<typeof CliSupport>();
  const print = (line = ''): void => {
    printed += `${line}\n`;
  };
  return { ...real, print, printError: print };
});

let printed = '';
const scratch = mkdtempSync(join(tmpdir(), 'orrery-checksums-'));
afterAll(() => {
  rmSync(scratch, { recursive: true, force: true });
});
const out = join(scratch, 'dataset');
beforeEach(() => {
  printed = '';
});

type Pair = readonly [price: string, size: string];
const levels = (pairs: readonly Pair[]) => pairs.map(([price, size]) => ({ price, size }));

test('the examples of the venues’ documents', () => {
  const okx = new TextBook({
    bids: levels([
      ['3366', '6'],
      ['3366.1', '7'],
    ]),
    asks: levels([
      ['3368', '8'],
      ['3366.8', '9'],
    ]),
  });
  expect(okxChecksum(okx)).toBe(-1_881_014_294);
  expect(okxChecksum(okx)).toBe(crc32('3366.1:7:3366.8:9:3366:6:3368:8') | 0);
  // Book checksum (v2) of Kraken's API center.
  const kraken = new TextBook({
    asks: levels([
      ['45285.2', '0.00100000'],
      ['45286.4', '1.54571953'],
      ['45286.6', '1.54571109'],
      ['45289.6', '1.54560911'],
      ['45290.2', '0.15890660'],
      ['45291.8', '1.54553491'],
      ['45294.7', '0.04454749'],
      ['45296.1', '0.35380000'],
      ['45297.5', '0.09945542'],
      ['45299.5', '0.18772827'],
    ]),
    bids: levels([
      ['45283.5', '0.10000000'],
      ['45283.4', '1.54582015'],
      ['45282.1', '0.10000000'],
      ['45281.0', '0.10000000'],
      ['45280.3', '1.54592586'],
      ['45279.0', '0.07990000'],
      ['45277.6', '0.03310103'],
      ['45277.5', '0.30000000'],
      ['45277.3', '1.54602737'],
      ['45276.6', '0.15445238'],
    ]),
  });
  expect(krakenChecksum(kraken, { price: 1, size: 8 })).toBe(3_310_070_434);
});

/** A book as a venue keeps it, written from its documents without the code under test. */
class Venue {
  readonly bids = new Map<string, string>();
  readonly asks = new Map<string, string>();
  readonly random = new RandomStreams('venue').stream('book');
  readonly rows: string[] = [];

  best(side: 'bids' | 'asks', depth: number): Pair[] {
    const sign = side === 'bids' ? -1 : 1;
    return [...this[side]].sort(([a], [b]) => sign * (Number(a) - Number(b))).slice(0, depth);
  }

  /** Changes a few levels; returns them. */
  change(count: number, size: (n: number) => string): Record<'bids' | 'asks', Pair[]> {
    const changed: Record<'bids' | 'asks', Pair[]> = { bids: [], asks: [] };
    for (let i = 0; i < count; i++) {
      const side = this.random.below(2) === 0 ? 'bids' : 'asks';
      const away = 1 + this.random.below(30);
      const price = (side === 'bids' ? 5000 - away : 5000 + away) / 10;
      const text = price.toFixed(1);
      if (changed[side].some(([other]) => other === text)) continue;
      const isGone = this[side].has(text) && this.random.below(3) === 0;
      const pair: Pair = [text, isGone ? '0' : size(1 + this.random.below(900))];
      if (isGone) this[side].delete(text);
      else this[side].set(...pair);
      changed[side].push(pair);
    }
    return changed;
  }

  cut(depth: number): void {
    for (const side of ['bids', 'asks'] as const) {
      for (const [price] of this.best(side, Infinity).slice(depth)) this[side].delete(price);
    }
  }
}

const STEPS = 60;

function okxRows(): string[] {
  const venue = new Venue();
  for (let i = 0; i < STEPS; i++) {
    const { bids, asks } = venue.change(i === 0 ? 80 : 3, String);
    const [b, a] = [venue.best('bids', 25), venue.best('asks', 25)];
    const parts: string[] = [];
    for (let n = 0; n < 25; n++) {
      for (const pair of [b[n], a[n]]) if (pair !== undefined) parts.push(pair.join(':'));
    }
    const full = (pairs: readonly Pair[]) => pairs.map(([price, size]) => [price, size, '0', '1']);
    const whole = { bids: venue.best('bids', 400), asks: venue.best('asks', 400) };
    const data = {
      ...(i === 0
        ? { bids: full(whole.bids), asks: full(whole.asks) }
        : { bids: full(bids), asks: full(asks) }),
      ts: String(1_700_000_000_000 + i * 100),
      checksum: crc32(parts.join(':')) | 0,
      seqId: i + 1,
      prevSeqId: i === 0 ? -1 : i,
    };
    const arg = { channel: 'books', instId: 'BTC-USDT-SWAP' };
    venue.rows.push(JSON.stringify({ arg, action: i === 0 ? 'snapshot' : 'update', data: [data] }));
  }
  return venue.rows;
}

/** `shows`: how a recorder writes a size, with or without trailing zeros. */
function krakenRows(shows: (size: string) => string): string[] {
  const venue = new Venue();
  const size = (n: number): string => (n * 10 * 1e-4).toFixed(8);
  for (let i = 0; i < STEPS; i++) {
    const { bids, asks } = venue.change(i === 0 ? 60 : 3, size);
    venue.cut(10);
    const digits = (text: string): string => text.replace('.', '').replace(/^0+/, '');
    const text = [...venue.best('asks', 10), ...venue.best('bids', 10)]
      .map(([price, qty]) => digits(price) + digits(qty))
      .join('');
    const list = (pairs: readonly Pair[]): string =>
      `[${pairs.map(([price, qty]) => `{"price":${shows(price)},"qty":${shows(qty)}}`).join(',')}]`;
    const [b, a] = i === 0 ? [venue.best('bids', 10), venue.best('asks', 10)] : [bids, asks];
    const at = new Date(1_700_000_000_000 + i * 100).toISOString();
    venue.rows.push(
      `{"channel":"book","type":"${i === 0 ? 'snapshot' : 'update'}","data":[{"symbol":"BTC/USD","bids":${list(b)},"asks":${list(a)},"checksum":${String(crc32(text))},"timestamp":"${at}"}]}`,
    );
  }
  return venue.rows;
}

const FEEDS = [
  ['okx', okxRows],
  ['kraken', () => krakenRows((size) => size)],
  ['kraken', () => krakenRows((size) => String(Number(size)))],
] as const;

async function imported(format: string, rows: readonly string[]): Promise<string> {
  const file = join(scratch, `${format}.jsonl`);
  writeFileSync(file, `${rows.join('\n')}\n`);
  printed = '';
  expect(await main(['data', 'import', format, file, '--out', out, '--replace'])).toBe(0);
  return printed;
}

describe.each(FEEDS)('%s', (format, rowsOf) => {
  test('every checksum of a whole recording is equal', async () => {
    expect(await imported(format, rowsOf())).toContain(
      `0 of ${String(STEPS)} checksums of the venue differ from the recorded levels\n`,
    );
    printed = '';
    expect(await main(['data', 'verify', out])).toBe(0);
    expect(printed).toMatch(new RegExp(`checksums +${String(STEPS)}, 0 differ\n`));
  });

  test('a damaged level fails the verification, with its line', async () => {
    const rows = rowsOf();
    const at = rows.findIndex((row, i) => i > 20 && /[1-9](?=[0.]*[",}\]])/.test(row));
    // Another size of the first level of the message.
    rows[at] =
      format === 'okx'
        ? (rows[at] ?? '').replace(/(\[\["[0-9.]+",")(\d+)/, (_all, head: string) => `${head}77777`)
        : (rows[at] ?? '').replace(/("qty":)[0-9.e-]+/, '$17.77777777');
    expect(await imported(format, rows)).toMatch(
      new RegExp(
        `[1-9][0-9]* of ${String(STEPS)} checksums of the venue differ from the recorded levels, first at line ${String(at + 1)}\n`,
      ),
    );
    printed = '';
    expect(await main(['data', 'verify', out])).toBe(1);
    expect(printed).toMatch(/fault +[1-9][0-9]* of 60 checksums of the venue differ/);
  });

  test('an update that is missing fails it', async () => {
    const rows = rowsOf().filter((_row, i) => i !== 30);
    expect(await imported(format, rows)).toMatch(/[1-9][0-9]* of 59 checksums of the venue differ/);
    expect(await main(['data', 'verify', out])).toBe(1);
  });
});

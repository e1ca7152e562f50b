/**
 * Reads measured orders: CSV with the columns sentUs, exchangeUs and answeredUs, ordered by time.
 */
import { readFileSync } from 'node:fs';
import { StrategyError } from '../strategy/definition.ts';
import type { LatencyRow } from '../virtual-time/latency.ts';
import { fileError } from '../platform/file-error.ts';

const COLUMNS = ['sentUs', 'exchangeUs', 'answeredUs'] as const;

export function readLatencyRows(path: string): LatencyRow[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw fileError(path, error);
  }
  const [header, ...lines] = text
    .split(/\r?\n/)
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line.trim() !== '');
  const names = (header?.line ?? '').split(',').map((name) => name.trim());
  const places = COLUMNS.map((column) => {
    const place = names.indexOf(column);
    if (place < 0)
      throw new StrategyError(`${path}: no column ${column}; it needs ${COLUMNS.join(', ')}`);
    return place;
  });
  let lastUs = -Infinity;
  const rows = lines.map(({ line, number }): LatencyRow => {
    const fields = line.split(',');
    const [sent = NaN, exchange = NaN, answered = NaN] = places.map((place) => {
      const field = fields[place]?.trim() ?? '';
      return field === '' ? NaN : Number(field);
    });
    const isWhole = [sent, exchange, answered].every(Number.isSafeInteger);
    if (!(isWhole && sent > lastUs && exchange >= sent && answered >= exchange)) {
      throw new StrategyError(
        `${path}:${String(number)}: must be whole µs with sentUs ≤ exchangeUs ≤ answeredUs, later than the row before`,
      );
    }
    lastUs = sent;
    return { atUs: sent, entryUs: exchange - sent, responseUs: answered - exchange };
  });
  if (rows.length === 0) throw new StrategyError(`${path}: no rows`);
  return rows;
}

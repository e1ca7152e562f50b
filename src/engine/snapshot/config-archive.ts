/**
 * Canonical bytes of an exchange's and a market's parameters: in snapshots, and under the journal's
 * config hash.
 */
import { ArchiveWriter, type Archive } from '../../base/archive.ts';
import { sha256Hex } from '../../base/sha256.ts';
import type { ExchangeConfig, MarketSpec } from '../config.ts';
import { archiveRecord } from './archive-record.ts';
import { EXCHANGE_CONFIG, MARKET_SPEC } from '../schema/config-schema.ts';

/** SHA-256 of the canonical bytes; binds a journal to its configuration. */
export function configHash(config: ExchangeConfig): string {
  const io = new ArchiveWriter();
  archiveConfig(io, config);
  return sha256Hex(io.bytes());
}

/** Saves `saved`, or loads when it is null. */
export function archiveConfig(io: Archive, saved: ExchangeConfig | null): ExchangeConfig {
  return archiveRecord(io, EXCHANGE_CONFIG, saved);
}

/** Saves `saved`, or loads when it is null. */
export function archiveSpec(io: Archive, saved: MarketSpec | null): MarketSpec {
  if (saved !== null && io.whole?.(saved) === true) return saved;
  return archiveRecord(io, MARKET_SPEC, saved);
}

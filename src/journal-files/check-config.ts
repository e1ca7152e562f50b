import type { ExchangeConfig } from '../engine/config.ts';
import { configHash } from '../engine/snapshot/config-archive.ts';
import { FileError } from '../platform/file-error.ts';

export interface WantedConfig {
  /** null: any configuration. */
  readonly config: ExchangeConfig | null;
  readonly drawSamplingSeed?: () => string;
}

/**
 * Checks that an existing exchange has the configuration asked for. The stored start time wins over
 * the current clock. Throws `FileError`.
 */
export function checkConfig(
  path: string,
  found: ExchangeConfig,
  { config: asked, drawSamplingSeed }: WantedConfig,
): void {
  if (asked === null) return;
  const { genesisTimeUs } = found;
  const samplingSeed = drawSamplingSeed === undefined ? asked.samplingSeed : found.samplingSeed;
  if (configHash({ ...asked, genesisTimeUs, samplingSeed }) === configHash(found)) return;
  throw new FileError(
    `${path}: was created with a different configuration; start without one, or name another folder or database`,
  );
}

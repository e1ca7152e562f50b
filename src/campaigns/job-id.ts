/** Identity of jobs and campaigns: the SHA-256 of all that their results depend on. */
import { createHash } from 'node:crypto';
import { SEMANTICS_VERSION } from '../journal/format/header.ts';

/** Version of jobs; a worker runs jobs of its own version only. */
export function jobVersion(release: string): string {
  return `semantics ${String(SEMANTICS_VERSION)}, orrery ${release}`;
}

/** JSON with sorted keys; fields that are undefined are omitted, as in JSON. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}

export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

export function identityOf(version: string, kind: string, task: unknown): string {
  return sha256Of(canonicalText([version, kind, task]));
}

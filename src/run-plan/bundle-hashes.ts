import type { PlannedStrategy } from './run-plan.ts';

/** SHA-256 by name of each strategy's bundle, and of each file of data that it bundles. */
export function bundleHashes(strategies: readonly PlannedStrategy[]): Record<string, string> {
  return Object.fromEntries(
    strategies.flatMap(({ id, bundle }) =>
      bundle === null
        ? []
        : [
            [`bundle of ${id}`, bundle.sha256] as const,
            ...bundle.data.map(({ file, sha256 }) => [`data of ${id}: ${file}`, sha256] as const),
          ],
    ),
  );
}

import type { PlannedStrategy } from './run-plan.ts';

/** SHA-256 by name of each strategy's bundle, and of each file of data that it bundles. */
export function bundleHashes(strategies: readonly PlannedStrategy[]): Record<string, string> {
  return Object.fromEntries(
    strategies.flatMap(({ id, bundle }) =>
      bundle === null
        ? []
        : [
            [`bundle of ${id}`, bundle.sha256] as const,
            ...dataOf(bundle).map(
              ({ file, sha256 }) => [`data of ${id}: ${file}`, sha256] as const,
            ),
          ],
    ),
  );
}

type Bundle = NonNullable<PlannedStrategy['bundle']>;

/** Plans of release 0.2 list no data. */
export const dataOf = ({ data }: Partial<Pick<Bundle, 'data'>>): Bundle['data'] => data ?? [];

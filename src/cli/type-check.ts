/** `--check`: types of strategy files, before anything runs. */
import { stateFolder } from '../platform/state-folder.ts';
import type { StrategyBundle } from '../strategy-loader/bundle.ts';
import { checkStrategyTypes } from '../strategy-loader/type-check.ts';
import { printError } from './cli-support.ts';

export interface TypeCheckArguments {
  readonly check: boolean;
}

export const TYPE_CHECK_OPTION = {
  check: {
    type: 'boolean',
    default: true,
    describe: 'check the types of strategy files first, if TypeScript is installed',
  },
} as const;

/** A strategy file and its bundle. */
export type BundledFile = readonly [string, StrategyBundle];

/** Throws `StrategyError` with the place of each error. */
export async function checkTypesOf(
  files: readonly BundledFile[],
  { check }: TypeCheckArguments,
): Promise<void> {
  if (!check) return;
  const state = stateFolder(process.env);
  const skipped = await Promise.all(
    files.map(([file, bundle]) => checkStrategyTypes(file, bundle, state)),
  );
  for (const reason of skipped) if (reason !== null) printError(reason);
}

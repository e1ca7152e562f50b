/** Division of the data into windows, from the command line. */
import { InputError } from '../cli-support.ts';
import { lengthOf } from '../run-options.ts';
import type { SearchArguments } from '../search-options.ts';

export interface WalkArguments extends SearchArguments {
  readonly train: string;
  readonly test: string;
  readonly purge: string | undefined;
  readonly mode: (typeof WALK_MODES)[number];
  readonly out: string | undefined;
}

export const WALK_MODES = ['rolling', 'anchored', 'purged'] as const;
/** Default gap of `--mode purged`, as a fraction of the training. */
const USUAL_PURGE = 0.1;

export interface WalkLengths {
  readonly trainUs: number;
  readonly testUs: number;
  readonly purgeUs: number;
}

export function lengthsOf({ train, test, purge, mode }: WalkArguments): WalkLengths {
  for (const [name, text] of Object.entries({ train, test })) {
    if (text === '') throw new InputError(`--${name} is required: a duration such as 30d`);
  }
  const trainUs = lengthOf('train', train, 1_000_000);
  const usualUs = mode === 'purged' ? Math.round(trainUs * USUAL_PURGE) : 0;
  const purgeUs = purge === undefined ? usualUs : lengthOf('purge', purge, 0);
  if (mode === 'purged' && purgeUs === 0) {
    throw new InputError('--mode purged requires a gap: --purge must be above 0');
  }
  return { trainUs, testUs: lengthOf('test', test, 1_000_000), purgeUs };
}

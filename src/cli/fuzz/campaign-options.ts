/** Options shared by `fuzz` and `economic`. */
import { availableParallelism } from 'node:os';

/** Max number of threads, against typing errors: each has its own engine. */
export const MOST_WORKERS = 256;

export const SEARCH_OPTIONS = {
  workers: {
    type: 'number',
    default: availableParallelism(),
    defaultDescription: 'number of cores',
    describe: 'number of threads; results do not depend on it',
  },
  json: { type: 'boolean', default: false, describe: 'print one JSON object' },
} as const;

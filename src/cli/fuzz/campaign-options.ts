/** Option lines that `fuzz` and `economic` have in common. */
import { availableParallelism } from 'node:os';

/** More threads than this are a typing error: each is a whole engine. */
export const MOST_WORKERS = 256;

export const SEARCH_OPTIONS = {
  workers: {
    type: 'number',
    default: availableParallelism(),
    defaultDescription: 'number of cores',
    describe: 'threads; what is found does not depend on them',
  },
  json: { type: 'boolean', default: false, describe: 'print one JSON object' },
} as const;

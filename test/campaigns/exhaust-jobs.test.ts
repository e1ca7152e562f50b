/** An exhaustive search over jobs ends with the error of a job that is set aside. */
import { expect, test } from 'vitest';
import { expandAll, expansionsOf, type ExpansionTask } from '../../src/campaigns/exhaust-jobs.ts';
import { RemoteJobs } from '../../src/campaigns/remote-jobs.ts';
import { Expander } from '../../src/fuzz/exhaust/expand.ts';
import { newSearch } from '../../src/fuzz/exhaust/new-search.ts';

/** Small jobs, as those that are checked by the oracle; here they are not. */
const PLAN = { world: 'small', depth: 3, oracleDepth: 3, samplePpm: 0, digest: false } as const;

interface Asked {
  readonly id: string;
  readonly task: string;
}

/** A store whose jobs all end at the next poll; of those of a poll, one by its place fails. */
function jobsThatFail(failing: number): RemoteJobs {
  const expander = new Expander({ ...PLAN, oracleDepth: 0 });
  let asked: Asked[] = [];
  let ended = 0;
  const store = {
    want: (_campaign: string, group: readonly Asked[]) => {
      asked.push(...group);
      return Promise.resolve();
    },
    ended: (ids: readonly string[]) => {
      const known = asked.filter(({ id }) => ids.includes(id));
      asked = [];
      return Promise.resolve(
        known.map(({ id, task }) => {
          ended += 1;
          return ended === failing
            ? { id, result: null, error: 'poison' }
            : {
                id,
                result: JSON.stringify(expansionsOf(expander, JSON.parse(task) as ExpansionTask)),
                error: null,
              };
        }),
      );
    },
    adopt: () => Promise.resolve(),
    status: () => Promise.resolve({ status: 'running' }),
  };
  return new RemoteJobs({
    store: store as never,
    campaign: 'c',
    version: 'v',
    stopped: () => false,
  });
}

const expanded = (failing: number): Promise<boolean> =>
  expandAll(newSearch(PLAN), { jobs: jobsThatFail(failing), stopped: () => false });

test('without a failure the search is complete', async () => {
  expect(await expanded(Infinity)).toBe(true);
});

test.each([2, 3, 5])('job %i fails, alone or behind others that ended with it', async (n) => {
  await expect(expanded(n)).rejects.toThrow('poison');
});

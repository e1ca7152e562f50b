/**
 * A log that receives trials in the order of their numbers, so that its bytes do not depend on the
 * order in which they ended. A trial that waits for an earlier one is kept elsewhere as well.
 */
import type { Trial, TrialLog } from './trial-log.ts';

export function orderedLog(log: Pick<TrialLog, 'get' | 'add'>): Pick<TrialLog, 'get' | 'add'> {
  const pending = new Map<number, Trial>();
  let next = 0;
  return {
    get: (number) => log.get(number),
    add: (trial) => {
      pending.set(trial.number, trial);
      for (;;) {
        const ready = pending.get(next);
        if (ready !== undefined) log.add(ready);
        else if (log.get(next) === undefined) return;
        pending.delete(next);
        next += 1;
      }
    },
  };
}

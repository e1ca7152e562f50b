/** A step of time in two parts has the effects of one: compared with a twin. */
import type { ExchangeConfig } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { outcomeCode } from '../../engine/refusals.ts';
import type { Engine } from '../../engine/read/views.ts';
import { allRows } from '../../journal/diff/state-rows.ts';
import { timeUs } from '../../num/units.ts';
import type { Checker, Violation } from '../checker.ts';

export function timeCheck(config: ExchangeConfig, every: number): Checker {
  const twin = new Exchange(config);
  let applied = 0;
  const compare = (engine: Engine): Violation | null => {
    // Without a mark, account figures are undefined.
    if (engine.markets().some(({ markTicks }) => markTicks === null)) return null;
    const others = allRows(twin);
    for (const [i, { subject, field, value }] of allRows(engine).entries()) {
      const other = others[i]?.value ?? 'nothing';
      if (value !== other) return broken(`${subject} ${field} is ${other}, not ${value}`, engine);
    }
    return null;
  };
  return {
    after: (engine, command, outcome) => {
      const middle = Math.floor((twin.nowUs + command.timeUs) / 2);
      if (middle > twin.nowUs) twin.apply({ kind: 'advanceTime', timeUs: timeUs(middle) });
      const other = outcomeCode(twin.apply(command));
      if (other !== outcomeCode(outcome)) {
        return broken(`${command.kind} ends with ${other}, not ${outcomeCode(outcome)}`, engine);
      }
      applied += 1;
      return applied % every === 0 ? compare(engine) : null;
    },
    end: compare,
  };
}

function broken(what: string, { seq }: Engine): Violation {
  return {
    invariant: 'time',
    rule: 'R-12.1',
    says: 'a step of time in two parts has the effects of one',
    detail: `after command ${String(seq)}, with each step in two parts: ${what}`,
  };
}

/**
 * A step of time in parts has the effects of one: compared with a twin. The parts meet in
 * the middle, or at some timers of the step and one microsecond before. Now and then the twin is
 * restored there from a snapshot: a pause or a deadline that is derived wrongly shows at its end.
 */
import type { ExchangeConfig } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { outcomeCode } from '../../engine/refusals.ts';
import type { Engine } from '../../engine/read/views.ts';
import { allRows } from '../../journal/diff/state-rows.ts';
import { timeUs } from '../../num/units.ts';
import type { Checker, Violation } from '../checker.ts';

/** Snapshot bytes per command until the next restore, which bounds its cost. */
const BYTES_PER_COMMAND = 1024;
/** Timers of a step at which parts meet, at most; with none of them in the middle. */
const MOST_TIMERS = 3;

export function timeCheck(config: ExchangeConfig, every: number): Checker {
  let twin = new Exchange(config);
  let applied = 0;
  let restoreAt = 0;
  /** End of the last pause of a liquidation: its timer may be behind many others. */
  let pauseEndUs = 0;
  /** The same with the events of the current command. */
  let nextPauseEndUs = 0;
  const advance = (toUs: number): void => {
    if (toUs > twin.nowUs) twin.apply({ kind: 'advanceTime', timeUs: timeUs(toUs) });
  };
  const restore = (): void => {
    const bytes = twin.snapshot();
    twin = Exchange.restore(bytes);
    restoreAt = applied + Math.ceil(bytes.length / BYTES_PER_COMMAND);
  };
  /** Applies all parts of a step but the last. */
  const applyParts = (toUs: number): void => {
    if (twin.nowUs < pauseEndUs && pauseEndUs <= toUs) {
      advance(pauseEndUs - 1);
      restore();
      return;
    }
    const timers = applied % (MOST_TIMERS + 1);
    if (timers === 0) advance(Math.floor((twin.nowUs + toUs) / 2));
    for (let i = 0; i < timers; i++) {
      const timerUs = twin.nextTimerUs();
      if (timerUs > toUs) return;
      advance(timerUs - 1);
      if (applied >= restoreAt) {
        // The restored twin passes the timer within the rest of the step.
        restore();
        return;
      }
      advance(timerUs);
    }
  };
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
    onEvent: (event) => {
      if (event.kind !== 'liquidationStep' || event.step !== 'order') return;
      nextPauseEndUs = event.timeUs + config.liquidationPauseUs;
    },
    after: (engine, command, outcome) => {
      applyParts(command.timeUs);
      pauseEndUs = nextPauseEndUs;
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
    says: 'a step of time in parts has the effects of one',
    detail: `after command ${String(seq)}, with each step in parts: ${what}`,
  };
}

/**
 * Replaces two orders or recorded trades of one side by one of both sizes. A failure that depends
 * on a sum of sizes, such as the volume of a candle, keeps all of them otherwise.
 */
import type { PlaceOrder, TapeTrade } from '../../engine/commands.ts';
import { lots } from '../../num/units.ts';
import type { Script, ScriptStep } from './script.ts';
import type { Tester } from './tester.ts';

/** Longer scripts have too many pairs. */
const MAX_STEPS = 60;

export function joinSizes(script: Script, tester: Tester): Script {
  if (script.steps.length > MAX_STEPS) return script;
  let current = script;
  for (let i = 0; i < current.steps.length; i += 1) {
    for (let j = i + 1; j < current.steps.length; j += 1) {
      if (tester.cancelled) return current;
      const failing = joined(current, i, j, tester) ?? joined(current, j, i, tester);
      if (failing === null) continue;
      current = failing;
      // Another step is at `j` now.
      j -= 1;
    }
  }
  return current;
}

/** The failing script in which the step `into` has the size of both, and `gone` is removed. */
function joined(script: Script, into: number, gone: number, tester: Tester): Script | null {
  const [one, other] = [sizedAt(script, into), sizedAt(script, gone)];
  if (one === null || other === null || one.kind !== other.kind) return null;
  if (one.market !== other.market || one.lots > 0 !== other.lots > 0) return null;
  const command = { ...one, lots: lots(one.lots + other.lots) };
  const steps = script.steps
    .map((step, i): ScriptStep => (i === into ? { key: step.key, command } : step))
    .filter((_, i) => i !== gone);
  return tester.failing({ ...script, steps });
}

function sizedAt({ steps }: Script, at: number): PlaceOrder | TapeTrade | null {
  const command = steps[at]?.command;
  return command?.kind === 'placeOrder' || command?.kind === 'tapeTrade' ? command : null;
}

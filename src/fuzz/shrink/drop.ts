/** Shrink passes that remove steps: kinds, markets, accounts, then chunks, then single steps. */
import type { Command } from '../../engine/commands.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import { idsOf } from '../../engine/schema/map-ids.ts';
import type { Script, ScriptNames, ScriptStep } from './script.ts';
import type { Tester } from './tester.ts';

/** Steps at the start that open the exchange, and the last steps of a failure. */
const OPENING = 40;
const LAST = [60, 240, 960, 3840, 9600];

/** Keeps the opening and the last steps: most failures need little of what lies between. */
export function keepEnds(script: Script, tester: Tester): Script {
  for (const last of LAST) {
    const { steps } = script;
    if (tester.cancelled || OPENING + last >= steps.length) break;
    const opening = steps.slice(0, OPENING);
    const listings = steps
      .slice(OPENING, -last)
      .filter(({ command }) => command.kind === 'listMarket');
    const ends = [...opening, ...listings, ...steps.slice(-last)];
    const failing = tester.failing({ ...script, steps: ends });
    if (failing !== null) return failing;
  }
  return script;
}

export function dropKinds(script: Script, tester: Tester): Script {
  return dropGroups(script, tester, ({ command }) => [command.kind]);
}

export function dropMarkets(script: Script, tester: Tester): Script {
  return dropGroups(script, tester, ({ command }, { names }) => marketsOf(command, names));
}

export function dropAccounts(script: Script, tester: Tester): Script {
  return dropGroups(script, tester, ({ command }, { names }) => accountsOf(command, names));
}

/** Removes all steps of a group, for each group. */
function dropGroups(
  script: Script,
  tester: Tester,
  groupsOf: (step: ScriptStep, script: Script) => readonly string[],
): Script {
  let current = script;
  const groups = new Set(script.steps.flatMap((step) => groupsOf(step, script)));
  for (const group of groups) {
    if (tester.cancelled) break;
    const steps = current.steps.filter((step) => !groupsOf(step, script).includes(group));
    if (steps.length === current.steps.length) continue;
    current = tester.failing({ ...current, steps }) ?? current;
  }
  return current;
}

/**
 * Delta debugging: removes chunks from the end to the start, then chunks of half that size, down to
 * single steps, until no single step can be removed (1-minimal).
 */
export function dropChunks(script: Script, tester: Tester): Script {
  let current = script;
  let size = Math.max(1, current.steps.length >> 1);
  for (;;) {
    const before = current.steps.length;
    for (let end = current.steps.length; end > 0; end -= size) {
      if (tester.cancelled) return current;
      const start = Math.max(0, end - size);
      const steps = [...current.steps.slice(0, start), ...current.steps.slice(end)];
      const failing = steps.length === 0 ? null : tester.failing({ ...current, steps });
      if (failing === null) continue;
      current = failing;
      // A shorter failure may end before the removed steps.
      end = Math.min(end, current.steps.length + size);
    }
    if (size === 1 && current.steps.length === before) return current;
    size = Math.max(1, Math.min(size >> 1, current.steps.length >> 1));
  }
}

/** Removes orders of a group and levels of a book, one by one. */
export function dropParts(script: Script, tester: Tester): Script {
  let current = script;
  for (const { key } of script.steps) {
    for (let part = 0; ; part += 1) {
      const at = current.steps.findIndex((step) => step.key === key);
      const step = current.steps[at];
      if (step === undefined || tester.cancelled) break;
      const command = withoutPart(step.command, part);
      if (command === null) break;
      const failing = tester.failing(replaceAt(current, at, command));
      if (failing === null) continue;
      current = failing;
      part -= 1;
    }
  }
  return current;
}

function withoutPart(command: Command, part: number): Command | null {
  if (command.kind === 'placeOrders') {
    if (part >= command.orders.length || command.orders.length === 1) return null;
    return { ...command, orders: command.orders.filter((_, i) => i !== part) };
  }
  if (
    command.kind === 'tapeDepth' ||
    command.kind === 'tapeSnapshot' ||
    command.kind === 'tapeQuotes'
  ) {
    if (part >= command.levels.length) return null;
    return { ...command, levels: command.levels.filter((_, i) => i !== part) };
  }
  return null;
}

export function replaceAt(script: Script, at: number, command: Command): Script {
  const steps = script.steps.map((step, i) => (i === at ? { key: step.key, command } : step));
  return { ...script, steps };
}

function marketsOf(command: Command, { markets }: ScriptNames): string[] {
  if (command.kind === 'listMarket') return [command.spec.symbol];
  return idsOf(COMMANDS[command.kind].body, command, 'marketId').map((id) => markets[id] ?? '');
}

function accountsOf(command: Command, names: ScriptNames): string[] {
  if ('subaccount' in command) return [names.subaccounts[command.subaccount]?.address ?? ''];
  if (command.kind === 'transfer') return [command.from, command.to];
  return 'account' in command ? [command.account] : [];
}

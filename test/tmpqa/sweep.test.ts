/** The scenario of a failure makes exactly the commands of its reproduction, whatever the run. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import type { Command } from '../../src/engine/commands.ts';
import type { ExchangeConfig } from '../../src/engine/config.ts';
import { allOf } from '../../src/fuzz/checker.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { CAT, CONFIG, X } from '../../src/fuzz/exhaust/setting.ts';
import { openingOf } from '../../src/fuzz/exhaust/preparations.ts';
import { ExploredExchange } from '../../src/fuzz/exhaust/explored-exchange.ts';
import { OPERATIONS } from '../../src/fuzz/exhaust/operations.ts';
import { runFuzz } from '../../src/fuzz/fuzz-run.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { reproduce } from '../../src/fuzz/report/reproduction.ts';
import { scenarioReference, scenarioText } from '../../src/fuzz/report/scenario-text.ts';
import { NEVER_MS, setUp } from '../../src/fuzz/run-setup.ts';
import { describeCommand } from '../../src/journal/format/codec.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { runScenario } from '../../src/scenario/run-scenario.ts';
import { priceTicks, timeUs } from '../../src/num/units.ts';
import { addressOfName, keccak } from '../../src/wallet/crypto-ports.ts';

const VIOLATION = { invariant: 'none', rule: 'R-1.6', says: 'all is well', detail: 'nothing' };

/** Any time from `NEVER_MS` on is never. */
const textOf = (command: Command): string =>
  JSON.stringify(describeCommand(command)).replaceAll(
    /"expiresAtMs":"(\d+)"/g,
    (all, ms: string) => (BigInt(ms) >= NEVER_MS ? '"expiresAtMs":"never"' : all),
  );

/** The commands that a scenario makes, and those that its reproduction states. */
function bothOf(config: ExchangeConfig, commands: readonly Command[], readable: boolean) {
  const stated = reproduce(config, commands, {
    createEngine: (of) => new Exchange(of),
    keccak,
    reference: scenarioReference,
    tape: true,
    readable,
  });
  const parsed = parseScenario(scenarioText(config, stated, VIOLATION, []), 'run.yaml', keccak);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  const result = runScenario(parsed.scenario, { keccak, addressOf: addressOfName });
  const failed = result.steps.flatMap(({ differences }) => differences);
  const reader = new JournalReader(result.journal);
  const made: string[] = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command') made.push(textOf(frame.command));
  }
  return { made, stated: stated.commands.map(textOf), failed };
}


test('sweep', () => {
  let n = 0; const bad: string[] = [];
  const end = performance.now() + 400_000;
  for (let seed = 100; seed < 140; seed++) for (const name of PROFILE_NAMES) {
    if (performance.now() > end) break;
    const profile = drawProfile(`qa ${seed}`, { name, commands: 300 });
    const commands: Command[] = [];
    runFuzz(profile, allOf(), { onCommand: (command) => (commands.push(command), false) });
    try {
      const readable = seed % 3 !== 0;
      const { made, stated, failed } = bothOf(setUp(profile).config, commands, readable);
      n++;
      if (failed.length || JSON.stringify(made) !== JSON.stringify(stated)) { const i = made.findIndex((t, k) => t !== stated[k]); bad.push(`${name} ${seed} ${failed.length} ${made.length} ${stated.length} at ${i}: ${made[i]} | ${stated[i]} ${JSON.stringify(failed[0])}`); }
      if (!readable && stated.length !== commands.length) bad.push(`${name} ${seed} length`);
    } catch (e) { bad.push(`${name} ${seed} threw ${(e as Error).message}`); }
  }
  console.log('RESULT', n, bad.length, bad.slice(0, 8).join('\n'));
}, 560_000);

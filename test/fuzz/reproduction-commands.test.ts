/** The scenario of a failure makes exactly the commands of its reproduction, whatever the run. */
import { describe, expect, test } from 'vitest';
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
function bothOf(config: ExchangeConfig, commands: readonly Command[]) {
  const stated = reproduce(config, commands, {
    createEngine: (of) => new Exchange(of),
    keccak,
    reference: scenarioReference,
    tape: true,
    readable: true,
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

describe.each(PROFILE_NAMES)('a scenario of a run of the profile %s', (name) => {
  test.each([1, 2, 5])('makes the commands of the run (%i)', (seed) => {
    const profile = drawProfile(`commands ${String(seed)}`, { name, commands: 250 });
    const commands: Command[] = [];
    runFuzz(profile, allOf(), { onCommand: (command) => (commands.push(command), false) });
    const { made, stated, failed } = bothOf(setUp(profile).config, commands);
    expect(failed).toEqual([]);
    expect(made).toEqual(stated);
  });
});

test('recorded levels that cross keep their order', () => {
  const profile = drawProfile('levels', { name: 'tape', commands: 60 });
  const commands: Command[] = [];
  const { engine } = runFuzz(profile, allOf(), {
    onCommand: (command) => (commands.push(command), false),
  });
  const crossing = commands.find(({ kind }) => kind === 'tapeDepth');
  if (crossing?.kind !== 'tapeDepth') throw new Error('the run records depth');
  const { spec } = engine.market(crossing.market);
  const [level] = crossing.levels;
  if (level === undefined) throw new Error('the depth has a level');
  const levels = (['ask', 'bid'] as const).map((side) => ({ ...level, side, lots: spec.minLots }));
  const last = { ...crossing, timeUs: commands.at(-1)?.timeUs ?? crossing.timeUs, levels };
  const { made, stated, failed } = bothOf(engine.config, [...commands, last]);
  expect(failed).toEqual([]);
  expect(made).toEqual(stated);
  expect(made.at(-1)).toBe(textOf(last));
});

test('an order that is placed where the vault has just placed its own is named by its reply', () => {
  const exchange = new ExploredExchange(CONFIG);
  const commands = [...openingOf('vault')];
  for (const command of commands) exchange.apply(command);
  const before = exchange.lastOrderId;
  // Its time passes midnight, at which the vault offers its position.
  const bid = OPERATIONS.catPosts(exchange);
  if (bid?.kind !== 'placeOrder') throw new Error('a bid is an order');
  const late = { ...bid, priceTicks: priceTicks(930), timeUs: timeUs(bid.timeUs + 2_000_000) };
  expect(exchange.apply(late)).toBe('ok');
  expect(exchange.lastOrderId - before).toBe(2);
  const placed = exchange.oldestOrder(CAT.id, X);
  if (placed === null) throw new Error('the bid rests');
  const cancel: Command = { kind: 'cancelOrder', timeUs: late.timeUs, orderId: placed };
  const { made, stated, failed } = bothOf(CONFIG, [...commands, late, cancel]);
  expect(failed).toEqual([]);
  expect(made).toEqual(stated);
});

/**
 * A difference of a host with a planted bug shrinks to a few commands, each time at a new host. Its
 * shell script fails on a server of that build and passes on a correct one.
 */
import { expect, test } from 'vitest';
import type { Command } from '../../src/engine/commands.ts';
import { hostOf } from '../../src/cli/fuzz/drive-target.ts';
import { passesHere } from '../../src/cli/fuzz/target-failure.ts';
import { drawProfile } from '../../src/fuzz/draw-profile.ts';
import { hostFiles, parseHostProbe } from '../../src/fuzz/report/host-files.ts';
import { userAddress } from '../../src/fuzz/run-setup.ts';
import { driveHost } from '../../src/fuzz/twin/drive.ts';
import { InProcessHost } from '../../src/fuzz/twin/in-process-host.ts';
import type { HostDivergence } from '../../src/fuzz/twin/divergence.ts';
import { recordOf, repeat } from '../../src/fuzz/twin/replay.ts';
import { shrinkDivergence, type NewHost } from '../../src/fuzz/twin/shrink-divergence.ts';
import type { TwinHost } from '../../src/fuzz/twin/twin-host.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { DEFAULT_MARKETS, parseMarketSpec } from '../../src/gateway/market-config.ts';
import { inSteps } from '../../src/gateway/encode.ts';
import { JournalReader } from '../../src/journal/format/frames.ts';
import { quanta } from '../../src/num/units.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { buildWith, scenarioFault } from './reproductions/prove-bug.ts';
import { runHostTest, runScript } from './reproductions/run-script.ts';

const config = DEFAULT_EXCHANGE_CONFIG;
const markets = DEFAULT_MARKETS.map((market) => {
  const spec = parseMarketSpec(market, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
});
/** Those that a repetition over HTTP has too. */
const users = hostOf('http://localhost', 'dev', 'created').users.slice(0, 3);
const sidesOf = (host: TwinHost): NewHost['sides'] => ({ host, config, markets, users, keccak });

const BUG = {
  file: 'gateway/encode.ts#encodeOrder',
  find: 'order.createdAtUs',
  replace: 'order.updatedAtUs',
};

test('a difference shrinks to a script that fails with the bug', { timeout: 600_000 }, async () => {
  const built = await buildWith('created-late', [BUG]);
  let opened = 0;
  const open = (): Promise<NewHost> => {
    opened += 1;
    const sides = sidesOf(new built.InProcessHost(config, markets, keccak));
    return Promise.resolve({ sides, close: () => Promise.resolve() });
  };
  const { sides } = await open();
  const profile = drawProfile('created', { name: 'matching', commands: 2000 });
  const { shown, commands } = await driveHost(profile, sides);
  expect(shown).not.toBeNull();
  if (shown === null) return;
  const before = commands.slice(0, shown.commands);
  const lengths: number[] = [];
  const shrunk = await shrinkDivergence(recordOf(config, before, shown), shown, {
    open,
    isOver: () => false,
    onBest: (best) => {
      lengths.push(best.commands.length);
      return Promise.resolve();
    },
  });
  expect(shrunk).not.toBeNull();
  if (shrunk === null) return;
  const { divergence, tests, complete } = shrunk;
  expect(complete).toBe(true);
  expect(opened).toBe(tests + 1);
  expect(divergence.violation.invariant).toBe(shown.violation.invariant);
  // Listings, an order, its change and the time in between.
  expect(shrunk.commands.length).toBeLessThanOrEqual(markets.length + 6);
  expect(lengths.at(-1)).toBe(shrunk.commands.length);
  expect(lengths[0]).toBeGreaterThan(shrunk.commands.length);

  const note = 'Shrunk in a test.';
  const files = hostFiles(
    { config, commands: shrunk.commands, divergence, seed: 'created', shrunk: note },
    keccak,
    passesHere,
  );
  expect(files['README.md']).toContain(note);
  const scenario = files['scenario.yaml'] as string;
  expect(scenarioFault(built, scenario), 'with the bug').toContain('body');
  expect(passesHere(scenario), 'without it').toBe(true);
  expect(await runScript('created-late', [BUG], { files }), 'with the bug').toBe(1);
  expect(await runScript('sound', [], { files }), 'without it').toBe(0);
  expect(await runHostTest('created-late', [BUG], { files }), 'with the bug').toBe(1);
  expect(await runHostTest('sound', [], { files }), 'without it').toBe(0);

  // The journal and the probe repeat it too.
  const reader = new JournalReader(files['journal.orrery'] as Uint8Array);
  const recorded = [];
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind === 'command') recorded.push(frame.command);
  }
  const found = parseHostProbe(files['probe.json'] as string);
  expect(found).toMatchObject({ seed: 'created', timeMs: divergence.timeMs });
  const record = recordOf(reader.header.config, recorded, found);
  const again = await repeat(record, (await open()).sides);
  expect(again.divergence?.violation.invariant).toBe(shown.violation.invariant);
  const sound = await repeat(record, sidesOf(new InProcessHost(config, markets, keccak)));
  expect(sound.divergence).toBeNull();
});

test(
  'a request of simulation control that a host wrongly refuses is part of the script',
  { timeout: 600_000 },
  async () => {
    const bug = {
      file: 'http/sim-routes.ts#readPrice',
      find: 'ticks > BigInt(spec.maxPriceTicks)',
      replace: 'ticks >= BigInt(spec.maxPriceTicks)',
    };
    const [spec] = markets;
    if (spec === undefined) throw new Error('there is a market');
    const price = inSteps(spec.maxPriceTicks, spec.tickSize);
    const divergence: HostDivergence = {
      violation: { invariant: 'host oracle', rule: 'R-11.6', says: 'a host replies', detail: '' },
      difference: { path: 'status', expected: '200', actual: '400 wrong', rule: 'R-11.6' },
      probe: { kind: 'sim', verb: 'oracle', fields: { symbol: spec.symbol, price } },
      commands: markets.length,
      timeMs: config.genesisTimeUs / 1000,
    };
    const timeUs = config.genesisTimeUs;
    const commands = markets.map((one): Command => ({ kind: 'listMarket', timeUs, spec: one }));
    const failure = { config, commands, divergence, seed: 'created', shrunk: 'By hand.' };
    const files = hostFiles(failure, keccak, passesHere);
    expect(files['scenario.yaml'], 'simulation control has no scenario').toBeUndefined();
    const id = 'price-at-the-bound';
    expect(await runScript(id, [bug], { files }), 'with the bug').toBe(1);
    expect(await runScript('sound', [], { files }), 'without it').toBe(0);
    // The recorded request is repeated beside the twin.
    const found = parseHostProbe(files['probe.json'] as string);
    const record = recordOf(config, commands, found);
    const sound = await repeat(record, sidesOf(new InProcessHost(config, markets, keccak)));
    expect(sound.divergence).toBeNull();
    const wrong = sidesOf(new InProcessHost(config, markets, keccak));
    const sim: TwinHost['sim'] = (verb) =>
      Promise.resolve({ status: verb === 'clock' ? 200 : 418, body: null });
    const host: TwinHost = { call: (...asked) => wrong.host.call(...asked), sim };
    const { divergence: again } = await repeat(record, { ...wrong, host });
    expect(again?.probe).toEqual(divergence.probe);
  },
);

test('the status of a host that differs is the same after shrinking', async () => {
  const open = (): Promise<NewHost> => {
    const host = new InProcessHost(config, markets, keccak);
    const sim: TwinHost['sim'] = async (verb, fields) => {
      const reply = await host.sim(verb, fields);
      if (verb !== 'withdraw') return reply;
      // Both are wrong; the first difference is that of a withdrawal with a deposit before it.
      return { status: reply.status === 200 ? 500 : 409, body: 'wrong' };
    };
    const wrong: TwinHost = { call: (...asked) => host.call(...asked), sim };
    return Promise.resolve({ sides: sidesOf(wrong), close: () => Promise.resolve() });
  };
  const at = { timeUs: config.genesisTimeUs, account: userAddress(0), subaccountIndex: 0 };
  const commands: Command[] = [
    ...markets.map((spec) => ({ kind: 'listMarket', timeUs: at.timeUs, spec }) as const),
    { kind: 'deposit', ...at, amount: quanta(50_000_000n) },
    { kind: 'withdraw', ...at, amount: quanta(5_000_000n) },
  ];
  const probe = { timeMs: at.timeUs / 1000, probe: { kind: 'command' } } as const;
  const { divergence } = await repeat(recordOf(config, commands, probe), (await open()).sides);
  expect(divergence?.difference.actual).toBe('500 "wrong"');
  const shrunk = await shrinkDivergence(recordOf(config, commands, probe), divergence!, {
    open,
    isOver: () => false,
  });
  expect(shrunk?.divergence.difference.actual).toBe('500 "wrong"');
  expect(shrunk?.commands.map(({ kind }) => kind)).toContain('deposit');
});

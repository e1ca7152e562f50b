/**
 * A test suite for your host with `orrery/fuzz`, vitest and fast-check. Copy it, replace
 * `hostUnderTest` by your host, and run `vitest`.
 *
 * 1. Random requests to a host and to a twin in this process. The first response that differs fails
 * with the rule, and fast-check shrinks the requests.
 * 2. Random runs of the engine with the provided invariants and one of your own; a failure shrinks
 * to a few commands.
 * 3. A recorded journal, checked against all invariants.
 */
import fc from 'fast-check';
import {
  addressOfName,
  DEFAULT_EXCHANGE_CONFIG,
  DEFAULT_MARKETS,
  Exchange,
  keccak,
  parseMarketSpec,
  type Command,
  type MarketSpec,
} from 'orrery';
import {
  allInvariants,
  allOf,
  driveHost,
  drawProfile,
  InProcessHost,
  journalOf,
  checkJournal,
  runFuzz,
  shrink,
  TwinModel,
  type Checker,
  type TwinHost,
} from 'orrery/fuzz';
import { fuzzProfiles, twinCommands } from 'orrery/fast-check';
import { expect, test, vi } from 'vitest';

// The checks repeat a run in many ways.
vi.setConfig({ testTimeout: 60_000 });

const markets: MarketSpec[] = DEFAULT_MARKETS.map((market) => {
  const spec = parseMarketSpec(market, keccak);
  if (!spec.ok) throw new Error(spec.error);
  return spec.value;
});
const users = ['alice', 'bob', 'carol'].map(addressOfName);
const setUp = { config: DEFAULT_EXCHANGE_CONFIG, markets, users, keccak };

/**
 * A fresh host for each run. Yours answers `call` and `sim` over HTTP; start it with a virtual
 * clock and trusted signatures.
 */
const hostUnderTest = (): TwinHost => new InProcessHost(setUp.config, markets, keccak);

test('the host responds as the rules require', async () => {
  await fc.assert(
    fc.asyncProperty(twinCommands({ maxCommands: 60 }), async (commands) => {
      const start = () => ({ model: new TwinModel(setUp), real: hostUnderTest() });
      await fc.asyncModelRun(start, commands);
    }),
    { numRuns: 15, seed: 1 },
  );
});

test('a long drive of mostly valid requests finds no difference', async () => {
  const profile = drawProfile('suite', { name: 'stress', commands: 300 });
  const { divergence } = await driveHost(profile, { ...setUp, host: hostUnderTest() });
  expect(divergence).toBeNull();
});

test('a faulty host is detected with a short counterexample', async () => {
  const wrongHost = (): TwinHost => {
    const host = hostUnderTest();
    return {
      call: async (endpoint, request, account) => {
        const reply = await host.call(endpoint, request, account);
        return endpoint === 'getBook' ? { ...reply, body: { bids: [], asks: [] } } : reply;
      },
      sim: (verb, fields) => host.sim(verb, fields),
    };
  };
  const result = await fc.check(
    fc.asyncProperty(twinCommands(), async (commands) => {
      await fc.asyncModelRun(() => ({ model: new TwinModel(setUp), real: wrongHost() }), commands);
    }),
    { seed: 1 },
  );
  expect(result.failed).toBe(true);
  expect([...(result.counterexample?.[0] ?? [])].length).toBeLessThan(4);
});

/** No balance above a million: deliberately false, to demonstrate shrinking. */
const maxBalance: Checker = {
  after: (engine) => {
    for (const { id, balanceQuanta } of engine.subaccountsOf(addressOfEveryone)) {
      if (balanceQuanta > 50_000_000n) {
        const detail = `subaccount ${String(id)} holds ${String(balanceQuanta)}`;
        return {
          invariant: 'maxBalance',
          rule: 'custom',
          says: 'balances are at most a million',
          detail,
        };
      }
    }
    return null;
  },
};
const addressOfEveryone = `0x${'01'.repeat(20)}` as (typeof users)[number];

test('invariants hold in random runs, and a failure of a custom one is shrunk', () => {
  fc.assert(
    fc.property(fuzzProfiles(), (profile) => {
      expect(runFuzz(profile, allInvariants(50)).failure).toBeNull();
    }),
    { numRuns: 5, seed: 1 },
  );
  const profile = drawProfile('rich', { name: 'money', commands: 2000 });
  const { failure } = runFuzz(profile, allOf(allInvariants(500), maxBalance));
  if (failure === null) throw new Error('a balance exceeds a million in this run');
  const { script, to } = shrink(failure, {
    createEngine: (config) => new Exchange(config),
    createChecker: () => maxBalance,
  });
  expect(to).toBe(1);
  expect(script.steps[0]?.command.kind).toBe('deposit');
});

test('a recorded journal satisfies all invariants', () => {
  const commands: Command[] = [];
  const { engine } = runFuzz(drawProfile('recorded', { commands: 100 }), allInvariants(50), {
    onCommand: (command) => {
      commands.push(command);
      return false;
    },
  });
  const journal = journalOf(engine.config, commands);
  expect(checkJournal(journal)).toBeNull();
});

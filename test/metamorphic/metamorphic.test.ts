/**
 * Metamorphic properties: two descriptions of one run end alike. There is no expected result;
 * another description of the same run must change nothing, to the last Quantum and the last event.
 * Each test states its transformation, the preserved values, and the reason.
 */
import { describe, expect, test } from 'vitest';
import { outcomeCode } from '../../src/engine/refusals.ts';
import type { Command, NewOrder, PlaceOrder, Transfer } from '../../src/engine/commands.ts';
import type { MarketSpec } from '../../src/engine/config.ts';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { NEVER_MS, userAddress } from '../../src/fuzz/run-setup.ts';
import type { MarketInput } from '../../src/gateway/market-config.ts';
import {
  lots,
  MAX_PRICE_TICKS,
  orderId,
  priceTicks,
  quanta,
  subaccountId,
  timeUs,
} from '../../src/num/units.ts';
import { allRows } from '../../src/journal/diff/state-rows.ts';
import { EFFORT } from '../setup/effort.ts';
import {
  bare,
  drawLife,
  live,
  mapFields,
  type Lifecycle,
  type LifeOptions,
  type MarketChange,
} from './life.ts';

const SEEDS = Array.from({ length: 3 * EFFORT }, (_, i) => `metamorphic-${String(i)}`);

/** One test over all seeds; a failure names the first failing seed. */
function holds(name: string, property: (seed: string) => void): void {
  test(name, () => {
    for (const seed of SEEDS) {
      try {
        property(seed);
      } catch (error) {
        if (error instanceof Error) error.message = `seed ${seed}: ${error.message}`;
        throw error;
      }
    }
  });
}

type Run = Pick<Lifecycle, 'config' | 'commands'>;

/** Both produce equal outcomes and events. */
function expectSame(
  life: Run,
  transformed: Run,
  of: (event: EngineEvent) => EngineEvent,
  without: readonly string[] = [],
): void {
  const first = live(life).happened;
  const second = live(transformed).happened;
  first.forEach(({ outcome, events }, i) => {
    const command = `command ${String(i + 1)}, ${life.commands[i]?.kind ?? ''}`;
    expect(second[i]?.outcome, command).toBe(outcome);
    expect(bare(second[i]?.events ?? [], without), command).toEqual(bare(events.map(of), without));
  });
}

function transformCommands(life: Run, transform: (command: Command) => Command): Run {
  return { config: life.config, commands: life.commands.map(transform) };
}

const inSpec = (command: Command, change: (spec: MarketSpec) => MarketSpec): Command =>
  command.kind === 'listMarket' || command.kind === 'setMarketTerms'
    ? { ...command, spec: change(command.spec) }
    : command;

const isNewOrder = (command: Command): command is PlaceOrder => command.kind === 'placeOrder';

function ordersOf(command: Command): readonly (NewOrder | PlaceOrder)[] {
  if (command.kind === 'placeOrders') return command.orders;
  return isNewOrder(command) ? [command] : [];
}

/**
 * Buys become sells and every price p becomes 2c − p. Without fees, funding and margin limits the
 * exchange is symmetric: the same orders fill, positions have the other sign, and every balance is
 * equal, since (exit − entry) × lots is unchanged. A cost of L lots becomes cost − 2c × L, so
 * rounding at a partial close is equal too. Marks are external: a median floors its mean, which is
 * asymmetric. So are trailing distances, which are parts of a price.
 */
describe('buy and sell mirrored', () => {
  const CENTRE = 10_000;
  const UNIT = 1_000_000;
  const options: LifeOptions = {
    name: 'groups',
    commands: 500,
    openingTicks: CENTRE,
    deposits: [1_000_000_000, 1_000_000_000, 1_000_000_000],
    vault: 0,
    faultPermille: 0,
    prices: { jumpPermille: 0, huntPermille: 0, stepPpm: 1000 },
    market: {
      tickSize: '1',
      lotSize: '1',
      minQuantity: '1',
      maxQuantity: '50',
      maxOpenInterest: '100000',
      maxPrice: '1000000',
      priceBand: '0.9',
      makerFee: '0',
      takerFee: '0',
      markSource: 'external',
      indexSource: 'oracle',
      funding: { source: 'external' },
    },
    without: ['trailing', 'fundingRate', 'withdraw', 'margin', 'vaultDeposit', 'depth', 'print'],
  };
  const flip = (name: string, field: unknown): unknown => {
    if (name === 'originator') return null;
    if (name === 'originatorFeePpm') return 0;
    if (typeof field !== 'number') return field;
    if (/^(lots|remainingLots)$/.test(name)) return field === 0 ? 0 : -field;
    return /Ticks$/.test(name) ? 2 * CENTRE - field : field;
  };
  const flipEvent = (event: EngineEvent): EngineEvent => {
    const flipped = mapFields(event, flip);
    if (event.kind !== 'positionChanged' || flipped.kind !== 'positionChanged') return flipped;
    const shift = BigInt(2 * CENTRE * UNIT) * BigInt(event.lots);
    return { ...flipped, costQuanta: quanta(event.costQuanta - shift) };
  };
  const hasMirror = (command: Command): boolean =>
    // Episodes have it, whatever the mix.
    command.kind !== 'settleFunding' &&
    ordersOf(command).every(
      (order) =>
        // The band is a part of the mark, which is asymmetric: no price comes near its limits.
        Math.abs(order.priceTicks - CENTRE) < CENTRE / 2 &&
        ('triggerTicks' in order ? (order.triggerTicks ?? 1) < 2 * CENTRE : true),
    ) &&
    (command.kind === 'setMark' ? Math.abs(command.priceTicks - CENTRE) < 2000 : true);

  /** Commands before an account lacks margin, which is a part of a price. */
  const affordable = ({ config, commands }: Run): number => {
    const at = live({ config, commands }).happened.findIndex(({ events }) =>
      events.some(
        (event) =>
          event.kind === 'liquidationStep' ||
          ('reason' in event && event.reason === 'insufficientMargin'),
      ),
    );
    return at < 0 ? commands.length : at;
  };

  holds('in runs of random orders', (seed) => {
    const drawn = drawLife(seed, options);
    const free = (command: Command): Command => mapFields(mapFields(command, flip), flip);
    const life = { ...drawn, commands: drawn.commands.filter(hasMirror).map(free) };
    const transformed = transformCommands(life, (command) => mapFields(command, flip));
    const most = Math.min(affordable(life), affordable(transformed));
    expect(most).toBeGreaterThan(10);
    const first = (run: Run): Run => ({ ...run, commands: run.commands.slice(0, most) });
    expectSame(first(life), first(transformed), flipEvent);
  });
});

/**
 * The same market in lots a tenth as large: every size is ten times as large, and a lot of a tick
 * is worth a tenth. Money is lots × ticks × value of both, so every balance, fee, margin, funding
 * payment, liquidation and share is equal to the Quantum. Slices of a liquidation and of the
 * vault's exits are whole lots rounded up, so they are whole positions here. A limit of open
 * interest in money is rounded down to lots, so there is none. Probability queues floor lots, so
 * there is no tape.
 */
describe('sizes in finer lots', () => {
  const options: LifeOptions = {
    openingTicks: 1500,
    market: {
      tickSize: '0.1',
      lotSize: '0.01',
      minQuantity: '0.02',
      maxQuantity: '100000',
      maxOpenInterest: '200000',
      maxOpenInterestNotional: undefined,
      maxPrice: '100000',
    },
    config: { liquidationSlice: '1', vaultLeaveShare: '1' },
    without: ['depth', 'print', 'snapshot', 'gap', 'bar', 'single', 'list'],
  };
  const isLots = (name: string): boolean => name === 'lots' || name.endsWith('Lots');
  const scale = (name: string, field: unknown): unknown =>
    typeof field === 'number' && isLots(name) ? field * 10 : field;
  const finer = (spec: MarketSpec): MarketSpec => ({
    ...spec,
    lotSize: '0.001',
    quantaPerTickLot: spec.quantaPerTickLot / 10,
    minLots: lots(spec.minLots * 10),
    maxLots: lots(spec.maxLots * 10),
    // The largest number of lots stands for no limit.
    maxOpenInterestLots: lots(Math.min(spec.maxOpenInterestLots * 10, Number.MAX_SAFE_INTEGER)),
  });
  for (const name of ['swarm', 'stress', 'money'] as const) {
    holds(`in runs of the profile ${name}`, (seed) => {
      const life = drawLife(seed, { ...options, name });
      const transformed = transformCommands(life, (command) =>
        inSpec(mapFields(command, scale), finer),
      );
      expectSame(life, transformed, (event) => mapFields(event, scale));
    });
  }
});

/**
 * The same market in ticks a tenth as large. Prices of orders stay on the old grid, so a limit or a
 * band rounded to a finer tick admits the same orders; money is equal to the Quantum. Marks and
 * indices are external, since a median floors its mean to a tick. Limits in liquidation events are
 * rounded to ticks and are not compared. The vault's exits and its frozen positions are priced in
 * whole ticks, so it offers none, and the haircut is 100 %.
 */
describe('prices in finer ticks', () => {
  const options: LifeOptions = {
    openingTicks: 1500,
    market: {
      tickSize: '0.1',
      lotSize: '0.01',
      minQuantity: '0.01',
      maxQuantity: '100000',
      maxOpenInterest: '200000',
      maxPrice: '100000',
      indexSource: 'oracle',
      markSource: 'external',
    },
    config: { triggerSource: 'mark', vaultLeaveShare: '0', frozenHaircut: '1' },
    without: ['depth', 'print', 'snapshot', 'gap', 'bar', 'single', 'list', 'trailing'],
  };
  const scale = (name: string, field: unknown): unknown =>
    typeof field === 'number' && name.endsWith('Ticks') ? field * 10 : field;
  const finer = (spec: MarketSpec): MarketSpec => ({
    ...spec,
    tickSize: '0.01',
    quantaPerTickLot: spec.quantaPerTickLot / 10,
    maxPriceTicks: priceTicks(spec.maxPriceTicks * 10),
  });
  const unscaled = ['limitTicks', 'bankruptcyTicks'];
  /** Whether every price of the command can be stated in the finer ticks. */
  const fits = (command: Command): boolean => {
    let most = 0;
    mapFields(command, (name, field) => {
      if (typeof field === 'number' && name.endsWith('Ticks')) most = Math.max(most, field);
      return field;
    });
    return most * 10 <= MAX_PRICE_TICKS;
  };
  for (const name of ['swarm', 'stress', 'groups'] as const) {
    holds(`in runs of the profile ${name}`, (seed) => {
      const drawn = drawLife(seed, { ...options, name });
      const life = { ...drawn, commands: drawn.commands.filter(fits) };
      const transformed = transformCommands(life, (command) =>
        inSpec(mapFields(command, scale), finer),
      );
      // An engine order's own limit is rounded to a tick, too.
      const isEngineOrder = ({ kind, cause }: EngineEvent): boolean =>
        kind === 'orderAccepted' && cause === 'liquidation';
      const of = (event: EngineEvent): EngineEvent => mapFields(event, scale);
      const first = live(life).happened;
      const second = live(transformed).happened;
      first.forEach(({ outcome, events }, i) => {
        const without = (event: EngineEvent): readonly string[] =>
          isEngineOrder(event) ? [...unscaled, 'priceTicks'] : unscaled;
        const changed = second[i]?.events ?? [];
        expect(second[i]?.outcome).toBe(outcome);
        expect(changed.map((event) => bare([event], without(event)))).toEqual(
          events.map((event) => bare([of(event)], without(event))),
        );
      });
    });
  }
});

/**
 * Other addresses for all accounts, system accounts included. Addresses are names: ids, order,
 * money and refusals depend on the order of first use, never on the name. Every event is equal
 * except for its names.
 */
describe('accounts with other names', () => {
  const rename = (_field: string, field: unknown): unknown => {
    if (typeof field !== 'string' || !/^0x[0-9a-f]{40}$/.test(field) || /^0x0{39}/.test(field)) {
      return field;
    }
    // Reversed, and every digit d as 15 − d: another order and spelling, still one to one.
    let name = '';
    for (const digit of field.slice(2).split('')) {
      name = (15 - Number.parseInt(digit, 16)).toString(16) + name;
    }
    return `0x${name}`;
  };
  for (const name of ['swarm', 'permissions', 'stress'] as const) {
    holds(`in runs of the profile ${name}`, (seed) => {
      const life = drawLife(seed, { name });
      const transformed = {
        config: mapFields(life.config, rename),
        commands: life.commands.map((command) => mapFields(command, rename)),
      };
      expectSame(life, transformed, (event) => mapFields(event, rename));
    });
  }
});

/**
 * Everything 37 days later. Funding, marks and midnights are at whole multiples of their intervals,
 * all of which divide a day. So every timer is shifted equally, and nothing else depends on the
 * day. Sampling instants do: they depend on the number of their second. So marks here use no EMA,
 * and funding has recorded rates.
 */
describe('time moved by whole funding periods', () => {
  const MOVED_US = 37 * 86_400_000_000;
  const move =
    (by: number) =>
    (name: string, field: unknown): unknown => {
      if (typeof field === 'number' && name.endsWith('Us') && field > 0) return field + by;
      if (typeof field === 'bigint' && name === 'expiresAtMs' && field < NEVER_MS - 1n) {
        return field + BigInt(by / 1000);
      }
      return field;
    };
  const withoutSamples = ({ markSource }: MarketInput): MarketChange => ({
    markSource: markSource === 'median' ? 'index' : markSource,
    funding: { source: 'external' },
  });
  for (const name of ['swarm', 'stress', 'money', 'groups'] as const) {
    holds(`in runs of the profile ${name}`, (seed) => {
      const life = drawLife(seed, { name, market: withoutSamples });
      const transformed = {
        config: { ...life.config, genesisTimeUs: timeUs(life.config.genesisTimeUs + MOVED_US) },
        commands: life.commands.map((command) => mapFields(command, move(MOVED_US))),
      };
      expectSame(life, transformed, (event) => mapFields(event, move(MOVED_US)));
    });
  }
});

/**
 * An amount moved in two parts at one instant instead of at once. Moved money is not rounded: every
 * balance and all later events are equal. Into and out of the vault, shares are rounded, never for
 * the holder: two deposits mint at most as much as one, two withdrawals burn at least as much as
 * one.
 */
describe('an amount moved in two parts', () => {
  type Movement = Extract<Command, { kind: 'deposit' | 'withdraw' | 'transfer' }>;
  const isMovement = (command: Command, vault: string): command is Movement =>
    command.kind === 'deposit' ||
    command.kind === 'withdraw' ||
    (command.kind === 'transfer' && command.from !== vault && command.to !== vault);

  function inTwo<T extends Movement>(command: T, nonce: bigint): readonly [T, T] {
    const first = quanta(command.amount / 3n);
    const second = quanta(command.amount - first);
    const again = command.kind === 'transfer' ? { nonce } : {};
    return [
      { ...command, amount: first },
      { ...command, amount: second, ...again },
    ];
  }

  holds('between accounts', (seed) => {
    const life = drawLife(seed, { name: 'money', faultPermille: 0 });
    const { happened, engine } = live(life);
    const vault = life.config.clsAccount;
    const shortfall = engine.subaccountIdOf(life.config.shortfallAccount, 0);
    const twin = new Exchange(life.config);
    let nonce = 1_000_000_000n;
    let split = 0;
    life.commands.forEach((command, i) => {
      const { outcome, events } = happened[i] ?? { outcome: 'ok', events: [] };
      const changed: EngineEvent[] = [];
      const emit = (event: EngineEvent): void => {
        changed.push(event);
      };
      // The part of a withdrawal that goes to the shortfall is rounded.
      const isRounded = events.some(
        (event) => event.kind === 'balanceChanged' && event.subaccount === shortfall,
      );
      if (outcome === 'ok' && isMovement(command, vault) && command.amount > 2n && !isRounded) {
        for (const part of inTwo(command, nonce)) expect(twin.apply(part, emit)).toBe('ok');
        nonce += 1n;
        split += 1;
        const last = (of: readonly EngineEvent[]): Map<unknown, unknown> =>
          new Map(
            of.flatMap((event) =>
              event.kind === 'balanceChanged' ? [[event.subaccount, event.balanceQuanta]] : [],
            ),
          );
        expect(last(changed)).toEqual(last(events));
        return;
      }
      expect(outcomeCode(twin.apply(command, emit))).toBe(outcome);
      expect(bare(changed)).toEqual(bare(events));
    });
    expect(split).toBeGreaterThan(0);
    expect(allRows(twin)).toEqual(allRows(engine));
  });

  holds('into and out of the vault', (seed) => {
    const life = drawLife(seed, { name: 'money', faultPermille: 0, vault: 100 });
    const vault = life.config.clsAccount;
    const engine = new Exchange(life.config);
    const mint = (by: Exchange, commands: readonly Transfer[]): bigint | null => {
      let shares = 0n;
      for (const command of commands) {
        const outcome = by.apply(command, (event) => {
          if (event.kind === 'vaultSharesChanged') shares += event.change;
        });
        if (outcome !== 'ok') return null;
      }
      return shares;
    };
    let compared = 0;
    for (const command of life.commands) {
      if (command.kind === 'transfer' && (command.to === vault || command.from === vault)) {
        const once = mint(engine.fork(), [command]);
        const twice = mint(engine.fork(), inTwo(command, 1_000_000_000n));
        if (once !== null && twice !== null) {
          // Burned shares are negative: in both cases two movements are no better than one.
          expect(twice).toBeLessThanOrEqual(once);
          compared += 1;
        }
      }
      engine.apply(command);
    }
    expect(compared).toBeGreaterThan(0);
  });
});

/**
 * Requests without effect, between all others: cancels of unknown or ended orders, time that has
 * passed already, expired orders. They are refused and change only the positions in the journal.
 */
describe('cancels without effect in between', () => {
  for (const name of ['swarm', 'groups', 'stress'] as const) {
    holds(`in runs of the profile ${name}`, (seed) => {
      const life = drawLife(seed, { name });
      const { happened, engine } = live(life);
      const twin = new Exchange(life.config);
      let ended = orderId(999_999_999);
      life.commands.forEach((command, i) => {
        const changed: EngineEvent[] = [];
        expect(
          outcomeCode(
            twin.apply(command, (event) => {
              changed.push(event);
              if (event.kind === 'orderEnded') ended = event.orderId;
            }),
          ),
        ).toBe(happened[i]?.outcome);
        expect(bare(changed)).toEqual(bare(happened[i]?.events ?? []));
        const now = { timeUs: twin.nowUs };
        const silent = (nothing: Command, outcome: string): void => {
          const extra: EngineEvent[] = [];
          expect(
            outcomeCode(
              twin.apply(nothing, (event) => {
                extra.push(event);
              }),
            ),
          ).toBe(outcome);
          expect(extra).toEqual([]);
        };
        silent({ kind: 'cancelOrder', ...now, orderId: ended }, 'order_not_found');
        silent({ kind: 'advanceTime', ...now }, 'ok');
        silent(
          { kind: 'cancelAll', ...now, subaccount: subaccountId(0), market: null },
          'subaccount_not_found',
        );
      });
      expect(allRows(twin)).toEqual(allRows(engine));
    });
  }
});

/**
 * A rich account offers far above every bid. These orders never fill, so no other account is
 * affected. Marks are external: a far ask in an otherwise empty book would be its best.
 */
describe('orders far away', () => {
  const FAR = 6;
  const options: LifeOptions = {
    name: 'stress',
    openingTicks: 1500,
    deposits: [100, 100, 200, 50, 1000, 1_000_000_000],
    market: {
      tickSize: '0.1',
      lotSize: '0.01',
      minQuantity: '0.01',
      maxPrice: '100000',
      maxQuantity: '100000',
      priceBand: '0.5',
      indexSource: 'oracle',
      markSource: 'external',
      maxOpenInterest: '10000000',
      maxOpenInterestNotional: undefined,
      funding: { source: 'external' },
    },
    without: ['depth', 'print', 'snapshot', 'gap', 'bar', 'single', 'list'],
  };
  const ASK = 7000;
  const who = userAddress(FAR - 1);

  holds('in stress runs', (seed) => {
    const drawn = drawLife(seed, options);
    const far = live(drawn).engine.subaccountIdOf(who, 0) ?? subaccountId(-1);
    const touchesFar = (command: Command): boolean => {
      const found: unknown[] = [];
      mapFields(command, (name, field) => {
        if (field === who || (name === 'subaccount' && field === far)) found.push(field);
        return field;
      });
      return found.length > 0 && command.kind !== 'deposit';
    };
    // Liquidations do not reach them either: their prices are within the band around the mark.
    const reaches = (command: Command): boolean =>
      ordersOf(command).some((order) => order.lots > 0 && order.priceTicks >= ASK) ||
      ((command.kind === 'setIndex' || command.kind === 'setMark') &&
        1.5 * command.priceTicks >= ASK);
    const kept = drawn.commands.filter((command) => !touchesFar(command) && !reaches(command));
    const life = { config: drawn.config, commands: kept };
    const at = drawn.opening;
    const asks: Command[] = [0, 1, 2].map((i) => ({
      kind: 'placeOrder',
      timeUs: drawn.config.genesisTimeUs,
      subaccount: far,
      market: 0 as PlaceOrder['market'],
      orderType: 'limit',
      lots: lots(-5 - i),
      priceTicks: priceTicks(ASK + i),
      ioc: false,
      postOnly: true,
      reduceOnly: false,
      nonce: 5_000_000_000n + BigInt(i),
      expiresAtMs: NEVER_MS,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: 0 as PlaceOrder['originatorFeePpm'],
    }));
    const later = (name: string, field: unknown): unknown =>
      (name === 'orderId' || name === 'parent') && typeof field === 'number' && field > 0
        ? field + asks.length
        : field;
    // The opening places no order: every order id is shifted by the same number.
    const transformed = [
      ...kept.slice(0, at),
      ...asks,
      ...kept.slice(at).map((command) => mapFields(command, later)),
    ];
    // The nonce of the vault's exit orders is their id.
    const laterEvent = (event: EngineEvent): EngineEvent => {
      const moved = mapFields(event, later);
      const isVaultExit = moved.kind === 'orderAccepted' && moved.cause === 'timer';
      return isVaultExit ? { ...moved, nonce: BigInt(moved.orderId) } : moved;
    };
    const first = live(life);
    const second = live({ config: life.config, commands: transformed });
    expect(second.happened.slice(at, at + 3).map(({ events }) => events.at(-1)?.kind)).toEqual(
      asks.map(() => 'orderRested'),
    );
    const others = second.happened.filter((_, i) => i < at || i >= at + asks.length);
    first.happened.forEach(({ outcome, events }, i) => {
      expect(others[i]?.outcome).toBe(outcome);
      const moved = events.map((event) => (i < at ? event : laterEvent(event)));
      expect(bare(others[i]?.events ?? [])).toEqual(bare(moved));
    });
  });
});

test('the comparison can fail: one order of twice the size is detected', () => {
  const life = drawLife('metamorphic-0', { name: 'matching', faultPermille: 0 });
  const at = life.commands.findIndex(
    (command, i) => isNewOrder(command) && live(life).happened[i]?.outcome === 'ok',
  );
  const changed = life.commands.map((command, i) =>
    i === at && isNewOrder(command) ? { ...command, lots: lots(command.lots * 2) } : command,
  );
  expect(() => {
    expectSame(life, { config: life.config, commands: changed }, (event) => event);
  }).toThrow();
});

/**
 * Closed world of an economic search. A coalition trades against honest parties: a maker that
 * requotes around the index, a vault depositor, a holder of a position, and a funded insurance. No
 * money enters from outside, so a gain of the coalition is a loss of another party.
 */
import type { Command, PlaceOrder } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import { Exchange } from '../../engine/exchange.ts';
import { InvariantError } from '../../base/assert.ts';
import { parseExchangeConfig } from '../../gateway/exchange-config.ts';
import { parseMarketSpec } from '../../gateway/market-config.ts';
import type { Parsed } from '../../gateway/parsed.ts';
import {
  lots,
  marketId,
  ppm,
  priceTicks,
  quanta,
  timeUs,
  type Address,
  type Lots,
  type PriceTicks,
  type SubaccountId,
  type TimeUs,
} from '../../num/units.ts';
import { Dice } from '../dice.ts';
import { NEVER_MS, userAddress } from '../run-setup.ts';

/** `still`: a constant index. `walk`: it jumps up or down, all combinations equally weighted. */
export type ArenaKind = 'still' | 'walk';

/** Interval of index updates and requotes. */
export const TICK_US = 20_000_000;
const MARKET = marketId(0);
const WHOLE = 1_000_000n;
const MEMBERS = 3;
const MAKER = userAddress(10);
const DEPOSITOR = userAddress(11);
const CROWD = userAddress(12);
/** Ticks of a walk's jumps, each a third of maintenance: no bankruptcy between two marks. */
const JUMP_TICKS = [3, 7, 11];
const JUMP_PPM = 3000;

export interface Member {
  readonly address: Address;
  readonly index: number;
  readonly id: SubaccountId;
}

export interface Arena {
  readonly kind: ArenaKind;
  readonly seed: string;
  readonly config: ExchangeConfig;
  readonly spec: MarketSpec;
  readonly indexTicks: number;
  /** Opening commands; afterwards every account is funded. */
  readonly opening: readonly Command[];
  /** State after the opening. */
  readonly opened: Uint8Array;
  readonly coalition: readonly Member[];
  readonly maker: SubaccountId;
  /** Sizes of the maker's quotes, in lots. */
  readonly depth: readonly number[];
  /** Holds vault shares before the play. */
  readonly depositor: Address;
  /** Every path of the index, as signs of its jumps. */
  readonly paths: readonly (readonly number[])[];
}

/** The same kind and seed yield the same arena. */
export function makeArena(kind: ArenaKind, seed: string): Arena {
  const dice = Dice.of(seed, `arena ${kind}`);
  const config = valueOf(
    parseExchangeConfig({
      vaultLockupMs: 1000,
      minVaultDeposit: '0.000001',
      liquidationPauseMs: 1000,
      partialLiquidationNotional: dice.pick(['1000', '100000']),
      vaultFeeShare: dice.pick(['0.5', '0.5', '0.7']),
      selfTradeExpire: 0,
      indexStaleMs: 60_000,
    }),
  );
  const makerFee = dice.pick(['0.0001', '0', '-0.0001']);
  const spec = valueOf(
    parseMarketSpec(
      {
        symbol: 'COIN-USD-PERP',
        feedId: `0x${'1'.padStart(64, '0')}`,
        tickSize: '0.1',
        lotSize: '0.0001',
        maxQuantity: '1000',
        initialMargin: '0.02',
        maintenanceMargin: '0.01',
        makerFee,
        takerFee: '0.00035',
        // No interest, which would pay every short position.
        funding: {
          sampleIntervalMs: 10_000,
          intervalMs: 20_000,
          interest: '0',
          interestClamp: dice.pick(['0', '0.0005']),
        },
      },
      () => {
        throw new InvariantError('the market has a feed');
      },
    ),
  );
  const indexTicks = 10_000 * dice.between(8, 12) + dice.below(10_000);
  const { genesisTimeUs: now } = config;
  const deposit = (account: Address, subaccountIndex: number, whole: bigint): Command => ({
    kind: 'deposit',
    timeUs: now,
    account,
    subaccountIndex,
    amount: quanta(whole * WHOLE),
  });
  const opening: Command[] = [
    { kind: 'listMarket', timeUs: now, spec },
    ...Array.from({ length: MEMBERS }, (_, i) => deposit(userAddress(i), 0, 10_000n)),
    deposit(userAddress(0), 1, 1000n),
    deposit(MAKER, 0, 50_000_000n),
    deposit(DEPOSITOR, 0, 100_000n),
    deposit(CROWD, 0, 100_000n),
    deposit(config.insuranceAccount, 0, 50_000n),
    { kind: 'setIndex', timeUs: now, market: MARKET, priceTicks: priceTicks(indexTicks), text: '' },
    {
      kind: 'transfer',
      timeUs: now,
      from: DEPOSITOR,
      fromIndex: 0,
      to: config.clsAccount,
      toIndex: 0,
      amount: quanta(BigInt(dice.pick([1000, 50_000])) * WHOLE + BigInt(dice.below(1000))),
      market: null,
      signer: DEPOSITOR,
      nonce: 1n,
      expiresAtMs: NEVER_MS,
    },
  ];
  const engine = new Exchange(config);
  for (const command of opening) engine.apply(command);
  const trade = (account: Address, side: 1 | -1): void => {
    const subaccount = idOf(account, 0);
    const size = lots(side * 10_000);
    const command = newOrder(now, subaccount, size, priceTicks(indexTicks), 2n);
    opening.push(command);
    engine.apply(command);
  };
  const idOf = (address: Address, index: number): SubaccountId => {
    const id = engine.subaccountIdOf(address, index);
    if (id === undefined) throw new InvariantError('the opening credits every account');
    return id;
  };
  trade(MAKER, -1);
  trade(CROWD, 1);
  const member = (i: number, index: number): Member => ({
    address: userAddress(i),
    index,
    id: idOf(userAddress(i), index),
  });
  return {
    kind,
    seed,
    config,
    spec,
    indexTicks,
    opening,
    opened: engine.snapshot(),
    coalition: [...Array.from({ length: MEMBERS }, (_, i) => member(i, 0)), member(0, 1)],
    maker: idOf(MAKER, 0),
    depositor: DEPOSITOR,
    depth: dice.pick([DEEP, THIN]),
    paths: kind === 'still' ? [[]] : signsOf(JUMP_TICKS.length),
  };
}

function signsOf(length: number): number[][] {
  if (length === 0) return [[]];
  return signsOf(length - 1).flatMap((signs) => [
    [...signs, 1],
    [...signs, -1],
  ]);
}

/** Index of a path at a tick. */
export function indexAt(arena: Arena, path: readonly number[], tick: number): number {
  const jump = Math.floor((arena.indexTicks * JUMP_PPM) / 1_000_000);
  let index = arena.indexTicks;
  JUMP_TICKS.forEach((at, i) => {
    if (tick >= at) index += (path[i] ?? 0) * jump;
  });
  return index;
}

/** Distances of the maker's quotes from the index, in ppm. */
const DISTANCES = [200, 1000, 5000] as const;
/** Sizes in lots: deep enough for all accounts, or so thin that the coalition makes the book. */
const DEEP = [20_000, 200_000, 2_000_000];
const THIN = [100, 1000, 5000];

/** One tick: the maker cancels its quotes, the index is updated, the maker requotes. */
export function tickCommands(
  arena: Arena,
  path: readonly number[],
  tick: number,
): readonly Command[] {
  const at: TimeUs = timeUs(arena.config.genesisTimeUs + tick * TICK_US);
  const index = indexAt(arena, path, tick);
  const quotes = DISTANCES.flatMap((distancePpm, i): Command[] => {
    const distance = Math.max(1, Math.floor((index * distancePpm) / 1_000_000));
    return ([1, -1] as const).map((side) => {
      const nonce = BigInt(tick * 100 + 2 * i + (side > 0 ? 0 : 1)) + 10n;
      const size = lots(side * (arena.depth[i] ?? 0));
      return newOrder(at, arena.maker, size, priceTicks(index - side * distance), nonce);
    });
  });
  return [
    { kind: 'cancelAll', timeUs: at, subaccount: arena.maker, market: null },
    { kind: 'setIndex', timeUs: at, market: MARKET, priceTicks: priceTicks(index), text: '' },
    ...quotes,
  ];
}

function newOrder(
  at: TimeUs,
  subaccount: SubaccountId,
  size: Lots,
  price: PriceTicks,
  nonce: bigint,
): PlaceOrder {
  return {
    kind: 'placeOrder',
    timeUs: at,
    subaccount,
    market: MARKET,
    orderType: 'limit',
    lots: size,
    priceTicks: price,
    ioc: false,
    postOnly: false,
    reduceOnly: false,
    nonce,
    expiresAtMs: NEVER_MS,
    delegate: null,
    clientId: null,
    originator: null,
    originatorFeePpm: ppm(0),
  };
}

function valueOf<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new InvariantError(`an arena is valid: ${parsed.error}`);
  return parsed.value;
}

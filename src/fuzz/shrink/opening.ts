/** The first commands of a rebuilt script: listings, deposits, prices and plain limit orders. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import type { Engine, MarketView, PositionView } from '../../engine/read/views.ts';
import {
  lots,
  marketId,
  PPM,
  ppm,
  priceTicks,
  quanta,
  subaccountId,
  type Address,
  type MarketId,
  type PriceTicks,
  type SubaccountId,
} from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { Script, ScriptNames, ScriptStep } from './script.ts';

/** Collateral that suffices for every position. */
export const RICH = 1_000_000_000_000_000n;
/** Number of system subaccounts, which come first. */
export const OWN = 6;

/** Prices of a market; null where it has none. */
export type Prices = Pick<MarketView, 'indexTicks' | 'markTicks'>;

/** Ids are those of the script. */
export class Opening {
  private readonly commands: Command[] = [];
  private readonly at: Pick<Command, 'timeUs'>;
  private nonce = 1n;

  constructor({ genesisTimeUs }: ExchangeConfig) {
    this.at = { timeUs: genesisTimeUs };
  }

  /** Lists the market; one whose mark follows its own trades or quotes starts at this mark. */
  list(spec: MarketSpec, mark: PriceTicks | null = null): void {
    const { markSource } = spec;
    const hasOwn = mark !== null && (markSource === 'last' || markSource === 'mid');
    const listed = hasOwn ? { ...spec, initialMarkTicks: mark } : spec;
    this.commands.push({ kind: 'listMarket', ...this.at, spec: listed });
  }

  pay({ address, index }: { readonly address: Address; readonly index: number }, amount: bigint) {
    this.commands.push({
      kind: 'deposit',
      ...this.at,
      account: address,
      subaccountIndex: index,
      amount: quanta(amount),
    });
  }

  order(subaccount: SubaccountId, market: MarketId, size: number, price: number): void {
    this.commands.push({
      kind: 'placeOrder',
      ...this.at,
      subaccount,
      market,
      orderType: 'limit',
      lots: lots(size),
      priceTicks: priceTicks(price),
      ioc: false,
      postOnly: false,
      reduceOnly: false,
      nonce: this.nonce++,
      expiresAtMs: NEVER_MS,
      delegate: null,
      clientId: null,
      originator: null,
      originatorFeePpm: ppm(0),
    });
  }

  /** Positions of the market are isolated from here on, with their whole value as margin. */
  isolate(subaccount: SubaccountId, market: MarketId): void {
    this.commands.push({
      kind: 'updateMargin',
      ...this.at,
      subaccount,
      market,
      isolated: true,
      marginPpm: ppm(PPM),
      nonce: this.nonce++,
      expiresAtMs: NEVER_MS,
      delegate: null,
    });
  }

  /** Trades until the owner has a position of `size` lots against the other one. */
  position(
    [owner, other]: readonly [SubaccountId, SubaccountId],
    [market, { maxLots }]: readonly [MarketId, MarketSpec],
    size: number,
    price: number,
  ): void {
    for (let left = Math.abs(size); left > 0; left -= maxLots) {
      const part = Math.sign(size) * Math.min(left, maxLots);
      this.order(other, market, -part, price);
      this.order(owner, market, part, price);
    }
  }

  /** Sets the prices of the market that are not its own. */
  setPrices(spec: MarketSpec, market: MarketId, { indexTicks, markTicks }: Prices): void {
    const index = indexTicks ?? markTicks;
    const mark = markTicks ?? indexTicks;
    if (spec.indexSource !== 'mid' && index !== null) {
      const text = String(index);
      this.commands.push({ kind: 'setIndex', ...this.at, market, priceTicks: index, text });
    }
    if (spec.markSource === 'external' && mark !== null) {
      this.commands.push({ kind: 'setMark', ...this.at, market, priceTicks: mark });
    }
  }

  /** The commands as steps whose keys follow those of the script. */
  stepsFor(script: Script): ScriptStep[] {
    const first = 1 + script.steps.reduce((most, { key }) => Math.max(most, key), 0);
    return this.commands.map((command, i) => ({ key: first + i, command }));
  }
}

/** An order of a delegate as one of its owner. */
export function byOwner(step: ScriptStep): ScriptStep {
  const { key, command } = step;
  return command.kind === 'placeOrder' ? { key, command: { ...command, delegate: null } } : step;
}

/** The last steps of the script, moved so that the first of them is at its start. */
export function lastSteps({ steps, config }: Script, count: number): ScriptStep[] {
  const last = steps.slice(-count);
  const startUs = config.genesisTimeUs;
  const firstUs = last[0]?.command.timeUs ?? startUs;
  return last.map(({ key, command }) => ({
    key,
    command: { ...command, timeUs: startUs + (command.timeUs - firstUs) } as Command,
  }));
}

/** The subaccount of an execution, by its index in the script; −1 if it is unknown there. */
export function scriptOwner(names: ScriptNames, engine: Engine, id: SubaccountId): number {
  const { account, index } = engine.subaccount(id);
  const owner = engine.addressOf(account);
  return names.subaccounts.findIndex((one) => one.address === owner && one.index === index);
}

/** Positions of an execution by the owner's index in the script. */
export function scriptPositions(
  { subaccounts }: ScriptNames,
  engine: Engine,
): ReadonlyMap<SubaccountId, readonly PositionView[]> {
  return new Map(
    subaccounts.map(({ address, index }, i) => {
      const id = engine.subaccountIdOf(address, index);
      return [subaccountId(i), id === undefined ? [] : engine.positions(id)];
    }),
  );
}

export function scriptMarket({ markets }: ScriptNames, { symbol }: MarketSpec): MarketId {
  return marketId(markets.indexOf(symbol));
}

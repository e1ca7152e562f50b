/** The first commands of a rebuilt script: listings, deposits, prices and plain limit orders. */
import type { Command } from '../../engine/commands.ts';
import type { ExchangeConfig, MarketSpec } from '../../engine/config.ts';
import {
  lots,
  ppm,
  priceTicks,
  quanta,
  type Address,
  type MarketId,
  type SubaccountId,
} from '../../num/units.ts';
import { NEVER_MS } from '../run-setup.ts';
import type { Script, ScriptStep } from './script.ts';

/** Collateral that suffices for every position. */
export const RICH = 1_000_000_000_000_000n;
/** Number of system subaccounts, which come first. */
export const OWN = 6;

/** Ids are those of the script. */
export class Opening {
  private readonly commands: Command[] = [];
  private readonly at: Pick<Command, 'timeUs'>;
  private nonce = 1n;

  constructor({ genesisTimeUs }: ExchangeConfig) {
    this.at = { timeUs: genesisTimeUs };
  }

  list(spec: MarketSpec): void {
    this.commands.push({ kind: 'listMarket', ...this.at, spec });
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

  /** Sets the prices of the market that are not its own. */
  setPrice({ indexSource, markSource }: MarketSpec, market: MarketId, price: number): void {
    const ticks = priceTicks(price);
    if (indexSource !== 'mid') {
      const text = String(price);
      this.commands.push({ kind: 'setIndex', ...this.at, market, priceTicks: ticks, text });
    }
    if (markSource === 'external') {
      this.commands.push({ kind: 'setMark', ...this.at, market, priceTicks: ticks });
    }
  }

  /** The commands as steps whose keys follow those of the script. */
  stepsFor(script: Script): ScriptStep[] {
    const first = 1 + script.steps.reduce((most, { key }) => Math.max(most, key), 0);
    return this.commands.map((command, i) => ({ key: first + i, command }));
  }
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

/**
 * R-1.6a computed from the public views alone: claims never exceed net deposits, and a debt without
 * a position does not exist.
 */
import type { SubaccountId } from '../../src/num/units.ts';
import { subaccountId } from '../../src/num/units.ts';
import { dollars } from '../engine/risk-world.ts';
import type { AttackWorld } from './world.ts';

/** One margin unit: the cross part of a subaccount, or one isolated position. */
interface Unit {
  readonly name: string;
  readonly equity: bigint;
  readonly flat: boolean;
  readonly waits: boolean;
}

/** External deposits less withdrawals, from ledger entries. */
function outsideMoney(world: AttackWorld): bigint {
  let sum = 0n;
  for (const event of world.events) {
    if (event.kind !== 'balanceChanged') continue;
    if (event.reason === 'deposit' || event.reason === 'withdrawal') sum += event.deltaQuanta;
  }
  return sum;
}

/** Violations; empty when the exchange is solvent. */
export function insolvencies(world: AttackWorld): string[] {
  const wrong: string[] = [];
  const shortfallId = world.engine.subaccountIdOf(world.engine.config.shortfallAccount, 0);
  let equity = 0n;
  let claims = 0n;
  let shortfall = 0n;
  let waiting = 0n;
  for (let i = 0; i < world.engine.subaccountCount; i++) {
    const id = subaccountId(i);
    equity += world.engine.margin(id).accountValueQuanta;
    if (id === shortfallId) {
      shortfall = world.engine.subaccount(id).balanceQuanta;
      if (shortfall > 0n) wrong.push(`the shortfall is ${dollars(shortfall)}`);
      continue;
    }
    for (const unit of unitsOf(world, id)) {
      if (unit.equity > 0n) claims += unit.equity;
      if (unit.equity >= 0n) continue;
      const text = `${unit.name} has ${dollars(unit.equity)}`;
      if (unit.flat) wrong.push(`${text} without a position`);
      else if (unit.waits) waiting -= unit.equity;
      else wrong.push(`${text} although none of its markets is frozen`);
    }
  }
  const supply = outsideMoney(world);
  if (supply < 0n) wrong.push(`deposits less withdrawals are ${dollars(supply)}`);
  if (equity !== supply) wrong.push(`equity ${dollars(equity)}, supply ${dollars(supply)}`);
  if (claims > supply - shortfall + waiting) {
    wrong.push(`claims of ${dollars(claims)} on a supply of ${dollars(supply)}`);
  }
  return wrong;
}

function unitsOf(world: AttackWorld, id: SubaccountId): Unit[] {
  const view = world.engine.margin(id);
  const positions = world.engine.positions(id);
  const cross = positions.filter(({ isolated }) => !isolated);
  const name = world.nameOf(id);
  const units: Unit[] = positions
    .filter(({ isolated }) => isolated)
    .map(({ market, isolatedMarginQuanta, upnlQuanta }) => ({
      name: `${name} isolated in ${world.engine.market(market).spec.symbol}`,
      equity: isolatedMarginQuanta + upnlQuanta,
      flat: false,
      waits: world.isFrozen(market),
    }));
  const waits = cross.some(({ market }) => world.isFrozen(market));
  const flat = cross.length === 0;
  return [...units, { name, equity: view.crossEquityQuanta, flat, waits }];
}

/**
 * Replaces the history of a failure by a few commands that open the positions again which its last
 * commands meet. All owners are rich, so each can open its position at the mark. It serves failures
 * that need several positions, such as a payment of funding, but no exact equity.
 */
import { must } from '../../base/assert.ts';
import { subaccountId } from '../../num/units.ts';
import {
  byOwner,
  lastSteps,
  Opening,
  OWN,
  RICH,
  scriptMarket,
  scriptPositions,
} from './opening.ts';
import { Binder, play, type Script } from './script.ts';
import type { Tester } from './tester.ts';

/** A rebuilt history has about as many commands. */
const LONG = 40;
/** Last commands of the script that follow. */
const ENDINGS = [1, 3, 10];
/** Larger positions need too many orders of the largest size. */
const MAX_ORDERS = 20;

export function rebuildPositions(script: Script, tester: Tester): Script {
  if (script.steps.length < LONG) return script;
  for (const ending of ENDINGS) {
    if (tester.cancelled) return script;
    const failing = tester.failing(rebuild(script, tester, ending));
    if (failing !== null && failing.steps.length < script.steps.length) return failing;
  }
  return script;
}

/** Listings, deposits, prices, positions, and the last commands. */
function rebuild(script: Script, tester: Tester, ending: number): Script {
  const { names, config, steps } = script;
  const engine = tester.newEngine(config);
  play(engine, steps.slice(0, -ending), new Binder(script, engine));
  const markets = engine.markets();
  const holders = [...scriptPositions(names, engine)].filter(
    ([id, positions]) => id >= OWN && positions.length > 0,
  );
  const users = names.subaccounts.map((_, id) => subaccountId(id)).slice(OWN);
  const other = users.find((id) => holders.every(([holder]) => holder !== id)) ?? users[0];
  const opening = new Opening(config);
  for (const { spec, markTicks } of markets) opening.list(spec, markTicks);
  for (const id of new Set([...holders.map(([holder]) => holder), other])) {
    if (id !== undefined) opening.pay(must(names.subaccounts[id], 'a user of a script'), RICH);
  }
  for (const view of markets) opening.setPrices(view.spec, scriptMarket(names, view.spec), view);
  for (const [owner, positions] of holders) {
    for (const { market, lots, isolated } of positions) {
      const { spec, markTicks } = must(markets[market], 'a market of a position');
      const isHuge = Math.abs(lots) > MAX_ORDERS * spec.maxLots;
      if (other === undefined || owner === other || markTicks === null || isHuge) continue;
      if (isolated) opening.isolate(owner, scriptMarket(names, spec));
      opening.position([owner, other], [scriptMarket(names, spec), spec], lots, markTicks);
    }
  }
  const last = lastSteps(script, ending).map(byOwner);
  return { ...script, steps: [...opening.stepsFor(script), ...last] };
}

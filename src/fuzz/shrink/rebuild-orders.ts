/**
 * Replaces the history of a failure by a few commands that build the orders again which its last
 * commands meet. Each resting order is a plain limit order of its remaining lots, and all owners
 * are rich. A failure that depends on a size depends on every fill before it, and on the margin,
 * the delegates and the nonces of the owners, so little of its history can be removed.
 */
import { must } from '../../base/assert.ts';
import { COMMANDS } from '../../engine/schema/command-schema.ts';
import { idsOf } from '../../engine/schema/map-ids.ts';
import { subaccountId, type OrderId, type SubaccountId } from '../../num/units.ts';
import { byOwner, lastSteps, Opening, OWN, RICH, scriptMarket, scriptOwner } from './opening.ts';
import { Binder, play, type Script, type ScriptStep } from './script.ts';
import type { Tester } from './tester.ts';

/** A rebuilt history has about as many commands. */
const LONG = 20;
/** Last commands of the script that follow; checks of long runs may see a failure later. */
const ENDINGS = [1, 3, 10];

export function rebuildOrders(script: Script, tester: Tester): Script {
  if (script.steps.length < LONG) return script;
  for (const ending of ENDINGS) {
    if (tester.cancelled) return script;
    const last = lastSteps(script, ending).map(byOwner);
    const steps = [...openingFor(script, tester, last), ...last];
    const failing = tester.failing({ ...script, steps });
    if (failing !== null && failing.steps.length < script.steps.length) return failing;
  }
  return script;
}

/** Listings, deposits, prices, and the resting orders that the last steps touch. */
function openingFor(script: Script, tester: Tester, last: readonly ScriptStep[]): ScriptStep[] {
  const { names, config } = script;
  const earlier = script.steps.slice(0, -last.length);
  // Played twice: a copy of the exchange may be what fails.
  const before = tester.newEngine(config);
  play(before, earlier, new Binder(script, before));
  const engine = tester.newEngine(config);
  const binder = new Binder(script, engine);
  play(engine, earlier, binder);
  const touched = new Set<OrderId>();
  play(engine, script.steps.slice(-last.length), binder, (event) => {
    if ('orderId' in event) touched.add(event.orderId);
  });
  const resting = [...touched]
    .sort((a, b) => a - b)
    .flatMap((id) => {
      const order = before.order(id);
      return order?.status === 'new' || order?.status === 'partiallyFilled' ? [order] : [];
    });

  const ownerOf = (id: SubaccountId): number => scriptOwner(names, before, id);
  const owners = new Set([
    ...resting.map(({ subaccount }) => ownerOf(subaccount)),
    ...last.flatMap(({ command }) => idsOf(COMMANDS[command.kind].body, command, 'subaccountId')),
  ]);
  const opening = new Opening(config);
  for (const { spec, markTicks } of before.markets()) opening.list(spec, markTicks);
  for (const id of owners) {
    const owner = names.subaccounts[id];
    if (owner !== undefined && id >= OWN) opening.pay(owner, RICH);
  }
  for (const view of before.markets()) {
    opening.setPrices(view.spec, scriptMarket(names, view.spec), view);
  }
  for (const { subaccount, market, remainingLots, priceTicks } of resting) {
    const { spec } = must(before.markets()[market], 'a market of an order');
    opening.order(
      subaccountId(ownerOf(subaccount)),
      scriptMarket(names, spec),
      remainingLots,
      priceTicks,
    );
  }
  return opening.stepsFor(script);
}

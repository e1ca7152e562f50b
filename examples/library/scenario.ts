/** `orrery/scenario`: a scenario as a test, and the error of one that is not valid. */
import assert from 'node:assert/strict';
import { proveScenario, runScenario, ScenarioError } from 'orrery/scenario';

const text = `
orrery: 1
title: A fill moves the position
accounts:
  alice: { deposit: 10000 }
  bob: { deposit: 10000 }
steps:
  - oracle: { BTC-USD-PERP: 60000 }
  - as: alice
    do: submitOrder
    with: { price: 60000, quantity: 0.1 }
  - as: bob
    do: submitOrder
    with: { price: 60000, quantity: -0.1 }
    expect:
      positions: { alice: { BTC-USD-PERP: { quantity: 0.1 } } }
`;

const result = runScenario(text);
for (const { title, differences } of result.steps) console.log(title, differences);
assert.ok(result.passed);
assert.deepEqual(proveScenario(result, 1), []);

assert.throws(
  () => runScenario(text.replace('submitOrder', 'submitOder')),
  (error: unknown) => error instanceof ScenarioError && error.problems.length === 1,
);

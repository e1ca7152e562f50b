/** `orrery/fuzz`: random commands against the engine, and an invariant of your own that shrinks. */
import assert from 'node:assert/strict';
import { Exchange } from 'orrery';
import { allInvariants, drawProfile, runFuzz, shrink, type Checker } from 'orrery/fuzz';

const profile = drawProfile('example', { name: 'stress', commands: 500 });
const { failure, commands } = runFuzz(profile, allInvariants());
assert.equal(failure, null);
console.log(commands, 'commands, every invariant holds');

/** False on purpose: an exchange may list a second market. */
const oneMarket: Checker = {
  after: (engine) =>
    engine.markets().length < 2
      ? null
      : { invariant: 'oneMarket', rule: 'example', says: 'one market', detail: 'a second one' },
};
const found = runFuzz(profile, oneMarket).failure;
if (found !== null) {
  const { from, to } = shrink(found, {
    createEngine: (config) => new Exchange(config),
    createChecker: () => oneMarket,
  });
  console.log(from, 'commands shrink to', to);
}

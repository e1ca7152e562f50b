/** A driver asks for a timer that is due by a time, which reads no market while none is. */
import { expect, test } from 'vitest';
import { Exchange } from '../../src/engine/exchange.ts';
import { timeUs } from '../../src/num/units.ts';
import { drawLife } from '../metamorphic/life.ts';

test('R-12.1: a timer is due by a time if the next one is not later', () => {
  const { config, commands } = drawLife('timer due', { name: 'money', commands: 400 });
  const engine = new Exchange(config);
  let found = 0;
  for (const command of commands) {
    engine.apply(command);
    // Before the question that follows, which makes the bound of markets exact.
    const soon = engine.timerDueBy(timeUs(engine.nowUs + 1_000_000));
    const next = engine.nextTimerUs();
    expect(soon).toBe(next <= engine.nowUs + 1_000_000 ? next : Infinity);
    if (next === Infinity) continue;
    found += 1;
    expect(engine.timerDueBy(timeUs(next - 1))).toBe(Infinity);
    expect(engine.timerDueBy(timeUs(next))).toBe(next);
  }
  expect(found).toBeGreaterThan(100);
});

/**
 * Lives under stress, as the fuzzer draws them: states of liquidation and margin that they must reach, restored exchanges that go on alike, intervals cut in
 * two. That every invariant holds after every command is test/fuzz/generator.
 */
import { expect, test } from 'vitest';
import type { EngineEvent } from '../../src/engine/events.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { PROFILE_NAMES, type ProfileName } from '../../src/fuzz/profile.ts';
import { subaccountId, timeUs } from '../../src/num/units.ts';
import { drawLife, type Lifecycle } from '../metamorphic/life.ts';
import { EFFORT } from '../setup/effort.ts';

function* lives(
  what: string,
  count: number,
  names: readonly ProfileName[],
  commands: number,
): Generator<Lifecycle> {
  for (let i = 0; i < count * EFFORT; i++) {
    yield drawLife(`${what} ${String(i)}`, { name: names[i % names.length]!, commands });
  }
}

test('lives under stress reach every step of the ladder, and every refusal of money', () => {
  const reached = new Map<string, number>();
  const note = (what: string): void => {
    reached.set(what, (reached.get(what) ?? 0) + 1);
  };
  const hear = (event: EngineEvent): void => {
    if (event.kind === 'liquidationStep') note(`${event.isolated ? 'isolated ' : ''}${event.step}`);
    else if (event.kind === 'positionTransferred') note(event.reason);
    else if (event.kind === 'orderEnded') note(`ended ${String(event.reason)}`);
    else note(event.kind);
  };
  for (const { config, commands } of lives('reach', 12, ['stress', 'money'], 2000)) {
    const engine = new Exchange(config);
    for (const [i, command] of commands.entries()) {
      note(engine.apply(command, hear));
      if (i % 50 === 0) expect(engine.checkInvariants()).toEqual([]);
      expect(engine.subaccount(subaccountId(1)).balanceQuanta).toBeGreaterThanOrEqual(0n);
    }
  }
  for (const state of [
    ...['cancelOrders', 'order', 'insurance', 'takeover', 'adl', 'safe'],
    ...['isolated cancelOrders', 'isolated order', 'isolated takeover', 'isolated adl'],
    ...['ended liquidation', 'ended insufficientMargin', 'fundingSampled', 'fundingSettled'],
    ...['isolatedMarginChanged', 'vaultSharesChanged', 'marginChanged'],
    ...['margin_mode_in_use', 'margin_insufficient', 'margin_below_initial'],
    ...['vault_shares_locked', 'vault_shares_insufficient', 'amount_exceeds_available'],
  ]) {
    expect([...reached.keys()], `never reached: ${state}`).toContain(state);
  }
});

test('a restored exchange goes on as the one it was taken from', () => {
  for (const { config, commands } of lives('restored', 16, PROFILE_NAMES, 200)) {
    let engine = new Exchange(config);
    const straight = new Exchange(config);
    for (const [i, command] of commands.entries()) {
      if (i % 20 === commands.length % 20) engine = engine.fork();
      expect(engine.apply(command)).toBe(straight.apply(command));
    }
    expect(engine.chainHash()).toBe(straight.chainHash());
    expect(engine.stateHash()).toBe(straight.stateHash());
    expect(engine.snapshot()).toEqual(straight.snapshot());
  }
});

test('cutting an interval in two never changes state (R-12.1)', () => {
  for (const { config, commands } of lives('cut', 16, PROFILE_NAMES, 200)) {
    const whole = new Exchange(config);
    const cut = new Exchange(config);
    for (const [i, command] of commands.entries()) {
      const waitUs = command.timeUs - whole.nowUs;
      if (waitUs > 1) {
        const back = Math.floor((waitUs * (1 + (i % 999))) / 1000);
        cut.apply({ kind: 'advanceTime', timeUs: timeUs(command.timeUs - back) });
      }
      expect(cut.apply(command)).toBe(whole.apply(command));
      if (i % 10 === 0) expect(figures(cut)).toEqual(figures(whole));
    }
    expect(figures(cut)).toEqual(figures(whole));
    expect(cut.nextTimerUs()).toBe(whole.nextTimerUs());
  }
});

function figures(engine: Exchange): unknown {
  return Array.from({ length: engine.subaccountCount }, (_, id) => {
    const { balanceQuanta } = engine.subaccount(subaccountId(id));
    const open = engine
      .positions(subaccountId(id))
      .map(({ lots, costQuanta, isolatedMarginQuanta, fundingQuanta }) => [
        lots,
        costQuanta,
        isolatedMarginQuanta,
        fundingQuanta,
      ]);
    return [balanceQuanta, open, engine.openOrders(subaccountId(id)).length];
  });
}

/**
 * Random lives under stress: every invariant after every command (conservation to the Quantum, nobody liquidatable by a scan of all, isolated
 * margins, vault shares), restored exchanges that go on alike, intervals cut in two, the journal's bytes.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EFFORT } from '../setup/effort.ts';
import type { Exchange } from '../../src/engine/exchange.ts';
import { subaccountId, timeUs } from '../../src/num/units.ts';
import { ByteReader, ByteWriter } from '../../src/sim/journal/bytes.ts';
import { decodeCommand, encodeCommand } from '../../src/sim/journal/codec.ts';
import { anyStep, newExchange, OPENING, START, USERS, type Step } from './lives.ts';

/** Runs a life; answers what was reached. */
function live(
  random: readonly Step[],
  each: (command: ReturnType<Step['command']>, nonce: bigint, waitUs: number) => void,
): void {
  let atUs: number = START;
  let nonce = 100n;
  for (const { waitUs, command } of [...OPENING, ...random]) {
    const from = atUs;
    atUs += waitUs;
    nonce += 1n;
    each(command(timeUs(atUs), nonce), nonce, atUs - from);
  }
}

test('every invariant holds after every command', () => {
  const reached = new Map<string, number>();
  const note = (what: string): void => {
    reached.set(what, (reached.get(what) ?? 0) + 1);
  };
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 80, maxLength: 160 }), (random) => {
      const engine = newExchange();
      live(random, (command) => {
        const insurance = engine.subaccount(subaccountId(1)).balanceQuanta;
        expect(insurance).toBeGreaterThanOrEqual(0n);
        const outcome = engine.apply(command, (event) => {
          if (event.kind === 'liquidationStep') {
            note(`${event.isolated ? 'isolated ' : ''}${event.step}`);
          } else if (event.kind === 'positionTransferred') note(event.reason);
          else if (event.kind === 'orderEnded') note(`ended ${String(event.reason)}`);
          else note(event.kind);
        });
        note(outcome);
        expect(engine.checkInvariants()).toEqual([]);
      });
    }),
    { numRuns: 250 * EFFORT },
  );
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
  fc.assert(
    fc.property(
      fc.array(anyStep, { minLength: 80, maxLength: 160 }),
      fc.nat(999),
      (random, every) => {
        let engine = newExchange();
        const straight = newExchange();
        let i = 0;
        live(random, (command) => {
          i += 1;
          if (i % 5 === every % 5) engine = engine.fork();
          expect(engine.apply(command)).toBe(straight.apply(command));
        });
        expect(engine.chainHash()).toBe(straight.chainHash());
        expect(engine.stateHash()).toBe(straight.stateHash());
        expect(engine.snapshot()).toEqual(straight.snapshot());
      },
    ),
    { numRuns: 60 * EFFORT },
  );
});

test('cutting an interval in two never changes state (R-12.1)', () => {
  fc.assert(
    fc.property(
      fc.array(anyStep, { minLength: 80, maxLength: 160 }),
      fc.integer({ min: 1, max: 999 }),
      (random, permille) => {
        const whole = newExchange();
        const cut = newExchange();
        live(random, (command, _nonce, waitUs) => {
          if (waitUs > 1) {
            const back = Math.floor((waitUs * permille) / 1000);
            cut.apply({ kind: 'advanceTime', timeUs: timeUs(command.timeUs - back) });
          }
          expect(cut.apply(command)).toBe(whole.apply(command));
          expect(figures(cut)).toEqual(figures(whole));
        });
        expect(cut.nextTimerUs()).toBe(whole.nextTimerUs());
      },
    ),
    { numRuns: 60 * EFFORT },
  );
});

function figures(engine: Exchange): unknown {
  const { clsAccount, insuranceAccount, treasuryAccount } = engine.config;
  return [...USERS, clsAccount, insuranceAccount, treasuryAccount].flatMap((account) =>
    engine.subaccountsOf(account).map(({ id, balanceQuanta }) => {
      const open = engine
        .positions(id)
        .map(({ lots, costQuanta, isolatedMarginQuanta, fundingQuanta }) => [
          lots,
          costQuanta,
          isolatedMarginQuanta,
          fundingQuanta,
        ]);
      return [balanceQuanta, open, engine.openOrders(id).length];
    }),
  );
}

test('the journal’s bytes carry every command of a life', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 20, maxLength: 40 }), (random) => {
      live(random, (command) => {
        const writer = new ByteWriter(1);
        encodeCommand(writer, command);
        expect(decodeCommand(new ByteReader(writer.bytes()), command.timeUs)).toEqual(command);
      });
    }),
    { numRuns: 50 * EFFORT },
  );
});

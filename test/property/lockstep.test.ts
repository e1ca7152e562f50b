import fc from 'fast-check';
import { outcomeCode } from '../../src/engine/refusals.ts';
import { expect, test } from 'vitest';
import { EFFORT } from '../setup/effort.ts';
import { Exchange } from '../../src/engine/exchange.ts';
import { marketId, orderId, subaccountId, timeUs } from '../../src/num/units.ts';
import { divergenceText } from '../../src/oracle/divergence.ts';
import { Lockstep } from '../../src/oracle/lockstep.ts';
import { anyStep, configOf, OPENING, START, type Step } from '../oracle/commands.ts';

/** State of an exchange without sequence numbers, for comparison. */
function ofEngine(engine: Exchange, orders: number): unknown {
  const subs = [];
  for (let id = 0; ; id++) {
    let view;
    try {
      view = engine.subaccount(subaccountId(id));
    } catch {
      break;
    }
    const margin = view.system ? null : engine.margin(view.id);
    subs.push({
      cash: view.balanceQuanta,
      margin: margin && {
        equity: margin.crossEquityQuanta,
        initial: margin.initialRequirementQuanta,
        maintenance: margin.maintenanceRequirementQuanta,
        withdrawable: margin.withdrawableQuanta,
        netDeposits: margin.netDepositsQuanta,
      },
      positions: engine
        .positions(view.id)
        .map((position) => [position.market, BigInt(position.lots), position.costQuanta]),
    });
  }
  const records = [];
  for (let id = 1; id <= orders; id++) {
    const order = engine.order(orderId(id));
    records.push(
      order && [id, order.status, order.reason, BigInt(order.lots), BigInt(order.remainingLots)],
    );
  }
  const markets = engine.markets().map((market) => ({
    mark: market.markTicks === null ? null : BigInt(market.markTicks),
    last: market.lastTicks === null ? null : BigInt(market.lastTicks),
    openInterest: BigInt(market.openInterestLots),
    bids: engine.depth(marketId(market.id), 'bid', 1000).map(levelText),
    asks: engine.depth(marketId(market.id), 'ask', 1000).map(levelText),
  }));
  return { subs, records, markets };
}

function levelText(level: { priceTicks: number; lots: number }): string {
  return `${level.lots}@${level.priceTicks}`;
}

function commandTable(steps: readonly Step[]): string {
  return steps.map(({ text }) => text).join('\n');
}

test('engine and reference agree after every command (R-1.6, §2, §5)', () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(
      fc.constantFrom(0, 1, 2),
      fc.array(anyStep, { minLength: 60, maxLength: 120 }),
      (mode, random) => {
        const config = configOf(mode);
        const engine = new Exchange(config);
        const lockstep = new Lockstep(engine);
        let atUs: number = START;
        let nonce = 100n;
        const steps = [...OPENING, ...random];
        for (const [i, { waitUs, command: make }] of steps.entries()) {
          atUs += waitUs;
          nonce += 1n;
          const command = make(timeUs(atUs), nonce);
          let ladder = 0;
          const { outcome, divergence } = lockstep.apply(command, (event) => {
            if (event.kind === 'liquidationStep') ladder += 1;
            reached.add('reason' in event ? `${event.kind} ${String(event.reason)}` : event.kind);
          });
          reached.add(outcomeCode(outcome));
          // The reference has no liquidation; states after its first step are covered by
          // test/engine/liquidation.
          if (ladder > 0) break;
          if (divergence !== null) {
            throw new Error(
              `${divergenceText(divergence)}\n${commandTable(steps.slice(0, i + 1))}`,
            );
          }
          expect(engine.checkInvariants()).toEqual([]);
        }
      },
    ),
    { numRuns: 250 * EFFORT },
  );
  // The sequences must reach the states that the rules cover.
  for (const state of [
    'orderEnded user',
    'orderEnded expired',
    'orderEnded iocRemainder',
    'orderEnded selfTrade',
    'orderEnded reduceOnly',
    'orderEnded insufficientMargin',
    'orderRejected priceBand',
    'orderRejected postOnlyWouldCross',
    'orderRejected reduceOnly',
    'orderRejected openOrders',
    'orderRejected openInterest',
    'orderRejected insufficientMargin',
    'nonce_used',
    'client_id_in_use',
    'request_expired',
    'quantity_zero',
    'quantity_below_minimum',
    'quantity_above_maximum',
    'price_not_positive',
    'flags_conflict',
    'originator_fee_too_high',
    'amount_exceeds_available',
    'amount_not_positive',
    'transfer_not_allowed',
    'subaccount_not_found',
    'order_not_found',
    'balanceChanged originatorFee',
  ]) {
    expect([...reached], `never reached: ${state}`).toContain(state);
  }
});

test('splitting an interval never changes state (R-12.1)', () => {
  fc.assert(
    fc.property(
      fc.array(anyStep, { minLength: 40, maxLength: 80 }),
      fc.integer({ min: 1, max: 999 }),
      (random, permille) => {
        const whole = new Exchange(configOf(0));
        const cut = new Exchange(configOf(0));
        let atUs: number = START;
        let nonce = 100n;
        for (const { waitUs, command: make } of [...OPENING, ...random]) {
          nonce += 1n;
          if (waitUs > 1) {
            const between = timeUs(atUs + Math.max(1, Math.floor((waitUs * permille) / 1000)));
            cut.apply({ kind: 'advanceTime', timeUs: between });
          }
          atUs += waitUs;
          const command = make(timeUs(atUs), nonce);
          expect(cut.apply(command)).toEqual(whole.apply(command));
        }
        // Records contain the sequence numbers of their commands, and the split run has more of
        // them.
        const strip = (engine: Exchange): unknown => ofEngine(engine, engine.lastOrderId);
        expect(strip(cut)).toEqual(strip(whole));
        expect(cut.nextTimerUs()).toBe(whole.nextTimerUs());
      },
    ),
    { numRuns: 80 * EFFORT },
  );
});

test('a restored exchange continues like the original', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 40, maxLength: 80 }), fc.nat(59), (random, at) => {
      let engine = new Exchange(configOf(1));
      const straight = new Exchange(configOf(1));
      let atUs: number = START;
      let nonce = 100n;
      for (const [i, { waitUs, command: make }] of [...OPENING, ...random].entries()) {
        atUs += waitUs;
        nonce += 1n;
        const command = make(timeUs(atUs), nonce);
        if (i % 7 === at % 7) engine = engine.fork();
        expect(engine.apply(command)).toEqual(straight.apply(command));
      }
      expect(engine.chainHash()).toBe(straight.chainHash());
      expect(engine.stateHash()).toBe(straight.stateHash());
      expect(engine.snapshot()).toEqual(straight.snapshot());
    }),
    { numRuns: 80 * EFFORT },
  );
});

import { describe, expect, it } from 'vitest';
import { parseDecimal } from '../../src/num/decimal.ts';
import { PROFILE_NAMES } from '../../src/fuzz/profile.ts';
import { parseScenario } from '../../src/scenario/parse.ts';
import { Timeline } from '../../src/time-machine/timeline.ts';
import {
  accountView,
  instantView,
  type InstantView,
} from '../../src/time-machine/views/instant-view.ts';
import { keccak } from '../../src/wallet/crypto-ports.ts';
import { randomJournal } from './journals.ts';

const QUANTA = 6;

/** Money text as whole 1e-6. */
function quantaOf(text: string): bigint {
  const decimal = parseDecimal(text);
  if (decimal === null || decimal.scale > QUANTA) throw new Error(`${text} is not money`);
  return decimal.digits * 10n ** BigInt(QUANTA - decimal.scale);
}

const sumOf = (terms: readonly { readonly value: string }[]): bigint =>
  terms.reduce((sum, { value }) => sum + quantaOf(value), 0n);

/** Every instant of a random run of each profile. */
function* instants(
  commands: number,
): Generator<{ timeline: Timeline; view: InstantView; name: string }> {
  for (const name of PROFILE_NAMES) {
    const { bytes, commands: last } = randomJournal(`views ${name}`, commands, { profile: name });
    const timeline = Timeline.open(bytes);
    for (let seq = 0; seq <= last; seq++) {
      yield { timeline, view: instantView(timeline.seek(seq)), name: `${name} ${String(seq)}` };
    }
  }
}

describe('views of instants of random runs', () => {
  const seen = new Set<string>();

  it('balance every command, add up every formula, and are plain data', () => {
    for (const { timeline, view, name } of instants(250)) {
      expect(structuredClone(view), name).toEqual(view);
      if (view.seq % 50 === 0) expect(JSON.parse(JSON.stringify(view)), name).toEqual(view);
      const { step } = view;
      if (step !== null) {
        seen.add(step.kind);
        expect(step.ledger.sum, name).toBe('0');
        for (const entry of step.ledger.entries) seen.add(`${entry.place} ${entry.reason}`);
        for (const event of step.events) {
          if (event.parent !== null) expect(event.parent).toBeLessThan(event.index);
        }
        for (const { step: of, equity, maintenance, missing } of step.liquidations) {
          seen.add(of);
          const gap = quantaOf(maintenance) - quantaOf(equity);
          expect(missing === null ? 0n : quantaOf(missing), name).toBe(gap > 0n ? gap : 0n);
        }
        expect(step.why.join('\n')).not.toContain('undefined');
      }
      const instant = timeline.seek(view.seq);
      for (const { subaccount } of view.accounts.slice(0, 4)) {
        const account = accountView(instant, subaccount);
        for (const { name: of, terms, value } of account?.formulas ?? []) {
          expect(sumOf(terms), `${name} ${of} of ${String(subaccount)}`).toBe(quantaOf(value));
        }
        for (const position of account?.positions ?? []) {
          if (position.liquidationText === null) continue;
          seen.add('liquidation price');
          expect(position.liquidationText, name).toContain('<');
        }
      }
    }
    // Each place of money and each step of a liquidation occurs in the runs.
    for (const what of [
      'positionCost fill',
      'cash fee',
      'isolatedMargin isolatedMargin',
      'outside deposit',
      'cash funding',
      'liquidation price',
      'cancelOrders',
      'order',
    ]) {
      expect(seen, what).toContain(what);
    }
  });

  it('give each command as a step that a scenario accepts', () => {
    const steps: string[] = [];
    for (const { view } of instants(60)) {
      const { scenario, curl, test } = view.step?.forms ?? {};
      if (scenario === undefined) continue;
      steps.push(`  ${scenario}`);
      expect(curl).toMatch(/^curl -X (?:POST|DELETE) "\$URL\//);
      expect(test).toContain('exchange.apply(command)');
    }
    const text = `orrery: 1\ntitle: Commands\nsteps:\n${steps.join('\n')}\n`;
    const parsed = parseScenario(text, 'commands.yaml', keccak);
    expect(parsed.ok ? [] : parsed.problems).toEqual([]);
  });
});

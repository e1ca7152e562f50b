/** Solvency metrics for Prometheus, with the invariants of R-1.6a. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { FundsView, InvariantViolation } from '../engine/read/views.ts';
import type { Host } from './exchange-host.ts';

const USD = 1e6;

const FUNDS: readonly (readonly [string, string, (funds: FundsView) => bigint])[] = [
  [
    'shortfall',
    'Shortfall: losses that no account could pay (R-6.6)',
    (funds) => -funds.shortfallQuanta,
  ],
  ['insurance', 'Balance of the insurance fund', (funds) => funds.insuranceQuanta],
  [
    'insurance_allowance',
    'Amount that insurance may still pay in this UTC hour (R-6.7)',
    (funds) => funds.insuranceAllowanceQuanta,
  ],
  ['vault_nav', 'Net asset value of the vault', (funds) => funds.vaultValueQuanta],
];

export function riskMetrics(host: Host, registers: Registry[]): void {
  for (const [name, help, read] of FUNDS) {
    new Gauge({
      name: `orrery_${name}_usd`,
      help,
      registers,
      collect() {
        this.set(Number(read(host.view.funds())) / USD);
      },
    });
  }
  new Gauge({
    name: 'orrery_market_frozen',
    help: '1 while the market is frozen (R-5.3b)',
    labelNames: ['symbol'],
    registers,
    collect() {
      for (const { spec, frozenSinceUs } of host.view.markets()) {
        this.set({ symbol: spec.symbol }, frozenSinceUs === null ? 0 : 1);
      }
    },
  });
  new Gauge({
    name: 'orrery_index_age_seconds',
    help: 'Time since the last price of the oracle, by market; absent before the first',
    labelNames: ['symbol'],
    registers,
    collect() {
      this.reset();
      for (const { spec, status, indexAtUs } of host.view.markets()) {
        if (indexAtUs === null || spec.indexSource === 'mid' || status === 'delisted') continue;
        this.set({ symbol: spec.symbol }, Math.max(0, host.nowUs() - indexAtUs) / 1e6);
      }
    },
  });
  const steps = new Counter({
    name: 'orrery_liquidation_steps_total',
    help: 'Steps of the liquidation ladder since process start (R-6.2)',
    labelNames: ['step'],
    registers,
  });
  host.exchange.onEvent((event) => {
    if (event.kind === 'liquidationStep') steps.inc({ step: event.step });
  });
  invariantMetric(host, registers);
}

/** Checked once per scrape, and only after new commands: one pass over accounts per invariant. */
function invariantMetric(host: Host, registers: Registry[]): void {
  let checkedSeq = -1;
  let found: readonly InvariantViolation[] = [];
  new Gauge({
    name: 'orrery_solvency_violations',
    help: 'Violated solvency invariants (R-1.6a)',
    registers,
    collect() {
      const { engine } = host.exchange;
      if (engine.seq !== checkedSeq) {
        checkedSeq = engine.seq;
        found = engine.checkSolvency();
      }
      this.set(found.length);
    },
  });
}

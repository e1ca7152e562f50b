/**
 * Explains a liquidation: the margin formula with its numbers at that time. The run is re-executed
 * up to each liquidation step, and the state is read in the step's event.
 */
import { dateText } from '../../base/date-text.ts';
import { Exchange } from '../../engine/exchange.ts';
import type { LiquidationStep } from '../../engine/events.ts';
import type { ExchangeView } from '../../engine/read/views.ts';
import { money, priceText, sizeText } from '../../gateway/encode.ts';
import type { Address } from '../../num/units.ts';
import { formatDecimal } from '../../num/decimal.ts';
import { JournalReader } from '../../journal/format/frames.ts';
import { INDENT } from './explain-order.ts';
import type { StoryOptions } from './queue-story.ts';

/** Steps of a liquidation as text. */
export const LIQUIDATION_STEP_TEXTS: Readonly<Record<LiquidationStep['step'], string>> = {
  cancelOrders: 'its open orders are cancelled',
  order: 'the exchange places a liquidation order',
  insurance: 'insurance pays the shortfall within its hourly limit',
  takeover: 'the vault takes over its positions',
  adl: 'traders on the other side are closed against it (auto-deleveraging)',
  safe: 'it meets its maintenance requirement again',
  shortfall: 'the remaining loss is added to the shortfall of the exchange',
};

/** Last steps of a liquidation; a later step belongs to another one. */
const LAST_STEPS: readonly string[] = ['safe', 'takeover', 'adl'];

/** Number of liquidations in the recorded steps of a run. */
export function countLiquidations(steps: readonly { readonly step: string }[]): number {
  // Positions transferred outside the book have rows of their own that are not steps.
  const known = steps.filter(({ step }) => step in LIQUIDATION_STEP_TEXTS);
  return known.filter((_, i) => i === 0 || LAST_STEPS.includes(known[i - 1]?.step ?? '')).length;
}

const PROGRESS_EVERY = 4096;

/** Steps of the account's `place`-th liquidation (from 1) as text; null if there are fewer. */
export function explainLiquidation(
  journal: Uint8Array,
  account: Address,
  subaccountIndex: number,
  place: number,
  options: StoryOptions = {},
): string[] | null {
  const reader = new JournalReader(journal);
  const engine = new Exchange(reader.header.config);
  const lines: string[] = [];
  let seen = 0;
  let within = false as boolean;
  let commands = 0;
  for (let frame = reader.next(); frame !== null; frame = reader.next()) {
    if (frame.kind !== 'command') continue;
    engine.apply(frame.command, (event) => {
      if (event.kind !== 'liquidationStep') return;
      if (event.subaccount !== engine.subaccountIdOf(account, subaccountIndex)) return;
      if (!within) {
        within = true;
        seen += 1;
        if (seen === place) lines.push(...marginLines(engine, event));
      }
      if (seen === place) lines.push(stepLine(engine, event));
      if (LAST_STEPS.includes(event.step)) within = false;
    });
    commands += 1;
    if (commands % PROGRESS_EVERY === 0) {
      options.onProgress?.(reader.offset / journal.length);
      if (options.cancelled?.() === true) return null;
    }
    if (seen > place || (seen === place && !within)) break;
  }
  return lines.length === 0 ? null : lines;
}

/** equity = balance + Σ uPnL and maintenance = Σ |position| × mark × rate, with every number. */
function marginLines(engine: Exchange, event: LiquidationStep): string[] {
  const { balanceQuanta } = engine.margin(event.subaccount);
  const lines = [
    `${dateText(event.timeUs)}  Equity ${money(event.equityQuanta)} was below the maintenance requirement ${money(event.maintenanceQuanta)}.`,
    `${INDENT}  equity = balance ${money(balanceQuanta)} + Σ unrealised PnL, each position at its mark:`,
  ];
  for (const position of engine.positions(event.subaccount)) {
    const market = engine.market(position.market);
    const { spec, markTicks } = market;
    const size = sizeText(market, position.lots);
    const mark = priceText(market, markTicks ?? 0);
    const notional =
      BigInt(Math.abs(position.lots)) * BigInt(markTicks ?? 0) * BigInt(spec.quantaPerTickLot);
    const tier = spec.tiers.findLast(({ floorQuanta }) => floorQuanta <= notional) ?? spec.tiers[0];
    const rate = formatDecimal(BigInt(tier?.maintenanceMarginPpm ?? 0), 6);
    lines.push(
      `${INDENT}  ${spec.symbol}: ${size} × ${mark} − cost ${money(position.costQuanta)} = ${money(position.upnlQuanta)}`,
      `${INDENT}  ${spec.symbol}: maintenance |${size}| × ${mark} × ${rate} = ${money(ceilPpm(notional, tier?.maintenanceMarginPpm ?? 0))}`,
    );
  }
  return lines;
}

function ceilPpm(notional: bigint, ppm: number): bigint {
  const product = notional * BigInt(ppm);
  return product / 1_000_000n + (product % 1_000_000n > 0n ? 1n : 0n);
}

function stepLine(engine: Exchange, event: LiquidationStep): string {
  const text = stepText(engine, event);
  return `${dateText(event.timeUs)}  ${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A step with its numbers, without date and full stop. */
export function stepText(engine: ExchangeView, event: LiquidationStep): string {
  const words = LIQUIDATION_STEP_TEXTS[event.step];
  const market = event.market === null ? null : engine.market(event.market);
  const details = [
    ...(event.step === 'cancelOrders' ? [`${String(event.orders)} orders`] : []),
    ...(market === null || event.lots === 0
      ? []
      : [`${sizeText(market, event.lots)} ${market.spec.symbol}`]),
    ...(market === null || event.limitTicks === null
      ? []
      : [`no worse than ${priceText(market, event.limitTicks)}`]),
    ...(market === null || event.bankruptcyTicks === null
      ? []
      : [`bankruptcy price ${priceText(market, event.bankruptcyTicks)}`]),
    ...(event.amountQuanta === 0n ? [] : [`amount ${money(event.amountQuanta)}`]),
    `equity ${money(event.equityQuanta)}`,
    `maintenance ${money(event.maintenanceQuanta)}`,
  ];
  return `${words}: ${details.join(', ')}`;
}

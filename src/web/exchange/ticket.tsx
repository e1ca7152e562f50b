/** The order ticket: fields, the refusal beside its field, and margin before and after. */
import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { decimalsOf } from './book-state.ts';
import { feedState } from './feeds.ts';
import { money } from '../exact-text.ts';
import { market, symbol } from './markets.ts';
import {
  actionText,
  form,
  KIND_NAMES,
  made,
  marketBound,
  preview,
  previewProblem,
  problem,
  submit,
} from './order-form.ts';
import { hasTrigger, isSliced, KINDS, needsPrice, type Kind } from './order-request.ts';
import { stats } from './account-state.ts';
import { isSending } from './outbox.ts';
import { loggedIn } from './session.ts';
import { priceText, unitsOf } from './text.ts';
import { loginOpen } from './login.tsx';

/** On a narrow screen the ticket is a sheet. */
export const sheetOpen = signal(false);

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly unit: string;
  readonly value: Signal<string>;
  /** Names of this field in refusals. */
  readonly fields: readonly string[];
  readonly hint?: string;
}

function Field({ id, label, unit, value, fields, hint }: FieldProps) {
  const { value: fault } = problem;
  const isFault = fault !== null && fields.includes(fault.field);
  return (
    <div class={isFault ? 'field fault' : 'field'}>
      <label for={`ticket-${id}`}>{label}</label>
      <input
        id={`ticket-${id}`}
        inputMode="decimal"
        autocomplete="off"
        value={value.value}
        placeholder={hint ?? ''}
        aria-invalid={isFault}
        aria-describedby={isFault ? `fault-${id}` : undefined}
        onInput={({ currentTarget }) => {
          value.value = currentTarget.value;
        }}
      />
      <span class="unit" title={unit}>
        {unit}
      </span>
      {isFault ? (
        <p id={`fault-${id}`} class="fault-text" role="alert">
          {fault.text}
        </p>
      ) : null}
    </div>
  );
}

function Check({ label, value }: { readonly label: string; readonly value: Signal<boolean> }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked;
        }}
      />
      {label}
    </label>
  );
}

const SHOWN = [
  'price',
  'quantity',
  'triggerPrice',
  'trailingPercent',
  'period',
  'orders',
  'takeProfit',
  'takeProfit.triggerPrice',
  'stopLoss',
  'stopLoss.triggerPrice',
];

export function Ticket() {
  const kind = form.kind.value;
  const side = form.side.value;
  const { base, quote } = unitsOf(symbol.value);
  const { value: fault } = problem;
  const isOffline = feedState.value !== 'live';
  const choose = (next: Kind): void => {
    form.kind.value = next;
    form.reduceOnly.value = hasTrigger(next);
  };
  return (
    <section class={sheetOpen.value ? 'pane ticket open' : 'pane ticket'} aria-label="Order ticket">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!loggedIn.value) loginOpen.value = true;
          else if (!isSending.value && !isOffline && fault === null) submit();
        }}
      >
        <div class="kinds">
          <select
            aria-label="Order type"
            value={kind}
            onChange={({ currentTarget }) => {
              choose(currentTarget.value as Kind);
            }}
          >
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {KIND_NAMES[one]}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="button plain sheet-close"
            onClick={() => {
              sheetOpen.value = false;
            }}
          >
            Close
          </button>
        </div>
        <div class="sides" role="group" aria-label="Side">
          {(['buy', 'sell'] as const).map((one) => (
            <button
              key={one}
              type="button"
              class={`side ${one}`}
              aria-pressed={side === one}
              onClick={() => {
                form.side.value = one;
              }}
            >
              {one === 'buy' ? 'Buy' : 'Sell'}
            </button>
          ))}
        </div>
        {hasTrigger(kind) ? (
          <Field
            id="trigger"
            label={kind === 'trailingStop' ? 'From mark' : 'Trigger (mark)'}
            unit={quote}
            value={form.trigger}
            fields={['triggerPrice']}
            {...(kind === 'trailingStop' ? { hint: 'at once' } : {})}
          />
        ) : null}
        {kind === 'trailingStop' ? (
          <Field
            id="trailing"
            label="Distance"
            unit="%"
            value={form.trailing}
            fields={['trailingPercent']}
          />
        ) : null}
        {kind === 'market' ? null : (
          <Field
            id="price"
            label="Price"
            unit={quote}
            value={form.price}
            fields={['price']}
            {...(needsPrice(kind) ? {} : { hint: 'market' })}
          />
        )}
        <Field id="size" label="Size" unit={base} value={form.size} fields={['quantity']} />
        <Shares />
        {isSliced(kind) ? (
          <>
            <Field id="slices" label="Parts" unit="" value={form.slices} fields={['orders']} />
            {kind === 'twap' ? (
              <Field id="period" label="Every" unit="s" value={form.periodS} fields={['period']} />
            ) : null}
          </>
        ) : null}
        <div class="checks">
          {kind === 'limit' || kind === 'iceberg' ? (
            <Check label="Post only" value={form.postOnly} />
          ) : null}
          <Check label="Reduce only" value={form.reduceOnly} />
          {kind === 'limit' || kind === 'market' ? (
            <Check label="Bracket" value={form.bracket} />
          ) : null}
        </div>
        {form.bracket.value && (kind === 'limit' || kind === 'market') ? (
          <>
            <Field
              id="tp"
              label="Take profit"
              unit={quote}
              value={form.takeProfit}
              fields={['takeProfit', 'takeProfit.triggerPrice', 'triggerPrice']}
            />
            <Field
              id="sl"
              label="Stop loss"
              unit={quote}
              value={form.stopLoss}
              fields={['stopLoss', 'stopLoss.triggerPrice', 'triggerPrice']}
            />
          </>
        ) : null}
        {fault !== null && !SHOWN.includes(fault.field) ? (
          <p class="fault-text" role="alert">
            {fault.text}
          </p>
        ) : null}
        {loggedIn.value ? (
          <button
            id="submit"
            type="submit"
            class={`button submit ${side}`}
            disabled={made.value === null || isSending.value || isOffline || fault !== null}
          >
            {isOffline
              ? 'Waits for the connection'
              : isSending.value
                ? 'Sending…'
                : actionText.value}
          </button>
        ) : (
          <button type="submit" class="button primary submit">
            Log in to trade
          </button>
        )}
      </form>
      <Effects />
    </section>
  );
}

/** Sizes that use a share of the free collateral. */
function Shares() {
  const fill = (share: number): void => {
    const free = Number(stats.value?.freeCollateral ?? '0');
    const at = Number(form.price.value) || Number(marketBound(form.side.value) ?? '0');
    const rate = Number(market.value?.marginTiers[0]?.initialMargin ?? '1');
    const lotSize = market.value?.lotSize ?? '1';
    const lot = Number(lotSize);
    const fees = Number(market.value?.takerFee ?? '0') * 2;
    if (at === 0 || free <= 0) return;
    const lots = Math.floor((free * share * 0.98) / (at * (rate + fees)) / lot);
    form.size.value = (lots * lot).toFixed(decimalsOf(lotSize));
  };
  return (
    <div class="shares" role="group" aria-label="Share of the free collateral">
      {[0.1, 0.25, 0.5, 1].map((share) => (
        <button
          key={share}
          type="button"
          disabled={stats.value === null}
          onClick={() => {
            fill(share);
          }}
        >
          {share === 1 ? 'Max' : `${String(share * 100)} %`}
        </button>
      ))}
    </div>
  );
}

/** What the order would change, as the server's preview says. */
function Effects() {
  const { value: shown } = preview;
  const { value: figures } = stats;
  if (figures === null) {
    return (
      <p class="empty">Prices and books need no login. Log in to see what an order changes.</p>
    );
  }
  const before = shown?.before?.stats ?? figures;
  const after = shown?.after?.stats ?? null;
  const liquidation = (of: typeof shown, when: 'before' | 'after'): string =>
    priceText(
      of?.[when]?.positions.find((one) => one.symbol === symbol.value)?.liquidationPrice,
      market.value,
    );
  const row = (name: string, now: string, then: string | null) => (
    <div>
      <dt>{name}</dt>
      <dd>
        {then === null || then === now ? (
          now
        ) : (
          <>
            <span class="quiet">{now} →</span> {then}
          </>
        )}
      </dd>
    </div>
  );
  const usage = (ratio: string): string => `${(Number(ratio) * 100).toFixed(2)} %`;
  const filled = shown?.fills ?? [];
  const lots = filled.reduce((sum, one) => sum + Math.abs(Number(one.quantity)), 0);
  const paid = filled.reduce((sum, one) => sum + Math.abs(+one.quantity) * +one.price, 0);
  return (
    <div class="effects">
      <h2>
        {shown === null ? 'Account' : 'Before → after'}
        {previewProblem.value === null ? null : (
          <span class="quiet small"> · {previewProblem.value}</span>
        )}
      </h2>
      <dl>
        {shown === null || fillsNothing(shown.fills)
          ? null
          : row(
              'Fills now',
              `${String(Number(lots.toFixed(8)))} at ${priceText(paid / lots, market.value)}`,
              null,
            )}
        {shown === null ? null : row('Fee now', `${money(shown.fee)} USD`, null)}
        {row(
          'Equity',
          money(before.accountValue),
          after === null ? null : money(after.accountValue),
        )}
        {row(
          'Free',
          money(before.freeCollateral),
          after === null ? null : money(after.freeCollateral),
        )}
        {row(
          'Initial margin',
          money(before.initialMarginRequirement),
          after === null ? null : money(after.initialMarginRequirement),
        )}
        {row(
          'Maintenance',
          money(before.maintMargin),
          after === null ? null : money(after.maintMargin),
        )}
        {row(
          'Margin used',
          usage(before.crossMarginUsage),
          after === null ? null : usage(after.crossMarginUsage),
        )}
        {shown?.after == null
          ? null
          : row('Liquidation', liquidation(shown, 'before'), liquidation(shown, 'after'))}
      </dl>
      {before.accountValue === '0' ? (
        <p class="small quiet">The account is empty: deposit first.</p>
      ) : null}
    </div>
  );
}

const fillsNothing = (fills: readonly unknown[]): boolean => fills.length === 0;

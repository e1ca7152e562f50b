/**
 * Mistakes in a schema that do not compile. Each directive is an error by itself when its line
 * compiles after all.
 */
import type { Deposit, TapeTrade } from '../../../src/engine/commands.ts';
import type { MarkSource } from '../../../src/engine/config.ts';
import { COMMANDS, type CommandSchema } from '../../../src/engine/schema/command-schema.ts';
import {
  hashedAs,
  record,
  word,
  type FieldType,
  type RecordType,
} from '../../../src/engine/schema/field-types.ts';
import { ADDRESS, COUNT, LOTS, MARKET, QUANTA, TICKS } from '../../../src/engine/schema/units.ts';

export const whole: RecordType<Deposit> = record({
  account: ADDRESS,
  subaccountIndex: COUNT,
  amount: QUANTA,
});

// @ts-expect-error A field is missing.
export const missing = record<Deposit>({ account: ADDRESS, subaccountIndex: COUNT });

// @ts-expect-error A field is missing where a schema is expected.
export const missingHere: CommandSchema<Deposit> = { tag: 9, body: record({ account: ADDRESS }) };

export const surplus = record<Deposit>({
  account: ADDRESS,
  subaccountIndex: COUNT,
  amount: QUANTA,
  // @ts-expect-error No command has the field.
  more: COUNT,
});

// @ts-expect-error A size is no price.
export const otherUnit = record<TapeTrade>({ market: MARKET, priceTicks: LOTS, lots: LOTS });

// @ts-expect-error Null is not a market.
export const neverNull: FieldType<Deposit['amount'] | null> = QUANTA;

// @ts-expect-error A literal of the union is missing.
export const fewerWords: FieldType<MarkSource> = word(['median', 'index', 'last', 'mid']);

const TRADE = record<TapeTrade>({ market: MARKET, priceTicks: TICKS, lots: LOTS });

export const hashed = hashedAs(TRADE, ['market', 'priceTicks', 'lots']);

// @ts-expect-error No word of the chain hash has the size.
export const unhashed = hashedAs(TRADE, ['market', 'priceTicks']);

// @ts-expect-error No such field.
export const unknownField = hashedAs(TRADE, ['market', 'priceTicks', 'lots', 'price']);

const others: Omit<typeof COMMANDS, 'tapeGap'> = COMMANDS;
// @ts-expect-error A kind is missing.
export const missingKind: typeof COMMANDS = others;

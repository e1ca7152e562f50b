/**
 * Converts numbers in text files to whole ticks, lots and microseconds. Errors give field, text and
 * limit; the importer adds file and line.
 */
import {
  formatDecimal,
  parseDecimal,
  stepsFloor,
  stepsHalfUp,
  type Decimal,
} from '../../num/decimal.ts';
import {
  lots,
  MAX_PRICE_TICKS,
  ppb,
  priceTicks,
  timeUs,
  type Lots,
  type Ppb,
  type PriceTicks,
  type TimeUs,
} from '../../num/units.ts';
import { TapeError, type TapeUnits } from '../record.ts';
import { stepReader, type StepReader } from '../step-text.ts';

/** Prices and sizes of a market. `field` names the column in errors. */
export interface NumberReader {
  /** A positive multiple of the tick. */
  price(text: string | undefined, field: string): PriceTicks;
  /** A price between ticks (marks, indices), rounded half up. */
  rounded(text: string | undefined, field: string): PriceTicks;
  /** A multiple of the lot, 0 or more. */
  size(text: string | undefined, field: string): Lots;
  /** A volume, which may be finer than a lot; rounded down. */
  volume(text: string | undefined, field: string): Lots;
}

export class MarketNumbers implements NumberReader {
  private readonly units: TapeUnits;
  private readonly tick: Decimal;
  private readonly lot: Decimal;
  private readonly readPrice: StepReader;
  private readonly readSize: StepReader;
  private readonly isRounding: boolean;

  /** `isRounding`: sizes finer than a lot are rounded to lots, at least one lot. */
  constructor(units: TapeUnits, isRounding = false) {
    this.units = units;
    this.isRounding = isRounding;
    this.readPrice = stepReader(units.tickSize);
    this.readSize = stepReader(units.lotSize);
    this.tick = mustDecimal(units.tickSize, 'tick');
    this.lot = mustDecimal(units.lotSize, 'lot');
  }

  price(text: string | undefined, field: string): PriceTicks {
    const ticks = text === undefined ? -1 : this.readPrice(plain(text));
    if (ticks <= 0 || ticks > MAX_PRICE_TICKS) {
      throw new TapeError(`\`${field}\` price ${shown(text)} ${this.priceFault(text)}`);
    }
    return priceTicks(ticks);
  }

  private priceFault(text: string | undefined): string {
    const { tickSize } = this.units;
    const value = text === undefined ? null : parseDecimal(plain(text));
    if (value !== null && value.digits > MAX_PRICE_TICKS) {
      return 'has too many digits: a price has at most 2^31 − 1 ticks; round the prices of the file';
    }
    const fault = `is not a positive multiple of ${tickSize}, the tick; no price is rounded`;
    return numberFault(text) ?? fault;
  }

  rounded(text: string | undefined, field: string): PriceTicks {
    const value = text === undefined ? null : parseDecimal(plain(text));
    const ticks = value === null ? 0 : Number(stepsHalfUp(value, this.tick));
    if (ticks <= 0 || ticks > MAX_PRICE_TICKS) {
      throw new TapeError(
        `\`${field}\` price ${shown(text)} ${numberFault(text) ?? `is not between one tick of ${this.units.tickSize} and 2^31 − 1 ticks`}`,
      );
    }
    return priceTicks(ticks);
  }

  size(text: string | undefined, field: string): Lots {
    const size = text === undefined ? -1 : this.readSize(plain(text));
    if (size < 0) {
      const rounded = this.isRounding ? this.roundedSize(text) : null;
      if (rounded !== null) return rounded;
      const isWhole = /^[0-9]+$/.test(text ?? '') && text !== '0';
      const fault =
        text?.startsWith('-') === true
          ? 'is negative'
          : isWhole && stepReader(this.units.lotSize)('1') > 0
            ? `is more than 2^53 − 1 lots of ${this.units.lotSize}`
            : (numberFault(text) ?? `is not a multiple of ${this.units.lotSize}`);
      throw new TapeError(`\`${field}\` size ${shown(text)} ${fault}`);
    }
    return lots(size);
  }

  private roundedSize(text: string | undefined): Lots | null {
    const value = text === undefined ? null : parseDecimal(plain(text));
    if (value === null || value.digits < 0n) return null;
    const size = Number(stepsHalfUp(value, this.lot));
    return lots(value.digits === 0n ? 0 : Math.max(1, size));
  }

  volume(text: string | undefined, field: string): Lots {
    const value = text === undefined ? null : parseDecimal(plain(text));
    const size = value === null ? -1 : Number(stepsFloor(value, this.lot));
    if (size < 0 || size > Number.MAX_SAFE_INTEGER) {
      throw new TapeError(
        `\`${field}\` volume ${shown(text)} ${numberFault(text) ?? `is not from 0 to 2^53 − 1 lots of ${this.units.lotSize}`}`,
      );
    }
    return lots(size);
  }
}

/** Reads sizes and volumes that count contracts as quantities of the base currency. */
export class ContractNumbers implements NumberReader {
  private readonly numbers: NumberReader;
  private readonly contract: Decimal;

  /** `contractSize`: base currency in one contract. Throws `TapeError` if not positive. */
  constructor(numbers: NumberReader, contractSize: string) {
    this.numbers = numbers;
    this.contract = mustDecimal(contractSize, 'contract size');
  }

  price(text: string | undefined, field: string): PriceTicks {
    return this.numbers.price(text, field);
  }

  rounded(text: string | undefined, field: string): PriceTicks {
    return this.numbers.rounded(text, field);
  }

  size(text: string | undefined, field: string): Lots {
    return this.inBase(text, (base) => this.numbers.size(base, field));
  }

  volume(text: string | undefined, field: string): Lots {
    return this.inBase(text, (base) => this.numbers.volume(base, field));
  }

  /** Reads the quantity of a number of contracts. Other text is read as it is, for its error. */
  private inBase(text: string | undefined, read: (text: string | undefined) => Lots): Lots {
    const count = text === undefined ? null : parseDecimal(plain(text));
    if (count === null) return read(text);
    const { digits, scale } = this.contract;
    try {
      return read(formatDecimal(count.digits * digits, count.scale + scale));
    } catch (error) {
      if (!(error instanceof TapeError)) throw error;
      throw new TapeError(`${error.message} (${shown(text)} contracts)`);
    }
  }
}

/**
 * Finds tick and lot size: the max number of decimals of prices and of sizes. Records are
 * meaningless.
 */
export class NumberScan implements NumberReader {
  private priceDecimals = 0;
  private sizeDecimals = -1;
  private volumeDecimals = 0;
  /** Whether marks or indices were read, which lie between ticks. */
  private hasMarks = false;
  /** The price with the most decimals, and the highest; empty without a price. */
  private finest = '';
  private highest = '';
  private highestPrice = 0;

  price(text: string | undefined, field: string): PriceTicks {
    const { digits, scale } = decimalIn(text, field);
    if (digits > MAX_PRICE_TICKS) {
      throw new TapeError(`\`${field}\` price ${shown(text)} has too many digits for a tick`);
    }
    if (this.finest === '' || scale > this.priceDecimals) {
      this.priceDecimals = scale;
      this.finest = shown(text);
    }
    const price = Number(text);
    if (price >= this.highestPrice) {
      this.highestPrice = price;
      this.highest = shown(text);
    }
    return priceTicks(1);
  }
  rounded(text: string | undefined, field: string): PriceTicks {
    decimalIn(text, field);
    this.hasMarks = true;
    return priceTicks(1);
  }
  size(text: string | undefined, field: string): Lots {
    const { digits, scale } = decimalIn(text, field);
    if (digits > Number.MAX_SAFE_INTEGER) {
      throw new TapeError(`\`${field}\` size ${shown(text)} has too many digits for a lot`);
    }
    this.sizeDecimals = Math.max(this.sizeDecimals, scale);
    return lots(1);
  }
  volume(text: string | undefined, field: string): Lots {
    this.volumeDecimals = Math.max(this.volumeDecimals, decimalIn(text, field).scale);
    return lots(1);
  }

  /**
   * Null if no price was read. With volumes only, the lot is coarse enough that tick × lot has at
   * most the collateral's 6 decimals, the limit of a market; volumes are rounded. Sizes of orders
   * and trades stay exact. Throws `TapeError` for marks alone, and for prices without common tick.
   */
  found(): { readonly tickSize: string; readonly lotSize: string } | null {
    if (this.finest === '' && this.hasMarks) {
      throw new TapeError(
        'the files have marks or indices alone, which state neither tick nor lot: import trades, books or klines first, or give --symbol, --tick and --lot',
      );
    }
    if (this.finest === '') return null;
    const tickSize = stepText(this.priceDecimals);
    if (this.highestPrice / Number(tickSize) > MAX_PRICE_TICKS + 0.5) {
      throw new TapeError(
        `the price ${this.highest} is beyond 2^31 − 1 ticks of ${tickSize}, which the price ${this.finest} needs; correct it, or give --symbol, --tick and --lot`,
      );
    }
    const listable = Math.min(this.volumeDecimals, Math.max(0, 6 - this.priceDecimals));
    const lotDecimals = this.sizeDecimals < 0 ? listable : this.sizeDecimals;
    return { tickSize, lotSize: stepText(lotDecimals) };
  }
}

function stepText(decimals: number): string {
  return decimals === 0 ? '1' : `0.${'0'.repeat(decimals - 1)}1`;
}

/** Why a text is no decimal number; null for one, and for a field that is missing. */
function numberFault(text: string | undefined): string | null {
  if (text === undefined || /^-?[0-9]+(?:\.[0-9]+)?$/.test(plain(text))) return null;
  return text.trim() === '' ? 'is empty' : 'is not a number, such as 1234.5';
}

function decimalIn(text: string | undefined, field: string): Decimal {
  const value = text === undefined ? null : parseDecimal(plain(text));
  if (value === null || value.digits < 0n) {
    throw new TapeError(`\`${field}\` ${shown(text)} is not a decimal number from 0`);
  }
  return value;
}

function mustDecimal(text: string, what: string): Decimal {
  const value = parseDecimal(text);
  if (value === null || value.digits <= 0n) {
    throw new TapeError(`a ${what} of '${text}' is not a positive decimal`);
  }
  return value;
}

/**
 * Normalises float output: `1.5e-7` without exponent, `0.30000000000000004` as 0.3; other text is
 * unchanged.
 */
function plain(text: string): string {
  return written(text.length < 17 ? text : withoutNoise(text));
}

/**
 * A double has 15 significant digits. Further digits are rounding noise if rounding to 15 makes the
 * text much shorter.
 */
function withoutNoise(text: string): string {
  if (!/^[0-9]+\.[0-9]+(?:e-[0-9]+)?$/.test(text)) return text;
  const digitsOf = (number: string): number =>
    number.replace(/e.*/, '').replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length;
  const rounded = String(Number(Number(text).toPrecision(15)));
  return digitsOf(text) >= 16 && digitsOf(rounded) <= 12 ? rounded : text;
}

function written(text: string): string {
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?[eE]([+-]?[0-9]{1,2})$/.exec(text);
  if (match === null) return text;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return `${sign}${digits}${'0'.repeat(point - digits.length)}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

export type TimeUnit = 'auto' | 's' | 'ms' | 'us' | 'ns' | 'iso';

const MICROSECONDS: Readonly<Record<'s' | 'ms' | 'us', number>> = { s: 1e6, ms: 1e3, us: 1 };
/** 2^53 µs is the year 2255. */
const LAST_US = Number.MAX_SAFE_INTEGER;

/** No market data are older: times of a day, or another unit, are not taken for seconds. */
export const FIRST_AUTO_US = 315_532_800 * 1e6;

/**
 * A time since 1970 as microseconds. `auto` derives the unit from the number of digits; dates have
 * dashes.
 */
export function timeOf(text: string | undefined, field: string, unit: TimeUnit = 'auto'): TimeUs {
  const us = text === undefined ? null : unit === 'iso' ? dateUs(text) : epochUs(text, unit);
  if (us === null || us < 0 || us > LAST_US) {
    throw new TapeError(
      `\`${field}\` ${shown(text)} is not a time from 1970 to 2255${unit === 'auto' ? '' : ` in ${unit}`}: write it as 2024-01-31 13:00:00 or as a number since 1970`,
    );
  }
  if (unit === 'auto' && us < FIRST_AUTO_US && !text?.includes('-')) {
    throw new TapeError(
      `\`${field}\` ${shown(text)} is before 1980 in the unit that its digits suggest; give the unit`,
    );
  }
  return timeUs(us);
}

/**
 * The first microsecond at which a time has come: `timeOf` cuts a finer time, and a row that is
 * known from then must not be known before.
 */
export function timeOfCeil(text: string | undefined, field: string, unit?: TimeUnit): TimeUs {
  const cut = timeOf(text, field, unit);
  return isFiner(text ?? '', unit ?? 'auto') ? timeUs(cut + 1) : cut;
}

/** Whether a time has digits other than 0 beyond the microsecond. */
function isFiner(text: string, unit: TimeUnit): boolean {
  const match = EPOCH.exec(text);
  if (match === null || unit === 'iso') return Number(DATE.exec(text.trim())?.[7]?.slice(6)) > 0;
  const [, whole = '', fraction = ''] = match;
  const known = unit === 'auto' ? unitOf(whole.length) : unit;
  if (known === 'ns') return Number(whole.slice(-3)) > 0 || Number(fraction) > 0;
  return Number(fraction.slice(String(MICROSECONDS[known]).length - 1)) > 0;
}

/** Digits with an optional fraction. */
const EPOCH = /^([0-9]{1,20})(?:\.([0-9]{1,12}))?$/;

function epochUs(text: string, unit: Exclude<TimeUnit, 'iso'>): number | null {
  const match = EPOCH.exec(text);
  // An ISO instant is accepted in every unit, because typed tables have them.
  if (match === null)
    return unit === 'auto' || /T.*(?:Z|[+-][0-9]{2}:?[0-9]{2})$/.test(text) ? dateUs(text) : null;
  const [, whole = '', fraction = ''] = match;
  const known = unit === 'auto' ? unitOf(whole.length) : unit;
  if (known === 'ns') return Number(BigInt(whole) / 1000n);
  const scale = MICROSECONDS[known];
  const places = String(scale).length - 1;
  return Number(whole) * scale + Number(fraction.padEnd(places, '0').slice(0, places) || '0');
}

/** The unit that the digits of a valid time suggest. */
export function unitWritten(text: string): TimeUnit {
  let digits = 0;
  while (isDigit(text.charCodeAt(digits))) digits += 1;
  const isNumber = digits === text.length || text.charCodeAt(digits) === 46;
  return isNumber ? unitOf(digits) : 'iso';
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function unitOf(digits: number): 's' | 'ms' | 'us' | 'ns' {
  if (digits <= 11) return 's';
  if (digits <= 14) return 'ms';
  return digits <= 17 ? 'us' : 'ns';
}

const DATE =
  /^([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?)?(?:Z|([+-])([0-9]{2}):?([0-9]{2}))?$/;
const MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A date with or without a time of day; in UTC unless it states an offset. */
function dateUs(text: string): number | null {
  const match = DATE.exec(text.trim());
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((part) => Number((part as string | undefined) ?? '0'));
  if (year === undefined || month === undefined || day === undefined) return null;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const length = (MONTHS[month - 1] ?? 0) + (month === 2 && leap ? 1 : 0);
  if (day < 1 || day > length) return null;
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return null;
  const seconds =
    daysSince1970(year, month, day) * 86_400 +
    (hour ?? 0) * 3600 +
    (minute ?? 0) * 60 +
    (second ?? 0);
  const fraction = (match[7] ?? '').padEnd(6, '0').slice(0, 6);
  const [hours, minutes] = match
    .slice(9, 11)
    .map((part) => Number((part as string | undefined) ?? '0'));
  if ((hours ?? 0) > 23 || (minutes ?? 0) > 59) return null;
  const offset = ((hours ?? 0) * 60 + (minutes ?? 0)) * (match[8] === '-' ? -60 : 60);
  return (seconds - offset) * 1e6 + Number(fraction);
}

/** Civil date to days (Hinnant, "chrono-compatible low-level date algorithms"). */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const ofEra = shifted - era * 400;
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const days = ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear;
  return era * 146_097 + days - 719_468;
}

/** A rate in decimal text as whole 1e-9, rounded half up. */
export function rateOf(text: string | undefined, field: string): Ppb {
  const value = text === undefined ? null : parseDecimal(plain(text));
  const rate = value === null ? Infinity : Number(stepsHalfUp(value, { digits: 1n, scale: 9 }));
  if (Math.abs(rate) > 1e9) {
    throw new TapeError(`\`${field}\` rate ${shown(text)} is not between −1 and 1`);
  }
  return ppb(rate + 0);
}

/** A whole number from 0 to 2^53 − 1. */
export function integerOf(text: string | undefined, field: string): number {
  const value = text !== undefined && /^[0-9]{1,16}$/.test(text) ? Number(text) : -1;
  if (value < 0 || value > Number.MAX_SAFE_INTEGER) {
    throw new TapeError(`\`${field}\` is ${shown(text)}, not an integer from 0 to 2^53 − 1`);
  }
  return value;
}

export function booleanOf(text: string | undefined, field: string): boolean {
  const lower = text?.toLowerCase();
  if (lower === 'true' || lower === '1') return true;
  if (lower === 'false' || lower === '0') return false;
  throw new TapeError(`\`${field}\` is ${shown(text)}, not true or false`);
}

export function shown(text: string | undefined): string {
  return text === undefined ? 'missing' : JSON.stringify(text).slice(0, 60);
}

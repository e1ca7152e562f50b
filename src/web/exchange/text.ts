/** Numbers of the screen: decimals of the market, unknown as –. */
import { grouped } from '../../design/number-text.ts';
import { fixed, largeText } from '../exact-text.ts';
import { decimalsOf } from './book-state.ts';
import type { Market } from './markets.ts';

export const UNKNOWN = '–';

export function priceText(price: string | number | null | undefined, market?: Market): string {
  if (price === null || price === undefined) return UNKNOWN;
  const decimals = decimalsOf(market?.tickSize ?? '0.01');
  return grouped(typeof price === 'number' ? price.toFixed(decimals) : fixed(price, decimals));
}

export function sizeText(size: string | number | null | undefined, market?: Market): string {
  if (size === null || size === undefined) return UNKNOWN;
  const decimals = decimalsOf(market?.lotSize ?? '0.0001');
  return grouped(typeof size === 'number' ? size.toFixed(decimals) : fixed(size, decimals));
}

/** A size in about `room` characters: exact, or with fewer decimals, or with K, M or B. */
export function sizeIn(room: number, size: string | number, market?: Market): string {
  const exact = sizeText(size, market);
  if (exact.length <= room) return exact;
  return Number(size) >= 1000
    ? largeText(Number(size))
    : Number(size).toFixed(Math.max(0, room - 4));
}

/** mm:ss, or hh:mm:ss. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${two(hours)}:${rest}` : rest;
}

/** A date and a time in UTC. */
export const timeText = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

export const clockText = (ms: number): string => new Date(ms).toISOString().slice(11, 19);

const MAX_INDEX = 4_294_967_295;

/** Index of a subaccount, of 32 bits; null if the text is none. */
export function indexOf(text: string): number | null {
  const digits = text.trim();
  const isIndex = /^\d{1,10}$/.test(digits) && Number(digits) <= MAX_INDEX;
  return isIndex ? Number(digits) : null;
}

export const shortAddress = (address: string): string =>
  `${address.slice(0, 6)}…${address.slice(-4)}`;

/** Units of size and price: BTC and USD of `BTC-USD-PERP`. */
export function unitsOf(symbol: string): { readonly base: string; readonly quote: string } {
  const parts = symbol.replace(/-PERP$/i, '').split('-');
  const quote = parts.length > 1 ? (parts.pop() ?? '') : '';
  return { base: parts.join('-'), quote };
}

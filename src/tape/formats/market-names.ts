/** Markets that the records of a recording name, of which one is read. */
import { TapeError } from '../record.ts';

/** Names listed in an error. */
const MAX_SHOWN = 10;
const MAX_NAMES = 10_000;

export class MarketNames {
  /** The market that is read, as the records name it; null before it is named. */
  selected: string | null = null;
  private readonly asked: string | null;
  /** The name of that market in the file that is read. */
  private inFile: string | null = null;
  private readonly names = new Set<string>();

  /** `asked`: the market to read; null takes the first one named. */
  constructor(asked: string | null) {
    this.asked = asked;
  }

  beginFile(): void {
    this.inFile = null;
  }

  /**
   * Whether a record with this name is of the market that is read. `BTC/USDT` equals BTCUSDT, but
   * in one file they are two markets. Throws `TapeError` for the second one.
   */
  selects(name: string): boolean {
    if (name === this.inFile) return true;
    if (this.names.size < MAX_NAMES) this.names.add(name);
    const wanted = this.asked ?? this.selected;
    if (wanted !== null && !isSameMarket(wanted, name)) return false;
    if (this.inFile !== null) {
      throw new TapeError(
        `the market ${name}, after ${this.inFile}: names that differ only in punctuation or case are one market; ` +
          'if they are two, import each from a file of its own into a dataset of its own',
      );
    }
    this.inFile = name;
    this.selected = name;
    return true;
  }

  /** Names other than that of the market. */
  get others(): readonly string[] {
    const { asked, selected } = this;
    const wanted = asked ?? selected ?? '';
    return [...this.names].filter((name) => !isSameMarket(wanted, name));
  }

  /** Throws `TapeError` if the records name markets, and not the one asked for. */
  mustHold(asked: string | null): void {
    const { others, selected } = this;
    if (asked !== null && selected === null && others.length > 0) {
      throw new TapeError(`the records are of ${listed(others)}, none is of ${asked}`);
    }
    if (asked === null && others.length > 0) {
      const all = listed([selected ?? '', ...others]);
      throw new TapeError(`the records are of ${all}; --symbol selects one market`);
    }
  }
}

/** `BTC/USDT`, `btc-usdt` and BTCUSDT are the same market. */
export function isSameMarket(a: string, b: string): boolean {
  return a === b || bareName(a) === bareName(b);
}

function bareName(symbol: string): string {
  return specSymbol(symbol)
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toUpperCase();
}

/**
 * The name in a market's spec, which is ASCII: a character outside of ASCII becomes its code point
 * (`龙USDT` is `u9f99USDT`), so that such markets keep names of their own.
 */
export function specSymbol(symbol: string): string {
  return symbol
    .replaceAll(/[^\0-\x7f]/gu, (character) => `u${codePoint(character)}`)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-');
}

const codePoint = (character: string): string =>
  (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_SHOWN).join(', ');
  const more = names.length - MAX_SHOWN;
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}

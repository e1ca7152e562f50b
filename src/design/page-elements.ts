/**
 * Data in the page of the time machine: what it shows first, the journal, and the state before its
 * first command if that is not the beginning. The command and the page itself write them.
 */

/** Base64 characters of one element; a multiple of four. */
const PIECE = 4 * 1024 * 1024;

export interface Bookmark {
  readonly seq: number;
  readonly note: string;
}

/** A violated check of the fuzzer, and the command after which it is violated. */
export interface FoundFailure {
  readonly seq: number;
  readonly text: string;
}

export interface About {
  readonly name: string;
  /** First instant to show; null: the end. */
  readonly seq: number | null;
  /** True if accounts, ids and keys were replaced. */
  readonly masked: boolean;
  readonly bookmarks: readonly Bookmark[];
  /** Expressions. */
  readonly breakpoints: readonly string[];
  /** Null unless the page is of a failure. */
  readonly failure: FoundFailure | null;
}

export const NO_ABOUT: About = {
  name: '',
  seq: null,
  masked: false,
  bookmarks: [],
  breakpoints: [],
  failure: null,
};

/** Elements of the page; journal and state are base64 of gzip, `base` empty for none. */
export function* dataElements(about: About, journal: string, base: string): Iterable<string> {
  const json = JSON.stringify(about).replace(/</g, '\\u003c');
  yield `<script type="application/json" id="about">${json}</script>\n`;
  yield* pieces('base', base);
  yield* pieces('journal', journal);
}

function* pieces(name: string, text: string): Iterable<string> {
  for (let at = 0; at < text.length; at += PIECE) {
    yield `<script type="text/plain" class="${name}">${text.slice(at, at + PIECE)}</script>\n`;
  }
}

export function escapeText(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}

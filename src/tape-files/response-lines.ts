/**
 * HTTP responses (book snapshots) from a recorder's companion files, merged into the messages of a
 * feed. Order: by time of receipt, each before the first message received later.
 */
import { rawLine } from '../tape/formats/raw-line.ts';

export class ResponseLines {
  /** Number of lines taken; a later pass over more files starts after them. */
  taken: number;
  private readonly lines: AsyncGenerator<string>;
  private next: { readonly text: string; readonly atUs: number } | null = null;
  private ended = false;
  private skip: number;

  /** @param taken of an earlier pass */
  constructor(lines: AsyncGenerator<string>, taken: number) {
    this.lines = lines;
    this.taken = taken;
    this.skip = taken;
  }

  /** Next response if received before the message on this line; else null. Throws `TapeError`. */
  async before(message: string): Promise<string | null> {
    if (this.ended) return null;
    const next = (this.next ??= await this.read());
    if (next === null) return null;
    const messageUs = rawLine(message)?.localUs ?? null;
    if (messageUs === null || messageUs < next.atUs) return null;
    this.next = null;
    this.taken += 1;
    return next.text;
  }

  private async read(): Promise<{ readonly text: string; readonly atUs: number } | null> {
    for (;;) {
      const step = await this.lines.next();
      if (step.done === true) {
        this.ended = true;
        return null;
      }
      const text = step.value;
      const raw = text === '' ? null : rawLine(text);
      if (raw === null) continue;
      if (this.skip > 0) this.skip -= 1;
      else return { text, atUs: raw.localUs ?? 0 };
    }
  }
}

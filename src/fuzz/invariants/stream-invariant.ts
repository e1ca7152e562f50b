/**
 * Invariants of what an exchange says over time: they follow every event from the first command on, and speak when something
 * does not follow from what was said before. Now and then `compare` holds what they have added up against what the exchange answers.
 */
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';

export abstract class StreamInvariant {
  abstract readonly name: string;
  /** The rules that it stands for. */
  abstract readonly rule: string;
  /** What must hold, in a sentence. */
  abstract readonly says: string;
  /** What was found first; null while all is well. */
  found: string | null = null;

  abstract see(event: EngineEvent): void;

  /** After the command's last event. */
  settle(_engine: Engine, _command: Command): void {
    // Most have nothing to do here.
  }

  /** What was added up against what the exchange answers; as dear as a full scan. */
  compare(_engine: Engine): void {
    // Most have nothing to compare.
  }

  protected fail(detail: string): void {
    this.found ??= detail;
  }
}

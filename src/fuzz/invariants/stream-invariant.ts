/**
 * Invariants over the event stream, from the first command on. `compare` periodically compares the
 * accumulated state with the exchange.
 */
import type { Command } from '../../engine/commands.ts';
import type { EngineEvent } from '../../engine/events.ts';
import type { Engine } from '../../engine/read/views.ts';

export abstract class StreamInvariant {
  abstract readonly name: string;
  /** The rules that it checks. */
  abstract readonly rule: string;
  /** The invariant as a sentence. */
  abstract readonly says: string;
  /** First violation; null if there is none. */
  found: string | null = null;

  abstract see(event: EngineEvent): void;

  /** Called after the command's last event. */
  settle(_engine: Engine, _command: Command): void {
    // Optional.
  }

  /** Compares the accumulated state with the exchange; costs as much as a full scan. */
  compare(_engine: Engine): void {
    // Optional.
  }

  protected fail(detail: string): void {
    this.found ??= detail;
  }
}

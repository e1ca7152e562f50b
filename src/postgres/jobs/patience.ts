/**
 * Repeats a statement while the database is away or its disk is full. Every statement of campaigns
 * may run twice, because an answer may be lost after the commit.
 */
const FIRST_MS = 100;
const MOST_MS = 5000;

/** Classes of SQLSTATE: connection, resources, intervention of an operator, deadlock. */
const PASSING = /^(?:08|53|57|40|25006)/;

export function isPassing(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  // The client's own errors, such as a connection that ended, have no code.
  if (code === undefined) return (error as Error).constructor === Error;
  if (code === 'database') return cause !== undefined && isPassing(cause);
  if (typeof code !== 'string') return true;
  return /^E[A-Z]{3,}/.test(code) || PASSING.test(code);
}

/** Classes of SQLSTATE: data, constraints, limits of the program. */
const OF_DATA = /^(?:22|23|54)/;

/** Whether the values of the statement are at fault, so that it fails on every connection. */
export function isOfData({ cause }: Error): boolean {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' && OF_DATA.test(code);
}

export interface Patience {
  /** Called when a statement fails and is repeated. */
  readonly onTrouble: (message: string) => void;
  /** Polled: true gives up. */
  readonly stopped: () => boolean;
}

export async function patiently<T>(
  run: () => Promise<T>,
  { onTrouble, stopped }: Patience,
): Promise<T> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(MOST_MS, 2 * waitMs)) {
    try {
      return await run();
    } catch (error) {
      if (!isPassing(error) || stopped()) throw error;
      onTrouble((error as Error).message);
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Folder of what commands keep for the user between runs: the ledger of trials, checked types. */
import { homedir } from 'node:os';
import { join } from 'node:path';

/** `ORRERY_STATE`, or `orrery` in the folder of the XDG base directories for state. */
export function stateFolder(
  environment: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): string {
  const { ORRERY_STATE: own, XDG_STATE_HOME: base } = environment;
  if (own !== undefined && own !== '') return own;
  return join(base === undefined || base === '' ? join(home, '.local', 'state') : base, 'orrery');
}

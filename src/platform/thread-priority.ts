import { constants, setPriority } from 'node:os';
import { platform } from 'node:process';

/**
 * Lowest priority for a thread beside a served exchange, which comes first where cores are few.
 * Only on Linux, where a priority belongs to a thread and not to the process.
 */
export function lowerThreadPriority(): void {
  if (platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
}

/**
 * Log lines for operators: each has a stable event, a level and a sentence. As text, one line with
 * the sentence; as JSON, one object with the same fields as the lines of requests.
 */

export type LogLevel = 'info' | 'warn' | 'error';

/** Every event, with its level. `request` and `feed_failed` are lines of the request log. */
export const LOG_EVENTS = {
  exchange_created: 'info',
  exchange_recovered: 'info',
  listening: 'info',
  metrics_listening: 'info',
  metrics_port_taken: 'warn',
  signatures_not_verified: 'warn',
  durability_relaxed: 'warn',
  secret_random: 'warn',
  previous_secret_absent: 'info',
  secrets_read: 'info',
  secrets_kept: 'error',
  writes_stopped: 'error',
  writes_resumed: 'info',
  writes_delayed: 'warn',
  reads_stopped: 'error',
  reads_delayed: 'warn',
  reads_resumed: 'info',
  lease_not_renewed: 'warn',
  lease_renewed: 'info',
  leader_awaited: 'info',
  lead_taken: 'info',
  lead_lost: 'error',
  snapshot_failed: 'error',
  clock_behind: 'warn',
  clock_caught_up: 'info',
  market_frozen: 'warn',
  market_thawed: 'info',
  shortfall_began: 'warn',
  shortfall_paid: 'info',
  replay_ended: 'info',
  replay_stopped: 'error',
  strategy_failed: 'error',
  stopping: 'info',
  stopped: 'info',
  request: 'info',
  feed_failed: 'error',
} as const satisfies Record<string, LogLevel>;
export type LogEvent = keyof typeof LOG_EVENTS;

export type OperatorLog = (
  event: LogEvent,
  sentence: string,
  fields?: Readonly<Record<string, string | number | boolean>>,
) => void;

export type LogFormat = 'text' | 'json';

/** Events that the text format leaves out, since a line on stdout or the signal shows them. */
const JSON_ONLY: readonly LogEvent[] = ['listening', 'stopping', 'stopped'];

/** Warnings begin with the word, as text. */
export function operatorLog(format: LogFormat, write: (line: string) => void): OperatorLog {
  return (event, sentence, fields) => {
    const level = LOG_EVENTS[event];
    if (format === 'json') {
      const time = new Date().toISOString();
      write(JSON.stringify({ level, time, event, msg: sentence, ...fields }));
    } else if (!JSON_ONLY.includes(event)) {
      write(`orrery: ${WARNINGS.includes(event) ? 'WARNING: ' : ''}${sentence}`);
    }
  };
}

/** Events that an operator should act on. */
const WARNINGS: readonly LogEvent[] = [
  'signatures_not_verified',
  'durability_relaxed',
  'secret_random',
  'clock_behind',
  'shortfall_began',
  'metrics_port_taken',
];

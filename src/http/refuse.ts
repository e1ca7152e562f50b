/** Replies on connections without a request of the server's. Then the connection is closed. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorReply } from '../contract/messages.ts';

/** Headers beside those of every refusal. */
export type RefusalHeaders = Readonly<Record<string, string>>;

/** Keeps a connection that is not read any more, so that its client cannot repeat at once. */
export function refuseLater(
  stream: Duplex,
  reply: ErrorReply,
  delayMs: number,
  headers: RefusalHeaders = {},
): void {
  if (delayMs === 0) {
    refuse(stream, reply, headers);
    return;
  }
  stream.pause();
  stream.on('error', () => {
    stream.destroy();
  });
  setTimeout(() => {
    refuse(stream, reply, headers);
  }, delayMs);
}

/** Replies on a raw connection and closes it. */
export function refuse(
  stream: Duplex,
  { status, message }: ErrorReply,
  headers: RefusalHeaders = {},
): void {
  const body = JSON.stringify(message);
  // The client may have disconnected; ignored.
  stream.on('error', () => {
    stream.destroy();
  });
  stream.end(
    [
      `HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`,
      'content-type: text/plain; charset=utf-8',
      `content-length: ${String(Buffer.byteLength(body))}`,
      ...(status === 503 || status === 429 ? ['retry-after: 1'] : []),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      'connection: close',
      '',
      body,
    ].join('\r\n'),
    () => {
      stream.destroy();
    },
  );
}

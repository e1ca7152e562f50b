/** Replies on connections without a request of the server's. Then the connection is closed. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorReply } from '../contract/messages.ts';

/** Keeps a connection that is not read any more, so that its client cannot repeat at once. */
export function refuseLater(stream: Duplex, reply: ErrorReply, delayMs: number): void {
  if (delayMs === 0) {
    refuse(stream, reply);
    return;
  }
  stream.pause();
  stream.on('error', () => {
    stream.destroy();
  });
  setTimeout(() => {
    refuse(stream, reply);
  }, delayMs);
}

/** Replies on a raw connection and closes it. */
export function refuse(stream: Duplex, { status, message }: ErrorReply): void {
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
      'connection: close',
      '',
      body,
    ].join('\r\n'),
    () => {
      stream.destroy();
    },
  );
}

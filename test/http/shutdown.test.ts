/** A server that stops: requests in progress are answered, and their connections are closed. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Served } from './served.ts';

const PART =
  'POST /auth HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{';

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (data: Buffer) => {
    text += data.toString();
  });
  await once(socket, 'close');
  return text;
}

test('a connection with a request in progress closes after its answer', async () => {
  const served = await Served.start();
  const { port } = new URL(served.url);
  const socket = connect(Number(port), '127.0.0.1');
  const text = textOf(socket);
  const begun = once(served.app.server, 'request');
  socket.write(PART);
  await begun;
  const closed = served.remove();
  socket.write('}');
  expect(await text).toMatch(/^HTTP\/1.1 4\d\d /);
  await closed;
  // Without the closing of idle connections it waits for the keep-alive time, 65 s.
}, 20_000);

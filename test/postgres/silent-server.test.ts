/** A server that accepts connections and never answers. */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Session } from '../../src/postgres/session.ts';

test('a server that does not answer is named with the reason', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = `postgres://x@127.0.0.1:${String(port)}/db`;
  const session = new Session({ address, connectMs: 100, answerMs: 100 });
  try {
    await expect(session.query('one', 'select 1')).rejects.toThrow(
      `postgres://127.0.0.1:${String(port)}/db: no answer to the connection in time`,
    );
  } finally {
    await session.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

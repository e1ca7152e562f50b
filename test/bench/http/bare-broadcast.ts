/**
 * The baseline of the fan-out bench: `ws` alone. A message of the driver goes to all other clients,
 * as in its README.
 */
import { WebSocket, WebSocketServer } from 'ws';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, path: '/ws' });
server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    for (const client of server.clients) {
      if (client !== socket && client.readyState === WebSocket.OPEN) {
        client.send(data, { binary: false });
      }
    }
  });
});
server.on('listening', () => {
  const { port } = server.address() as { port: number };
  console.log(`listens on http://127.0.0.1:${String(port)}`);
});

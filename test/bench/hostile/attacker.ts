/** Process of one attack: `attacker.ts <name> <url> <connections>`, with logins on stdin. */
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { CLIENTS, type Attack, type Login } from './attacks.ts';

const [, , name = '', url = '', count = '64'] = process.argv;
const { hostname, port } = new URL(url);
const logins = JSON.parse(readFileSync(0, 'utf8')) as Login[];
const attack = CLIENTS[name] as Attack;
const UPGRADE =
  'GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
/** Delay of a new connection after the server closed one. */
const AGAIN_MS = 20;

function open(index: number): void {
  const login = logins[index % logins.length] as Login;
  let round = 0;
  const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const send = (): void => {
    if (socket.writableLength < 4_000_000) socket.write(attack.bytes(login, round++));
  };
  let timer: NodeJS.Timeout | undefined;
  let isReady = attack.feed !== true;
  socket.on('connect', () => {
    if (name === 'slow headers') socket.write('GET /time HTTP/1.1\r\n');
    if (attack.feed === true) socket.write(UPGRADE);
    else send();
    if (attack.drops === true) socket.end().destroySoon();
    if (attack.deaf === true) socket.pause();
    if (attack.everyMs !== undefined && isReady) timer = setInterval(send, attack.everyMs);
  });
  socket.on('data', () => {
    if (!isReady) {
      isReady = true;
      if (attack.everyMs !== undefined) timer = setInterval(send, attack.everyMs);
    }
    if (attack.churn === true) socket.destroy();
    else if (attack.everyMs === undefined) send();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clearInterval(timer);
    setTimeout(
      () => {
        open(index);
      },
      attack.churn === true || attack.drops === true ? 0 : AGAIN_MS,
    );
  });
}

for (let i = 0; i < Number(count); i++) open(i);

/** A proxy that alters the replies of one path. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { PAGE_HEADERS } from '../../src/contract/endpoints.ts';

const OWN_HEADERS = ['host', 'connection', 'content-length'];

export async function changingProxy(
  target: string,
  path: string,
  change: (text: string) => string,
  changeHeaders: (response: ServerResponse) => void = () => undefined,
): Promise<{ readonly url: string; readonly stop: () => Promise<unknown> }> {
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = Object.entries(request.headers).flatMap(
        ([name, value]): [string, string][] =>
          typeof value === 'string' && !OWN_HEADERS.includes(name) ? [[name, value]] : [],
      );
      const body = chunks.length === 0 ? null : Buffer.concat(chunks);
      void fetch(target + request.url!, { method: request.method!, headers, body }).then(
        async (answer) => {
          const text = await answer.text();
          response.statusCode = answer.status;
          response.setHeader('content-type', answer.headers.get('content-type') ?? 'text/plain');
          for (const name of [PAGE_HEADERS.next, PAGE_HEADERS.keptSince]) {
            const value = answer.headers.get(name);
            if (value !== null) response.setHeader(name, value);
          }
          const changed = request.url!.startsWith(path) && answer.status === 200;
          if (changed) changeHeaders(response);
          response.end(changed ? change(text) : text);
        },
      );
    });
  });
  // Feeds pass unchanged.
  server.on('upgrade', (request, socket, head) => {
    const { hostname, port } = new URL(target);
    const upstream = connect(Number(port), hostname, () => {
      const headers = request.rawHeaders.reduce(
        (text, part, i) => text + part + (i % 2 === 0 ? ': ' : '\r\n'),
        '',
      );
      upstream.write(`GET ${request.url!} HTTP/1.1\r\n${headers}\r\n`);
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    for (const end of [socket, upstream]) {
      end.on('error', () => {
        socket.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

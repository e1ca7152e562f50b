/** A target that is not a server of this API. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { InputError } from '../../src/cli/cli-support.ts';
import { driveTarget } from '../../src/cli/fuzz/drive-target.ts';

const progress = { update: () => undefined, stop: () => undefined };
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

test.each([
  '{}',
  '{"a": }',
  'null',
  '[]',
  '{"time":"1"}',
  '{"time":-1}',
  '{"time":1e300}',
  'hello',
])('a server that answers the time with %s is named with its answer', async (answer) => {
  server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(answer);
  });
  const { port } = await new Promise<AddressInfo>((resolve) => {
    const listening = server!.listen(0, '127.0.0.1', () => {
      resolve(listening.address() as AddressInfo);
    });
  });
  const url = `http://127.0.0.1:${String(port)}`;
  const limits = { seed: 'none', profile: 'swarm', commands: 10, seconds: 1 } as const;
  const options = { url, simToken: 'dev', configPath: null, quiet: true, ...limits };
  const driving = driveTarget(options, progress);
  await expect(driving).rejects.toThrow(InputError);
  await expect(driving).rejects.toThrow(`${url}: GET /time responds with `);
});

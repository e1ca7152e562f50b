/** Browsers: CORS, security headers, and the documentation page. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Validator } from '@seriousme/openapi-schema-validator';
import asyncApiSchemas from '@asyncapi/specs';
import { Ajv } from 'ajv';
import { ENDPOINT_IDS } from '../../src/contract/endpoints.ts';
import { openBrowser } from '../browser/chromium.ts';
import { Served } from './served.ts';

type Specification = Exclude<Parameters<Validator['validate']>[0], string>;

const ORIGIN = 'https://app.example';
const preflight = (served: Served, origin: string) =>
  served.send('OPTIONS', '/account/order', undefined, {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  });

/** Status line and headers of the answer to these bytes. */
function raw(served: Served, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1', () => {
      socket.write(bytes);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => {
      resolve(text.split('\r\n\r\n')[0] ?? '');
    });
    socket.on('error', reject);
  });
}

const allowedIn = (head: string): string | null =>
  /^access-control-allow-origin: (.*)$/m.exec(head)?.[1]?.trim() ?? null;

describe('origins', () => {
  test('no origin may call by default', async () => {
    const served = await Served.start();
    const answer = await served.send('GET', '/time', undefined, { origin: ORIGIN });
    expect(answer.headers.get('access-control-allow-origin')).toBe(null);
    await served.remove();
  });

  test('listed origins may call and read the headers of lists', async () => {
    const served = await Served.start({ browsers: { origins: [ORIGIN, 'https://b.example'] } });
    const asked = await preflight(served, ORIGIN);
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(asked.headers.get('access-control-allow-methods')).toContain('DELETE');
    expect(asked.headers.get('access-control-allow-headers')).toContain('authorization');
    const answer = await served.send('GET', '/markets', undefined, { origin: ORIGIN });
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-next-cursor');
    const other = await preflight(served, 'https://evil.example');
    expect(other.headers.get('access-control-allow-origin')).not.toBe('https://evil.example');
    await served.remove();
  });

  test('their pages can read why a request was refused before its body', async () => {
    const origins = [ORIGIN, 'https://b.example'];
    const served = await Served.start({ browsers: { origins }, requestsPerSecond: 2 });
    const found = new Map<number, Headers>();
    const asked = async (path: string): Promise<void> => {
      const { status, headers } = await served.send('GET', path, undefined, { origin: ORIGIN });
      found.set(status, headers);
    };
    await asked('/account/balance?account=0x1');
    for (let i = 0; i < 3; i++) await asked('/time');
    for (const status of [401, 200, 429]) {
      const headers = found.get(status);
      expect(headers?.get('access-control-allow-origin')).toBe(ORIGIN);
      expect(headers?.get('access-control-expose-headers')).toContain('retry-after');
      expect(headers?.get('vary')).toBe('Origin');
    }
    const evil = { origin: 'https://evil.example' };
    const other = await served.send('GET', '/account/balance', undefined, evil);
    expect(other.headers.get('access-control-allow-origin')).toBe(null);
    expect(other.headers.get('vary')).toBe('Origin');
    await served.remove();
  });

  const UNREAD = [
    ['malformed', 400, 'hello\r\n\r\n'],
    ['too large', 431, `GET /time HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['too slow', 408, 'GET /time HTTP/1.1\r\nHost: x\r\nX-A: '],
  ] as const;

  test.each([
    [['*'], '*'],
    [[ORIGIN], ORIGIN],
    [[ORIGIN, 'https://b.example'], null],
  ])('of %j, what is refused before its headers are read names %s', async (origins, allowed) => {
    const limits = { requestMs: 300 };
    const served = await Served.start({ browsers: { origins }, limits });
    for (const [, status, bytes] of UNREAD) {
      const head = await raw(served, bytes);
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${String(status)} `));
      expect(allowedIn(head)).toBe(allowed);
      expect(head.includes('access-control-expose-headers: ')).toBe(allowed !== null);
    }
    await served.remove();
  });

  test.each([
    [['*'], '*'],
    [[ORIGIN], ORIGIN],
    [[], null],
  ])('of %j, a connection beyond the limit names %s', async (origins, allowed) => {
    const served = await Served.start({ browsers: { origins }, limits: { connections: 0 } });
    const head = await raw(served, '');
    expect(head).toMatch(/^HTTP\/1.1 503 /);
    expect(allowedIn(head)).toBe(allowed);
    await served.remove();
  });

  test('a listed origin can read the refusal of a path that cannot be decoded', async () => {
    const origins = [ORIGIN, 'https://b.example'];
    const served = await Served.start({ browsers: { origins } });
    const { status, headers } = await served.send('GET', '/price/%ff', undefined, {
      origin: ORIGIN,
    });
    expect(status).toBe(400);
    expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(headers.get('vary')).toBe('Origin');
    await served.remove();
  });

  test('* allows any origin', async () => {
    const served = await Served.start({ browsers: { origins: ['*'] } });
    expect((await preflight(served, ORIGIN)).headers.get('access-control-allow-origin')).toBe('*');
    await served.remove();
  });
});

describe('security headers', () => {
  const policyOf = async (securityHeaders: 'pages' | 'all' | 'off') => {
    const served = await Served.start({ browsers: { securityHeaders } });
    const found = await Promise.all(
      ['/time', '/docs/'].map(async (path) => {
        const { headers } = await served.send('GET', path);
        expect(headers.get('x-powered-by')).toBe(null);
        return headers.get('x-frame-options');
      }),
    );
    const { headers } = await served.send('GET', '/time');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    await served.remove();
    return found;
  };

  test('are set on pages, on all replies, or left to a proxy', async () => {
    expect(await policyOf('pages')).toEqual([null, 'SAMEORIGIN']);
    expect(await policyOf('all')).toEqual(['SAMEORIGIN', 'SAMEORIGIN']);
    expect(await policyOf('off')).toEqual([null, null]);
  });
});

describe('documents', () => {
  let served: Served;
  beforeAll(async () => {
    served = await Served.start();
  });
  afterAll(() => served.remove());

  test('/openapi.json is valid OpenAPI 3.1 and has every endpoint', async () => {
    const { text, body } = await served.send('GET', '/openapi.json');
    const result = await new Validator().validate(JSON.parse(text) as Specification);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
    const { paths } = body as { paths: Record<string, Record<string, { operationId?: string }>> };
    const operations = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(operations).toEqual(expect.arrayContaining(ENDPOINT_IDS));
  });

  test('/asyncapi.json is valid AsyncAPI 3.0', async () => {
    const { body } = await served.send('GET', '/asyncapi.json');
    const schemas = asyncApiSchemas.schemas as unknown as Record<string, object>;
    const ajv = new Ajv({
      strict: false,
      validateFormats: false,
      meta: false,
      validateSchema: false,
    });
    const check = ajv.compile(schemas['3.0.0'] ?? {});
    expect(check(body), JSON.stringify(check.errors)).toBe(true);
  });

  test('/docs shows every endpoint in a browser, without an error or a blocked script', async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('requestfailed', (request) => problems.push(request.url()));
      await page.goto(`${served.url}/docs`);
      await page.waitForSelector('.opblock');
      const shown = await page.locator('.opblock-summary-path').allTextContents();
      const paths = shown.map((path) => path.replaceAll('\u200b', ''));
      expect(paths).toEqual(
        expect.arrayContaining(['/account/orders', '/price/{symbol}', '/time']),
      );
      expect(problems).toEqual([]);
      // Without it, a phone shows the page as wide as a desk.
      const viewport = page.locator('meta[name=viewport]');
      expect(await viewport.getAttribute('content')).toContain('width=device-width');
      // Uses "Try it out" on the page itself.
      await page.locator('#operations-time-getTime .opblock-summary').click();
      await page.locator('#operations-time-getTime .try-out__btn').click();
      await page.locator('#operations-time-getTime .execute').click();
      await page.waitForSelector('#operations-time-getTime .live-responses-table');
      const answer = await page
        .locator('#operations-time-getTime .live-responses-table')
        .innerText();
      expect(answer).toContain('"time":');
    } finally {
      await browser.close();
    }
  }, 60_000);
});

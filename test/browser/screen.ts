/** The screen in Chromium and a server of its own, for the tests of the screen. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { openBrowser, type OpenBrowser } from './chromium.ts';
import { ServerProcess } from './server-process.ts';

export const SYMBOL = 'BTC-USD-PERP';
const PICTURES = process.env['ORRERY_PICTURES'];

export const walletOf = (key: number): Wallet =>
  new Wallet(`0x${key.toString(16).padStart(64, '0')}`);
export const keyOf = (key: number): string => key.toString(16).padStart(64, '0');
export const TRADER = walletOf(1);
export const MAKER = walletOf(2);

/** One build for all files of a process. */
let building: Promise<number> | null = null;

function build(): Promise<number> {
  const file = new URL('../../.ci/web.mjs', import.meta.url).href;
  building ??= (import(file) as Promise<{ buildScreen: () => Promise<number> }>).then(
    ({ buildScreen }) => buildScreen(),
  );
  return building;
}

export const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });

export const fill = (page: Page, field: string, text: string): Promise<void> =>
  page.fill(`#ticket-${field}`, text);

export class Screen {
  readonly browser: OpenBrowser;
  readonly server: ServerProcess;
  /** Bytes of the page, gzip. */
  readonly size: number;

  private constructor(browser: OpenBrowser, server: ServerProcess, size: number) {
    this.browser = browser;
    this.server = server;
    this.size = size;
  }

  static async start(options: readonly string[] = []): Promise<Screen> {
    const size = await build();
    const [browser, server] = await Promise.all([openBrowser(), ServerProcess.start(options)]);
    return new Screen(browser, server, size);
  }

  /** Another server, shown by the same browser; `server.remove` ends it. */
  async also(options: readonly string[]): Promise<Screen> {
    return new Screen(this.browser, await ServerProcess.start(options), this.size);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.remove();
  }

  /** A page, and its errors and requests to other hosts. */
  async open(): Promise<{ page: Page; faults: string[] }> {
    const page = await this.browser.context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error')
        faults.push(`console: ${message.text()} ${message.location().url}`);
    });
    page.on('request', (request) => {
      const isOwn = request.url().startsWith(this.server.url) || /^blob:/.test(request.url());
      if (!isOwn) faults.push(`request: ${request.url()}`);
    });
    return { page, faults };
  }

  /** Opens the screen and waits for its data. */
  async show(page: Page): Promise<void> {
    await page.goto(`${this.server.url}/ui#market=${SYMBOL}`);
    await page.waitForSelector('.connection.ok');
    await expect.poll(() => page.locator('.facts').textContent()).toContain('60,000.0');
  }

  async picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return;
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(join(PICTURES, `${name}.png`), await page.screenshot({ fullPage: true }));
  }

  /** Logs in with the wallet of `addWallet`. */
  async logIn(page: Page): Promise<void> {
    await button(page, 'Log in').click();
    await button(page, 'Connect a wallet').click();
    await page.waitForSelector('dialog', { state: 'detached' });
    await expect.poll(() => page.locator('.market-bar').textContent()).toContain('0x7e5f');
  }

  /** Logs in with a private key, for its own account or for another one. */
  async logInWithKey(page: Page, key: number, account = ''): Promise<void> {
    await button(page, /^Log in/)
      .first()
      .click();
    await page.fill('#login-key', keyOf(key));
    await page.fill('#login-for', account);
    await button(page, 'Log in with the key').click();
    await page.waitForSelector('dialog', { state: 'detached' });
  }

  /** Sends what the ticket has, and waits until it is done. */
  async sendTicket(page: Page): Promise<void> {
    await page.locator('#submit').click();
    await this.done(page);
  }

  /** Waits until the newest request is done, and dismisses it. */
  async done(page: Page): Promise<void> {
    const newest = page.locator('.outbox li').first();
    await expect.poll(() => newest.textContent()).toContain('✓ done');
    await newest.getByRole('button').click();
  }

  openCount(page: Page): Promise<string | null> {
    return page.locator('#tab-orders small').textContent();
  }
}

/** A wallet extension whose keys stay in the test; `emitOfWallet` sends its events. */
export async function addWallet(page: Page, wallet: Wallet, chainId = 1337): Promise<void> {
  await page.exposeFunction('signByTest', async (method: string, text: string) => {
    if (method === 'personal_sign') {
      return wallet.signMessage(Buffer.from(text.slice(2), 'hex').toString('utf8'));
    }
    const { domain, types, message } = JSON.parse(text) as {
      domain: Record<string, unknown>;
      types: Record<string, { name: string; type: string }[]>;
      message: Record<string, unknown>;
    };
    const structs = Object.entries(types).filter(([name]) => name !== 'EIP712Domain');
    return wallet.signTypedData(domain, Object.fromEntries(structs), message);
  });
  await page.addInitScript(
    ([address, chain]) => {
      const asked: string[] = [];
      const listeners = new Map<string, (value: unknown) => void>();
      const state = {
        chain: `0x${Number(chain).toString(16)}`,
        refusesSwitch: false,
        accounts: [address],
        /** Methods that are not answered. */
        silent: [] as string[],
        /** Values thrown, by method. */
        thrown: {} as Record<string, unknown>,
      };
      Object.assign(globalThis, {
        askedOfWallet: asked,
        walletState: state,
        emitOfWallet: (event: string, value: unknown) => listeners.get(event)?.(value),
        ethereum: {
          request: async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
            asked.push(method);
            const { signByTest } = globalThis as unknown as {
              signByTest: (method: string, text: string) => Promise<string>;
            };
            if (state.silent.includes(method)) return new Promise(() => undefined);
            if (method in state.thrown) throw state.thrown[method];
            if (method === 'eth_requestAccounts') return state.accounts;
            if (method === 'eth_chainId') return state.chain;
            if (method === 'wallet_switchEthereumChain') {
              if (state.refusesSwitch) throw new Error('refused by the person');
              state.chain = (params[0] as { chainId: string }).chainId;
              return null;
            }
            return signByTest(method, String(params[method === 'personal_sign' ? 0 : 1]));
          },
          on: (event: string, listener: (value: unknown) => void) => {
            listeners.set(event, listener);
          },
        },
      });
    },
    [wallet.address, String(chainId)] as const,
  );
}

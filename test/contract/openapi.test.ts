/** The OpenAPI document: test vectors by two implementations, and words as the engine has them. */
import { TypedDataEncoder, verifyMessage, Wallet } from 'ethers';
import { expect, test } from 'vitest';
import { openApi } from '../../src/contract/openapi.ts';
import { SIGNING_VECTORS } from '../../src/contract/signing-guide.ts';
import * as words from '../../src/contract/words.ts';
import { MARKET_STATUSES } from '../../src/engine/config.ts';
import { END_REASONS } from '../../src/engine/refusals.ts';
import { EIP712_TYPES } from '../../src/gateway/eip712.ts';
import { DEFAULT_EXCHANGE_CONFIG } from '../../src/gateway/exchange-config.ts';
import { KeyWallet } from '../../src/wallet/key-wallet.ts';
import { TypedData } from '../../src/wallet/typed-data.ts';

const document = openApi({ title: 'Orrery', simulation: true, operator: true });

test('the test vectors are those of ethers and of this exchange', async () => {
  const { key, address, login, order } = SIGNING_VECTORS;
  const theirs = new Wallet(key);
  const ours = KeyWallet.ofHex(key);
  expect([theirs.address.toLowerCase(), ours?.address]).toEqual([address, address]);
  expect(await theirs.signMessage(login.signing_payload)).toBe(login.signature);
  expect(await ours?.signMessage(login.signing_payload)).toBe(login.signature);
  expect(verifyMessage(login.signing_payload, login.signature).toLowerCase()).toBe(address);
  const { Order, Flags, Attached } = EIP712_TYPES;
  const types = { Order: [...Order!], Flags: [...Flags!], Attached: [...Attached!] };
  const empty = { triggerPrice: '', price: '', clientId: '' };
  const absent = { clientId: '', triggerPrice: '', parentOrderId: '', period: 0 };
  const whole = { ...absent, trailingPercent: '', takeProfit: empty, stopLoss: empty };
  const message = { ...whole, ...order.message };
  expect(TypedDataEncoder.hash(order.domain, types, message)).toBe(order.digest);
  expect(await theirs.signTypedData(order.domain, types, message)).toBe(order.signature);
  expect(new TypedData(DEFAULT_EXCHANGE_CONFIG).digestOf('Order', order.message)).toBe(
    order.digest,
  );
});

test('words of the document are those of the engine', () => {
  expect(words.END_REASON_WORDS).toEqual(END_REASONS);
  expect(words.MARKET_STATUS_WORDS).toEqual(MARKET_STATUSES);
});

test('every component is used, and every reference has its component', () => {
  const text = JSON.stringify(document);
  const { schemas, responses } = document['components'] as Record<string, object>;
  const used = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, name]) => name));
  const names = [
    ...Object.keys(schemas ?? {}).map((name) => `schemas/${name}`),
    ...Object.keys(responses ?? {}).map((name) => `responses/${name}`),
  ];
  expect([...used].sort()).toEqual(names.sort());
});

test('integers of 64 bits, null bodies, and errors of every route', () => {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  const answer = (path: string, method: string): unknown =>
    paths[path]?.[method]?.responses['200']?.content?.['application/json']?.schema;
  expect(answer('/account/transfer', 'post')).toEqual({ type: 'null' });
  expect(answer('/sim/deposit', 'post')).toEqual({ type: 'null' });
  expect(answer('/account/positions', 'get')).toMatchObject({
    items: { $ref: '#/components/schemas/Position' },
  });
  expect(JSON.stringify(document)).toContain(
    '"nonce":{"type":"integer","minimum":0,"format":"int64"}',
  );
  for (const operations of Object.values(paths)) {
    for (const { responses } of Object.values(operations)) {
      expect(Object.keys(responses)).toEqual(
        expect.arrayContaining(['200', '400', '429', '500', '503']),
      );
    }
  }
  const login = Object.keys(paths['/auth']?.['post']?.responses ?? {});
  expect(login).toEqual(expect.arrayContaining(['401', '403']));
});

interface Operation {
  readonly responses: Record<string, { content?: Record<string, { schema: unknown }> }>;
}

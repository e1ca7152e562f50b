/** How to log in and to sign, with test vectors; a test computes them with two implementations. */

const PARAGRAPHS = [
  [
    'Bodies are JSON. Quantities, prices and money are decimal strings; nonces and times are',
    'integers of 64 bits. The body of an error is its text as a JSON string, with the type',
    'text/plain.',
  ],
  [
    '**Log in.** `GET /auth?account=0x…` returns a challenge. Sign `signing_payload` as a',
    'personal message (EIP-191) and send `{message, signature, server_signature}` to `POST',
    '/auth` within five minutes. Send its `token` as `Authorization: Bearer …`; it is valid for',
    'a day.',
  ],
  [
    '**Sign.** Orders, transfers, delegates, signers and margin are signed as typed data',
    '(EIP-712). `GET /config` returns `domain` and `types`. The struct is the request as sent,',
    'without `signatures`. An absent or null field is "" (text), 0 (number) or the struct of',
    'all such fields. A signature is 65 bytes: r, s and v (27 or 28), with the lower s, as 0x',
    'and hex digits.',
  ],
  [
    '`x-signing-vectors` has a key and its address, a login with its signature, and an order',
    'with its digest and signature.',
  ],
];
/** CommonMark: the description of the document. */
export const LOGIN_GUIDE = PARAGRAPHS.map((lines) => lines.join(' ')).join('\n\n');

const KEY = `0x${'11'.repeat(32)}`;
const ACCOUNT = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a';

/** Signatures are deterministic (RFC 6979). */
export const SIGNING_VECTORS = {
  key: KEY,
  address: ACCOUNT,
  login: {
    signing_payload: `{"account":"${ACCOUNT}","nonce":"3f0c6a3e-51a4-4f0f-9d0c-7a4c8a1a2b3c","timestamp":"2024-01-01T00:00:00.000Z"}`,
    signature:
      '0x1af2b33ed48b09e613613f69a19eacd190ae2bf9350097f98bc8f57bc5de429b1232fcf2d7d91b0089d331e74d20b0d09519c77ca8f4c2e02d3d403b3cdcaecb1b',
  },
  order: {
    domain: {
      name: 'Orrery',
      version: '1',
      chainId: 1337,
      verifyingContract: '0x0000000000000000000000000000000000000000',
    },
    message: {
      account: ACCOUNT,
      subaccountIndex: 0,
      symbol: 'BTC-USD-PERP',
      orderType: 'limit',
      price: '60000',
      quantity: '0.01',
      nonce: 1,
      expiresAt: 9_007_199_254_740_991,
      originator: '0x0000000000000000000000000000000000000000',
      originatorFee: 0,
      flags: { ioc: false, postOnly: true, reduceOnly: false },
    },
    digest: '0x04c175d8502051c21050a70d3cdc023c6217f21da53cc114a780221f834a0fd8',
    signature:
      '0x6a996cb933d693399ba814a1fc7ebfc202961545a57b43869288b8aad077c182164fd8b2c16331a7d8db3ebbad881c340f3284ff8a91dfc07dffa5b398d45adc1c',
  },
} as const;

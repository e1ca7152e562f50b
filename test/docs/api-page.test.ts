/** docs/API.md is made from the tables that the code runs on, so it cannot promise what is not there. `npx vitest run test/docs -u` writes it. */
import { expect, test } from 'vitest';
import {
  ENDPOINT_IDS,
  ENDPOINTS,
  PAGE_HEADERS,
  type Endpoint,
} from '../../src/contract/endpoints.ts';
import { FEEDS, MAX_SUBSCRIPTIONS } from '../../src/contract/feeds.ts';
import {
  badJson,
  internalError,
  limitRange,
  marginUnauthorized,
  marketNotFound,
  MESSAGES,
  storeUnavailable,
  unauthorizedQuery,
  type ErrorReply,
} from '../../src/contract/messages.ts';
import { refusalReply } from '../../src/gateway/refusal-reply.ts';
import { FAULTS } from '../../src/http/injected-faults.ts';
import { CLOSE_SLOW, CLOSE_TOKEN } from '../../src/http/feeds/connection.ts';
import { ALL_EXAMPLES } from './refusal-examples.ts';

const ACCESS = {
  public: 'anyone',
  token: 'a token',
  delegate: 'owner or delegate',
  owner: 'owner',
} as const;
const SIGNED = { none: '', owner: 'owner’s signers', delegate: 'owner’s signers, or a delegate' };

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly string[][]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

function fieldsOf({ request }: Endpoint): string {
  const { properties = {}, required = [] } = request as ObjectSchema;
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `${name}?`))
    .join(', ');
}

function endpoints(): string {
  return table(
    ['endpoint', 'method and path', 'what it does', 'who may call', 'signed by', 'fields'],
    ENDPOINT_IDS.map((id) => {
      const endpoint: Endpoint = ENDPOINTS[id];
      const { method, path, summary, access, signedBy } = endpoint;
      return [
        `\`${id}\``,
        `${method} \`${path}\``,
        summary,
        ACCESS[access],
        SIGNED[signedBy],
        fieldsOf(endpoint),
      ];
    }),
  );
}

function lists(): string {
  return table(
    ['list', 'entries of a page', 'at most'],
    ENDPOINT_IDS.flatMap((id) => {
      const { pages } = ENDPOINTS[id] as Endpoint;
      if (pages === undefined) return [];
      return [[`\`${id}\``, String(pages.limit ?? 'all there are'), String(pages.max)]];
    }),
  );
}

function feeds(): string {
  return table(
    ['source', 'update', 'who'],
    Object.entries(FEEDS).map(([source, { access, update }]) => [
      `\`${source}\``,
      `\`${update}\``,
      access === 'public' ? 'anyone' : 'owner or delegate',
    ]),
  );
}

function errors(): string {
  const replies: ErrorReply[] = [
    ...Object.values(MESSAGES),
    ...ALL_EXAMPLES.map(refusalReply),
    marketNotFound('<symbol>'),
    limitRange(5000, '<n>'),
    unauthorizedQuery('<address>'),
    marginUnauthorized('<address>'),
    badJson('<detail>'),
    storeUnavailable('<detail>'),
    internalError('<detail>'),
  ];
  const rows = new Map(
    replies.map(({ status, message }) => [
      `${String(status)} ${message}`,
      [String(status), message],
    ]),
  );
  return table(
    ['status', 'text'],
    [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cells]) => cells),
  );
}

test('docs/API.md says what the tables say', async () => {
  const page = `# The API

\`npx orrery serve\` speaks this over HTTP; \`InProcessClient\` speaks it without a network. Made from the endpoint table
(\`src/contract/endpoints.ts\`) and the message table (\`src/contract/messages.ts\`); a running server shows every schema at \`/docs\` and \`/openapi.json\`.

Bodies are JSON. Quantities, prices and money are decimal text; counters, nonces and times are integers, exact to 64 bits. An error's body is its text as a
JSON string, with \`text/plain\`. \`Authorization: Bearer <token>\` goes with everything that is not for anyone.

## Endpoints

${endpoints()}

## Lists

Endpoints with \`cursor\` among their fields answer lists, a page at a time: at most \`limit\` entries. If there are more, the header \`${PAGE_HEADERS.next}\` holds a cursor; the same
request with \`cursor\` set to it answers the next page. Pages begin with the newest, where entries have times; each page of candles ascends, and the next one is older. A cursor names the last entry
that was shown: what is new meanwhile stands before it, so nothing is shown twice or passed over. It holds good for as long as the entries are kept, also over a restart; \`limit\` may change from page to page, other
parameters may not. An order that changes moves to the front of its list; read again with \`updatedFrom\` to see what changed.

When a request reaches further back than anything is kept, the header \`${PAGE_HEADERS.keptSince}\` says since when (ms) entries are; older ones are not in the answer, nor in \`total\`.

${lists()}

## Login

1. \`GET /auth?account=<address>\` answers \`message\`, \`server_signature\` and \`signing_payload\`.
2. The wallet signs \`signing_payload\` (EIP-191).
3. \`POST /auth\` with \`message\`, \`signature\`, \`server_signature\` answers \`{token, claims}\`, good for 24 hours and while the wallet is a signer or a delegate.

Orders and account requests are EIP-712 typed data; \`GET /config\` publishes the domain and the types. What is absent is signed as \`""\`, \`0\` or the empty struct; decimals are
signed as they are sent. An order's id is the digest that was signed.

## Feeds

\`/ws\` speaks JSON-RPC 2.0; \`/asyncapi.json\` has every shape. Requests are carried out in the order in which they come; each answer has \`usIn\`, \`usOut\`, \`usDiff\` (microseconds at the server). An error's \`data.status\` is
what HTTP would answer, its \`message\` the same words.

| method | params | |
| --- | --- | --- |
| \`auth\` | \`bearer\` | what follows is the token's; answers its claims |
| \`subscribe\`, \`unsubscribe\` | \`source\` with \`symbols\` (public; \`[]\` is all), or \`account\` and \`subaccountIndices\` (private; \`[]\` is all, for the owner) | at most ${String(MAX_SUBSCRIPTIONS)} a connection |
| \`create\` | an order, or \`{type: "batchOrders", orders}\` | answers its records, once they are on disk |
| \`cancel\` | \`orderId\`, or \`clientId\` and \`account\`; or \`orderIds\`, \`clientIds\` | as over HTTP |

${feeds()}

A \`book\` begins with a snapshot; each delta names the sequence number before it and its own (quantity \`0\` removes a level), so a client sees a gap, and subscribes again. Nothing is told before it is on disk. \`price\` and \`summary\` of
all markets come batched, ten times a second at most; \`stats\` every five seconds.

| close code | |
| --- | --- |
| 1001 | the server ends |
| ${String(CLOSE_TOKEN)} | the token is none any more: run out, or its wallet is neither signer nor delegate |
| ${String(CLOSE_SLOW)} | too much waited to be read; before that, book deltas give way to a snapshot |

A notice \`{method: "unsubscribed", params: {source, reason}}\` says that a delegation was revoked. The server pings every 30 seconds and ends connections that do not answer.

## TypeScript client

\`\`\`ts
import { HttpMatcherClient, pagesOf } from 'orrery/client';

const client = new HttpMatcherClient({ url, signer }); // an ethers Wallet, or eip1193Signer(provider, address)
await client.send('submitOrder', order); // logs in, chooses a nonce, signs; repeats safely by the nonce
for await (const { body } of pagesOf(client, 'getTrades', { symbol })) use(body);
const feeds = client.feeds(); // comes back when its connection is lost, and reads what it missed
for await (const update of await feeds.subscribe('order', { account })) use(update);
await feeds.send('submitOrder', order); // over the socket
\`\`\`

## Simulation control

Under \`/sim/*\`, with the token of \`--sim-token\`: \`POST deposit | withdraw {account, subaccountIndex?, amount}\`, \`POST oracle | mark {symbol, price}\`,
\`POST funding {symbol, rate}\`, \`POST clock {advanceMs} | {toMs}\` (virtual clock only), \`POST faults {fault, times?, endpoint?, latencyMs?}\` with ${FAULTS.map((fault) => `\`${fault}\``).join(', ')},
\`GET hash\`, \`POST snapshot\`, \`GET journal\`.

## Operator

Under \`/operator/*\`, with the token of \`--operator-token\` (a token of its own, beside \`--sim-token\`; without one these paths do not exist). Each
command is in the journal and in the audit list (docs/RULES.md §13).

| method and path | what it does |
| --- | --- |
| POST \`/operator/markets\` | lists a market; the body is a market's terms as in a configuration file |
| POST \`/operator/markets/{symbol}/terms\` | changes terms; what needs notice comes into force after \`config.termsNoticeMs\` (R-13.1) |
| POST \`/operator/markets/{symbol}/status\` | \`open\`, \`postOnly\`, \`reduceOnly\`, \`cancelOnly\` or \`halted\` (R-13.2) |
| POST \`/operator/markets/{symbol}/delist\` | settles every position at the index, or at a stated price within the band of the last index |
| POST \`/operator/insurance/credit\` | deposits to insurance; pays the shortfall first |
| POST \`/operator/deposit\`, \`/operator/withdraw\` | deposits for, or withdraws from, an account; a withdrawal obeys R-5.9 and R-6.6 |
| GET \`/operator/audit\` | accepted operator commands, newest first |

## State of prices and risk

Fields beside the contract's (RULES.md R-10.1). Times are in milliseconds.

| read | fields |
| --- | --- |
| \`GET /price\`, \`/summary\`, their feeds | \`status\`, \`frozen\`, \`frozenSince\`, \`markComposition\`, \`nextFundingTime\`, \`indicativeFundingRate\`, \`fundingSamples\` |
| \`GET /markets\`, source \`market\` | \`status\`, \`frozen\`, \`frozenSince\`, \`nextTerms\` (terms whose notice runs, with \`effectiveAt\`), \`maxOpenInterest\` (the limit in force), \`maxOpenInterestNotional\`, \`maxMarkDeviation\`, \`initialMark\`, \`recordedLiquidity\`, \`vaultQuote\`, \`insuranceHourly\`, \`openNotionalLower\`, \`openNotionalUpper\` |
| \`GET /config\` | \`shortfall\` (at most 0), \`shortfallSince\`, \`insuranceBalance\`, \`insuranceAllowance\` (left in this UTC hour), \`vaultNav\`, \`vaultShares\`, \`shortfallAccount\`, \`insuranceAccount\`, \`treasuryAccount\`, \`frozenHaircut\`, \`insuranceHourly\`, \`vaultLeaveShare\`, \`termsNoticeMs\` |
| \`GET /account/positions\`, source \`position\` | \`adlQuantile\`: fifth of the holders of its side in the order of auto-deleveraging (R-6.4); 5 is closed first |
| \`GET /account/transfer/max\` | \`shortfallPart\`: part of a withdrawal of \`amount\` that goes to the shortfall (R-6.6); transfers inside the exchange leave nothing |

\`markComposition\` shows what the mark is made of now: \`source\`, \`index\`, \`smoothed\` (index + EMA of the basis), \`last\` (clipped to the impact prices), \`impactBid\`, \`impactAsk\`, and the bounds \`lowest\` and
\`highest\`. The mark follows at its next recomputation. What a mark does not use, or what is absent, is null. \`indicativeFundingRate\` is the rate of the mean of the \`fundingSamples\` so far; with fewer than half
of an interval's samples the settled rate is 0. \`adlQuantile\` of a feed's update is at most a second old.

The public source \`liquidation\` names no account. \`event\` is \`step\` (\`order\`, \`takeover\`, \`adl\`, \`insurance\`, \`shortfall\`), \`transfer\` (a position closed without the book, by \`takeover\`, \`adl\` or
\`delisting\`) or \`shortfall\` (its new balance). A step about all cross positions of an account has \`symbol\` null; it and changes of the shortfall go to subscriptions of all markets. The source \`market\` sends a
market's record when its status or terms change, and when it freezes or thaws.

Operators see \`/metrics\`: \`orrery_shortfall_usd\`, \`orrery_insurance_usd\`, \`orrery_insurance_allowance_usd\`, \`orrery_vault_nav_usd\`, \`orrery_market_frozen\`, \`orrery_liquidation_steps_total\` and
\`orrery_solvency_violations\` (invariants of R-1.6a that do not hold). The log has a line when a shortfall begins or is paid, and when a market freezes or thaws.

## Error texts

${errors()}

Limits in these texts are examples. [REJECTIONS.md](REJECTIONS.md) lists the refusals of the engine by code, in the order in
which they are checked.
`;
  await expect(page).toMatchFileSnapshot('../../docs/API.md');
});

/**
 * docs/API.md is generated from the tables that the code uses. `npx vitest run test/docs -u` writes
 * it.
 */
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
  referenceUsed,
  marketNotFound,
  MESSAGES,
  noSnapshot,
  storeUnavailable,
  unauthorizedQuery,
  type ErrorReply,
} from '../../src/contract/messages.ts';
import { refusalReply } from '../../src/gateway/refusal-reply.ts';
import { FAULTS } from '../../src/http/injected-faults.ts';
import { CLOSE_SLOW, CLOSE_TOKEN } from '../../src/http/feeds/connection.ts';
import { MAX_FRAGMENTS } from '../../src/http/feeds/feed-server.ts';
import { CLOSE_RATE } from '../../src/http/feeds/message-limits.ts';
import { formatPage } from './format-page.ts';
import { ALL_EXAMPLES } from './refusal-examples.ts';

const ACCESS = {
  public: 'anyone',
  token: 'a token',
  delegate: 'owner or delegate',
  owner: 'owner',
} as const;
const SIGNED = { none: '', owner: 'owner’s signers', delegate: 'owner’s signers, or a delegate' };

const FAULT_EFFECTS: Readonly<Record<(typeof FAULTS)[number], string>> = {
  timeout: '408 `Request timed out`, at once; the request is not carried out',
  nonceStore: '500 `Failed to store auth nonce`, of `getAuth`',
  rateLimit: '429 `Too many requests`; not carried out',
  unavailable: '503 `Service unavailable`; not carried out',
  internalError: '500 `Internal server error: injected fault`; not carried out',
  lostAnswer: 'carried out; then the connection is closed without an answer',
  latency: 'carried out after `latencyMs` (1 to 60000)',
};

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
      return [[`\`${id}\``, String(pages.limit ?? 'no limit'), String(pages.max)]];
    }),
  );
}

function feeds(): string {
  return table(
    ['source', 'update', 'access'],
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
    referenceUsed('<request>'),
    badJson('<detail>'),
    storeUnavailable('<detail>'),
    noSnapshot('<detail>'),
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

test('docs/API.md is generated from the tables of the contract', async () => {
  const page = `# The API

\`npx orrery serve\` serves this API over HTTP; \`InProcessClient\` implements it without a network. This page is
generated from the endpoint table (\`src/contract/endpoints.ts\`) and the message table
(\`src/contract/messages.ts\`). A running server shows every schema at \`/docs\` and \`/openapi.json\`.

GET and DELETE have their fields in the query, lists with commas (\`symbols=A,B\`); POST has them in a body of JSON.
Quantities, prices and money are decimal strings. Counters, nonces and times are integers, exact to 64 bits. The body
of an error is its message as a JSON string, with \`text/plain\`. Endpoints that are not public need the header
\`Authorization: Bearer <token>\`.

Status 200 is no acceptance of an order. One that the exchange rejects, as for too little margin, is answered with a
record of status \`rejected\` and its \`reason\`.

## Endpoints

${endpoints()}

## Lists

Endpoints with a field \`cursor\` answer lists in pages of at most \`limit\` entries. If there are more, the header
\`${PAGE_HEADERS.next}\` has a cursor; the same request with this \`cursor\` answers the next page. Entries with
times are listed newest first; the candles of one page ascend, and the next page is older. A cursor names the last
entry shown, so new entries cause neither duplicates nor gaps. It is valid as long as the entries are kept, also after
a restart. Between pages \`limit\` may change, other parameters may not. An order that changes moves to the front of
its list; read again with \`updatedFrom\` to see changes.

If a request reaches further back than the retention, the header \`${PAGE_HEADERS.keptSince}\` has the start of the
kept entries (ms). Older entries are neither in the answer nor in \`total\`.

${lists()}

## Login

1. \`GET /auth?account=<address>\` answers \`message\`, \`server_signature\` and \`signing_payload\`.
2. The wallet signs \`signing_payload\` (EIP-191).
3. \`POST /auth\` with \`message\`, \`signature\` and \`server_signature\` answers \`{token, claims}\`. The token is
   valid for 24 hours, and only while the wallet is a signer or a delegate.

Orders and account requests are EIP-712 typed data; \`GET /config\` has the domain and the types. Absent fields are
signed as \`""\`, \`0\` or the empty struct, decimals as they are sent. A signature is r, s and v (27 or 28), with the
lower s. The id of an order is the signed digest, in hex without \`0x\`. \`x-signing-vectors\` of \`/openapi.json\` has a
key with signatures, for the test of a client.

A nonce is used once: of orders in a subaccount, of other signed requests in an account. It is above the 1024th highest
that was used, so a client may count up from the time in milliseconds.

A wallet that never deposited is an empty account. Its reads and cancels answer lists without entries, amounts of 0, or
\`Order not found\`. Orders, transfers, margin, delegates and signers are refused with \`Account not found\` until the
first deposit. An absent or empty \`subaccountIndex\` of \`getBalance\` and \`getDelegates\` lists all subaccounts.

## Feeds

\`/ws\` uses JSON-RPC 2.0; \`/asyncapi.json\` has every schema. The requests of a connection run in the order of
arrival. An update is \`{type, data}\`, such as \`{"type": "Trade", "data": {…}}\`. Each answer has \`usIn\`, \`usOut\` and \`usDiff\` (microseconds at the server). \`data.status\` of an error
is the HTTP status, \`message\` the same text as over HTTP.

| method | params | |
| --- | --- | --- |
| \`auth\` | \`bearer\` | later requests use this token; answers its claims |
| \`subscribe\`, \`unsubscribe\` | \`source\` with \`symbols\` (public; \`[]\` is all), or \`account\` and \`subaccountIndices\` (private; \`[]\` is all, for the owner) | at most ${String(MAX_SUBSCRIPTIONS)} per connection |
| \`create\` | an order, or \`{type: "batchOrders", orders}\` | answers its records when they are on disk |
| \`cancel\` | \`orderId\`, or \`clientId\` and \`account\`; or \`orderIds\`, \`clientIds\` | as over HTTP |

${feeds()}

\`book\` begins with a snapshot. Each delta has its own and the previous sequence number (quantity \`0\` removes a
level), so a client detects a gap; then it unsubscribes, and subscribes again. A subscription that is held already is
refused. \`stats\` begins with a record, and is sent every five seconds. Other sources begin with the next change: read
the records of orders, positions and balances over HTTP once \`subscribe\` is answered. Of two records of an order, the
one with the higher \`lastUpdateSequenceNumber\` is newer. No update is sent before it is on disk. \`price\` and
\`summary\` of all markets are batched, at most ten times a second.

| close code | |
| --- | --- |
| 1001 | the server shuts down |
| 1008 | a message in more than ${String(MAX_FRAGMENTS)} frames |
| ${String(CLOSE_TOKEN)} | the token has expired, or its wallet is neither signer nor delegate |
| ${String(CLOSE_SLOW)} | too much unread data; before that, a snapshot replaces book deltas |
| ${String(CLOSE_RATE)} | more than 100 messages in a row that were refused with status 429 |

A connection gets an update once, however many of its subscriptions match.

A notice \`{method: "unsubscribed", params: {source, account, subaccountIndices, reason}}\` reports a revoked delegation. The server pings every 30
seconds and closes connections that do not answer.

## TypeScript client

The client logs in, chooses nonces, signs, and repeats failed requests without repeating their effect. Its feeds
reconnect. They read missed trades and fills, and orders, positions, balances and prices as they are; a book starts
again with a snapshot. Missed updates of other sources are not delivered. \`subscribe\` and \`listen\` take
\`onResumed\`, which is called afterwards; its \`unknown\` says why fills, trades or orders may be missing, as when
the server no longer keeps those of that time. Without \`onResumed\` such a feed ends there with a \`FeedError\`: read
the present state, and subscribe again. Several replicas may answer behind one address: a feed waits for one that is
not behind what it has delivered. A feed that the server then refuses ends with that error. The signer is an ethers
wallet, or \`eip1193Signer(provider, address)\`.

\`\`\`js
// client.mjs
import { Wallet } from 'ethers';
import { HttpMatcherClient, pagesOf } from 'orrery/client';

const signer = new Wallet(\`0x\${'1'.padStart(64, '0')}\`);
const client = new HttpMatcherClient({ url: 'http://127.0.0.1:8080', signer });
const account = signer.address;
const [order] = await client.send('submitOrder', {
  account,
  subaccountIndex: 0,
  symbol: 'BTC-USD-PERP',
  orderType: 'limit',
  price: '59000',
  quantity: '0.1',
  expiresAt: 9_007_199_254_740_991,
  originator: '0x0000000000000000000000000000000000000000',
  originatorFee: 0,
  flags: { ioc: false, postOnly: true, reduceOnly: false },
});
console.log(order.status);
for await (const { body } of pagesOf(client, 'getTrades', { symbol: 'BTC-USD-PERP' })) {
  console.log(body);
}
const feeds = client.feeds();
const updates = await feeds.subscribe('order', { account, subaccountIndices: [0] });
await client.call('cancelAllOrders', { account, subaccountIndex: 0 });
for await (const update of updates) {
  console.log(update.status, update.reason);
  break;
}
feeds.close();
\`\`\`

\`\`\`sh
npx orrery serve --sim-token dev &
sim() { curl -sf -X POST "http://127.0.0.1:8080/sim/$1" -H 'authorization: Bearer dev' \\
  -H 'content-type: application/json' -d "$2"; }
sim oracle '{"symbol": "BTC-USD-PERP", "price": "60000"}'
sim deposit '{"account": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf", "amount": "10000"}'
node client.mjs
\`\`\`

## Simulation control

Under \`/sim/*\`, with the token of \`--sim-token\`:

| request | body |
| --- | --- |
| \`POST /sim/deposit\`, \`/sim/withdraw\` | \`{account, subaccountIndex?, amount, reference?}\`; the reference is that of the operator, below |
| \`POST /sim/oracle\`, \`/sim/mark\` | \`{symbol, price}\` |
| \`POST /sim/funding\` | \`{symbol, rate}\` |
| \`POST /sim/clock\` (virtual clock only) | \`{advanceMs}\` or \`{toMs}\` |
| \`POST /sim/command\` (virtual clock only) | one command of the engine as \`orrery inspect --json\` prints it; \`timeUs\` moves the clock; the answer is \`{outcome}\` |
| \`POST /sim/faults\` | \`{fault, times?, endpoint?, latencyMs?}\`; faults are ${FAULTS.map((fault) => `\`${fault}\``).join(', ')} |
| \`GET /sim/replay\`, \`POST /sim/replay\` (with a pace) | \`{speed?, paused?}\` or \`{stepMs}\`; the answer has \`timeUs\`, \`firstUs\`, \`lastUs\`, \`speed\`, \`pace\`, \`driven\`, \`paused\` and \`ended\` |
| \`GET /sim/hash\`, \`POST /sim/snapshot\`, \`GET /sim/journal\` | |

A replay has a pace on the wall clock, with \`--strategy\`, or while a client drives the virtual
clock. \`stepMs\` plays that much of it and pauses. A market freezes when its last price is older than
\`config.indexStaleMs\` (60 s, R-5.3b): a test that moves the clock further sets the price again.

A fault affects the next \`times\` requests (1; 0 ends it), of \`endpoint\` or of any:

${table(
  ['fault', 'effect'],
  FAULTS.map((fault) => [`\`${fault}\``, FAULT_EFFECTS[fault]]),
)}

## Operator

Under \`/operator/*\`, with the token of \`--operator-token\`; without that token these paths do not exist. Each command
is in the journal and in the audit list (docs/RULES.md §13).

| method and path | what it does |
| --- | --- |
| POST \`/operator/markets\` | lists a market; the body is a market's terms as in a configuration file |
| POST \`/operator/markets/{symbol}/terms\` | changes terms; those that need notice take effect after \`config.termsNoticeMs\` (R-13.1) |
| POST \`/operator/markets/{symbol}/status\` | \`open\`, \`postOnly\`, \`reduceOnly\`, \`cancelOnly\` or \`halted\` (R-13.2) |
| POST \`/operator/markets/{symbol}/delist\` | settles every position at the index, or at a stated price within the band of the last index |
| POST \`/operator/insurance/credit\` | deposits to insurance; pays the shortfall first |
| POST \`/operator/deposit\`, \`/operator/withdraw\` | deposits for, or withdraws from, an account; a withdrawal obeys R-5.9 and R-6.6 |
| GET \`/operator/audit\` | accepted operator commands, newest first |
| GET \`/operator/accounts\` | \`accounts\` with positions, the smallest equity ÷ maintenance first (\`limit\` 50, at most 500), and the number of \`holders\` |
| GET \`/operator/status\` | journal, free disk, snapshots, connections, slow readers (over 1 MiB unsent), and refusals by rate limits |
| POST \`/operator/preview/…\` | each of the writes above, as a preview of its effects |

Deposits, withdrawals and credits, also those of \`/sim\`, take a \`reference\` of 1 to 64 printable ASCII characters. A client that got no
answer sends the same request again: it is made once, and answered as the first time. Another request with that
reference is answered 409 and names the first one. A request that is refused leaves its reference free. References are
in the journal, so a restart and a follower that takes over know them. They are forgotten with their entry of the
audit list, which keeps the newest 10,000 commands, and at least 7,500. Without a reference each request is made.

A preview applies the command to a copy and answers \`now\` and \`afterNotice\`: orders ended, positions closed, the
first 100 liquidation steps, their number of accounts, and the shortfall. \`afterNotice\` is what the terms would do
if they took effect now; it is null if no notice begins. Later prices are unknown. Fields that a
change of terms does not name keep their values, also those of terms whose notice runs. The notice
begins again with each change.

## History of an account

Beside the contract, with the token of the owner or of a delegate of the subaccount. Requests have
\`account\` and \`subaccountIndex\`; the lists have \`from\`, \`to\` (milliseconds, both inclusive),
\`limit\` (100, at most 1000) and \`cursor\`, newest first. Each counts as 2 requests.

| request | content |
| --- | --- |
| \`GET /account/history\` | sums of \`fees\`, \`funding\` and \`realizedPnl\` (before both), number of \`fills\`, and \`since\`; null: from the start of the exchange |
| \`GET /account/history/equity\` | \`time\` and \`equity\` at the end of each \`interval\` (as of candles; \`1m\`) |
| \`GET /account/history/fills\` | records of the feed \`fill\`, with \`order_id\` while the order is kept |
| \`GET /account/history/funding\` | \`symbol\`, \`time\`, \`amount\` received, \`rate\`, \`quantity\`, \`isolated\` |
| \`GET /account/history/liquidations\` | records of the feed \`liquidation\` that concern the account |

Equity is exact: it has the changes before the time, at the last marks before it. The exchange keeps
the newest 2000 entries of each list and account, and three days of marks. If that is more than
100,000 entries in all, the oldest of all are dropped. \`x-kept-since\` says where the history begins
if a request reaches back further.

History is not part of the state. A server rebuilds it from its journal when it starts, if the
journal has its first command, so was not compacted, and is at most 16 MiB. Otherwise, and on a
shared journal, it begins with the process. Damage in a journal that is read ends the start, also
where it is before the snapshot (\`docs/OPERATIONS.md\`).

## Previews of orders

\`POST /preview/order\` and \`/preview/orders\` take the bodies of \`submitOrder\` and \`submitOrders\` with the same
token. Signatures are not checked and may be empty. Nothing is placed and no nonce is used.

| field | content |
| --- | --- |
| \`refusal\` | status and text that the request would get now; null if it is accepted |
| \`orders\` | the records it would answer, with reasons of rejected orders; ids of new orders are those of trust mode |
| \`fills\`, \`fee\` | immediate fills of these orders, and their fees |
| \`before\`, \`after\` | \`stats\` and \`positions\` of the subaccount, liquidation prices included; null if the request is refused |
| \`sequenceNumber\` | the state that the preview is of |

The request runs on a copy of the exchange through the code of the request itself, so the preview holds if the request
is the next command. A preview counts as 5 requests. Copies wait for each other and use at most a fifth of the time of
the server. \`Too many requests\` means that 32 already wait, or 4 of this account. Status 503 means that
previews are off: by \`--previews off\`, or because the exchange is so large that a copy is expected to take more
than 30 ms.

## State of prices and risk

Fields beside those of the contract (RULES.md R-10.1). Times are in milliseconds.

| read | fields |
| --- | --- |
| \`GET /price\`, \`/summary\`, their feeds | \`status\`, \`frozen\`, \`frozenSince\`, \`indexTime\`, \`indexStale\`, \`markComposition\`, \`nextFundingTime\`, \`indicativeFundingRate\`, \`fundingSamples\` |
| \`GET /markets\`, source \`market\` | \`status\`, \`frozen\`, \`frozenSince\`, \`nextTerms\` (terms whose notice runs, with \`effectiveAt\`), \`maxOpenInterest\` (the limit in force), \`maxOpenInterestNotional\`, \`maxMarkDeviation\`, \`initialMark\`, \`recordedLiquidity\`, \`vaultQuote\`, \`insuranceHourly\`, \`openNotionalLower\`, \`openNotionalUpper\` |
| \`GET /config\` | \`shortfall\` (at most 0), \`shortfallSince\`, \`insuranceBalance\`, \`insuranceAllowance\` (left in this UTC hour), \`vaultNav\`, \`vaultShares\`, \`shortfallAccount\`, \`insuranceAccount\`, \`treasuryAccount\`, \`frozenHaircut\`, \`insuranceHourly\`, \`vaultLeaveShare\`, \`termsNoticeMs\` |
| \`GET /account/positions\`, source \`position\` | \`adlQuantile\`: fifth of the holders of its side in the order of auto-deleveraging (R-6.4); 5 is closed first |
| \`GET /account/transfer/max\` | \`shortfallPart\`: part of a withdrawal of \`amount\` that goes to the shortfall (R-6.6); internal transfers leave none |

\`indexTime\` is when the index last had a price; \`indexStale\` is true if that is longer ago than
\`config.indexStaleMs\`. A market whose mark needs the index is also \`frozen\` then.

\`markComposition\` has the inputs of the mark: \`source\`, \`index\`, \`smoothed\` (index + EMA of the basis), \`last\`
(clipped to the impact prices), \`impactBid\`, \`impactAsk\`, and the bounds \`lowest\` and \`highest\`. The mark follows at
its next recomputation. Inputs that are unused or absent are null. \`indicativeFundingRate\` is the rate of the mean of
the \`fundingSamples\` so far. With fewer than half of an interval's samples the settled rate is 0. \`adlQuantile\` is at
most a second old in a feed's update, and in a read where the side has more than 100 holders.

The public source \`liquidation\` names no account. Its \`event\` is \`step\` (\`order\`, \`takeover\`, \`adl\`,
\`insurance\`, \`shortfall\`), \`transfer\` (a position closed without the book, by \`takeover\`, \`adl\` or
\`delisting\`) or \`shortfall\` (its new balance). A step for all cross positions of an account has \`symbol\` null. It and
changes of the shortfall go to subscriptions of all markets. The source \`market\` sends a market's record when its
status or terms change, when it freezes or thaws, and when
its first price fixes \`maxOpenInterest\`.

\`/metrics\` has \`orrery_shortfall_usd\`, \`orrery_insurance_usd\`, \`orrery_insurance_allowance_usd\`,
\`orrery_vault_nav_usd\`, \`orrery_market_frozen\`, \`orrery_liquidation_steps_total\` and
\`orrery_solvency_violations\` (violated invariants of R-1.6a). The log has a line when a shortfall begins or is paid, and
when a market freezes or thaws.

## Error texts

${errors()}

Pages of an origin that \`--cors-origin\` allows can read every refusal. With several
origins there is one exception. A refusal of a request that the server does not read whole (408, 431, malformed, too
many connections) names no origin, and a page sees a failure of the network.

Limits in these texts are examples. [REJECTIONS.md](REJECTIONS.md) lists the refusals of the engine by code, in the order in
which they are checked.
`;
  const formatted = await formatPage(page);
  await expect(formatted).toMatchFileSnapshot('../../docs/API.md');
});

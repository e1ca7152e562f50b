/**
 * Every error text of the API and its status, in one table. Texts of the contract are
 * verbatim; the others name the field or limit. Bodies are JSON strings of these texts.
 */

export interface ErrorReply {
  readonly status: number;
  readonly message: string;
}

export const reply = (status: number, message: string): ErrorReply => ({ status, message });

export const MESSAGES = {
  // Verbatim from the contract.
  requestTimedOut: reply(408, 'Request timed out'),
  nonceStoreFailed: reply(500, 'Failed to store auth nonce'),
  nonceConsumeFailed: reply(401, 'Failed to consume nonce'),
  invalidToken: reply(401, 'Invalid token'),
  missingToken: reply(401, 'Please add the JWT token to the header'),
  periodOnLimit: reply(400, 'May not specify period on Limit order'),
  invalidSignature: reply(403, 'Invalid signature'),
  notDelegated: reply(403, 'Not delegated for account and subaccount'),
  invalidSubaccountIndex: reply(400, 'Invalid subaccount index'),
  orderNotFound: reply(404, 'Order not found'),
  delegationNotAllowed: reply(403, 'Delegation not allowed for request'),
  transferExceedsBalance: reply(400, 'Transfer amount exceeds available balance'),
  signersNotAuthorized: reply(403, 'Not authorized to update signers for this account'),
  symbolNotFound: reply(404, 'Symbol not found'),
  unauthorized: reply(403, 'Unauthorized'),
  accountNotFound: reply(404, 'Account not found'),
  // Cases for which the contract gives no text.
  requestExpired: reply(400, 'Request expired: expiresAt is in the past'),
  nonceUsed: reply(409, 'Nonce already used'),
  targetNotSource: reply(
    403,
    'target must be accountFrom, or accountTo for a transfer from the vault',
  ),
  mixedSignatures: reply(400, 'orders: all must be signed by the same signer'),
  createdAndUpdated: reply(400, 'Created and updated filters cannot be combined'),
  orderIdOrClientId: reply(400, 'orderId, or clientId with account, is required'),
  cursorUnknown: reply(400, 'cursor: is not valid for this list'),
  cursorOfOther: reply(
    400,
    'cursor: was given for other parameters; send those again, only limit may change',
  ),
  depthRange: reply(400, 'Depth must be between 1 and 5000'),
  tooManyRequests: reply(429, 'Too many requests'),
  tooManyAccounts: reply(429, 'Too many new accounts and subaccounts from this address'),
  previewsStopped: reply(503, 'Previews are off: this server makes none, or a copy takes too long'),
  bodyTooLarge: reply(413, 'Request body is too large'),
  headersTooLarge: reply(431, 'Request headers are too large'),
  tooManyHeaders: reply(431, 'Request has more than 100 headers'),
  malformedRequest: reply(400, 'Malformed HTTP request'),
  upgradeNotOffered: reply(400, 'Upgrade: only websocket is offered, at /ws'),
  upgradeRequired: reply(426, 'Upgrade: /ws is a WebSocket'),
  tooManyConnections: reply(503, 'Too many connections'),
  encodingNotOffered: reply(415, 'Content-Encoding: only identity is offered'),
  notJson: reply(415, 'Content-Type must be application/json'),
  routeNotFound: reply(404, 'No such endpoint'),
  shuttingDown: reply(503, 'Shutting down'),
  unavailable: reply(503, 'Service unavailable'),
  simToken: reply(401, 'Please add the simulation token to the header'),
  operatorToken: reply(401, 'Please add the operator token to the header'),
  sharedJournal: reply(400, 'The journal is in PostgreSQL; read it with orrery journal pull'),
  unknownFeed: reply(400, 'feedId is neither the cash feed nor the feed of a market'),
} as const satisfies Record<string, ErrorReply>;

/** Texts with parameters. */
export const marketNotFound = (symbol: string): ErrorReply =>
  reply(404, `Market ${symbol} not found`);
export const limitRange = (max: number, got: string): ErrorReply =>
  reply(400, `Limit must be between 1 and ${String(max)}, got ${got}`);
export const unauthorizedQuery = (account: string): ErrorReply =>
  reply(403, `Unauthorized to query account ${account}`);
export const marginUnauthorized = (account: string): ErrorReply =>
  reply(403, `Unauthorized to change margin for account ${account}`);
export const invalidField = (field: string, problem: string): ErrorReply =>
  reply(400, `${field}: ${problem}`);
/** `of`: the request that had the reference first. */
export const referenceUsed = (of: string): ErrorReply => reply(409, `reference: is that of ${of}`);
export const notOffered = (what: string): ErrorReply =>
  reply(400, `${what} is not offered by this version`);
export const badJson = (detail: string): ErrorReply =>
  reply(400, `body: is not valid JSON: ${detail}`);
export const storeUnavailable = (detail: string): ErrorReply =>
  reply(503, `Writes have stopped: ${detail}`);
export const noSnapshot = (detail: string): ErrorReply => reply(503, `No snapshot: ${detail}`);
export const journalCompacted = (afterSeq: number): ErrorReply =>
  reply(404, `The journal was compacted: it starts after command ${String(afterSeq)}`);
export const internalError = (detail: string): ErrorReply =>
  reply(500, `Internal server error: ${detail}`);

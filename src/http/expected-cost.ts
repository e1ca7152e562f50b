/**
 * Estimates of the cost of a request from its size, for its place among others' work
 * (`FairQueue`). They separate large requests from small ones, which take 0.02 to 0.2 ms.
 */
const BYTE_MS = 20e-6;
const ORDER_MS = 0.025;
const ROW_MS = 0.004;
/** Of a list in a record: levels of a book, or cancels. */
const SHORT_ROW_MS = 0.001;

/** Of reading a body of JSON. */
export function expectedParseMs(bytes: number): number {
  return bytes * BYTE_MS;
}

/** Of a request with these fields: orders of a batch, or rows of a page. */
export function expectedRequestMs(fields: unknown): number {
  if (typeof fields !== 'object' || fields === null) return 0;
  let ms = 0;
  for (const value of Object.values(fields)) {
    if (Array.isArray(value)) ms += value.length * ORDER_MS;
  }
  const limit = 'limit' in fields ? fields.limit : 0;
  const rows = typeof limit === 'object' ? 0 : Number(limit);
  return rows > 0 ? ms + rows * ROW_MS : ms;
}

/** Of writing this body of an answer: a list, or a record of lists. */
export function expectedReplyMs(body: unknown): number {
  if (Array.isArray(body)) return body.length * ROW_MS;
  if (typeof body !== 'object' || body === null) return 0;
  let rows = 0;
  for (const value of Object.values(body)) if (Array.isArray(value)) rows += value.length;
  return rows * SHORT_ROW_MS;
}

/**
 * `orrery/client`: the API over HTTP. Run beside `npx orrery serve`; `URL` names another address.
 */
import { HttpMatcherClient, MatcherError } from 'orrery/client';

const url = process.env['URL'] ?? 'http://127.0.0.1:8080';
const client = new HttpMatcherClient({ url, signer: null });

async function main(): Promise<void> {
  for (const { symbol, tickSize } of await client.call('getMarkets', {})) {
    console.log(symbol, 'tick', tickSize);
  }
  try {
    await client.call('getPrice', { symbol: 'NO-SUCH-PERP' });
  } catch (error) {
    if (!(error instanceof MatcherError)) throw error;
    console.log(error.status, error.message);
  }
}

main().catch((error: unknown) => {
  // A server that does not answer has its address and the reason in the message.
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

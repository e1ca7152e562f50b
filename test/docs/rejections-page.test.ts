/** docs/REJECTIONS.md is made from the codes and the texts that the code has. `npx vitest run test/docs -u` writes it. */
import { expect, test } from 'vitest';
import { END_REASONS } from '../../src/engine/refusals.ts';
import { refusalReply } from '../../src/gateway/refusal-reply.ts';
import { ALL_EXAMPLES } from './refusal-examples.ts';

/** Reasons of rejections in the order of `orderFault` (src/engine/orders/admission.ts), which test/risk/frozen.test.ts follows. */
const REJECTIONS = [
  'halted',
  'delisted',
  'noMarkPrice',
  'staleIndex',
  'priceBand',
  'postOnlyWouldCross',
  'reduceOnly',
  'openOrders',
  'openInterest',
  'insufficientMargin',
] as const satisfies readonly (typeof END_REASONS)[number][];

const names = (list: readonly string[]): string => list.map((name) => `\`${name}\``).join(', ');

function rows(): string {
  let last = '';
  return ALL_EXAMPLES.map((refusal) => {
    const { code, ...data } = refusal;
    const { status, message } = refusalReply(refusal);
    const row = `| ${code === last ? '' : `\`${code}\``} | ${String(status)} | ${message} | ${names(Object.keys(data))} |`;
    last = code;
    return row;
  }).join('\n');
}

test('docs/REJECTIONS.md is current', async () => {
  const page = `# Refusals and rejections

## Refusals

A refused command leaves no record, uses no nonce and emits no event. \`Exchange.apply\` returns the
refusal: an object with its \`code\` and its data (\`src/engine/refusals.ts\`). The gateway formats it
as the status and the text of the reply (\`src/gateway/refusal-reply.ts\`). Scenarios expect the code
as the \`outcome\` of a simulation verb.

Codes are in the order in which they are checked: the first that holds is the outcome. Expiry,
delegation, nonces, clientIds, terms and the rules of groups are stages: each covers all orders of a
group before the next one begins. The gateway asks the engine before it makes a command, so a
refused request has no sequence number. A request that only breaks a rule of groups is a command.

Texts show example limits.

| code | status | text | data |
| --- | --- | --- | --- |
${rows()}

## Rejections

An order that is admitted and then rejected has a record with status \`rejected\`, a \`reason\` and a
used nonce. The checks are in this order:

${REJECTIONS.map((reason) => `1. \`${reason}\``).join('\n')}

Orders of a group may also be rejected as \`parentCancelled\`.
`;
  await expect(page).toMatchFileSnapshot('../../docs/REJECTIONS.md');
});

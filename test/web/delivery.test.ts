/** Delivery of requests: an uncertain answer is repeated, and its outcome read before it is shown. */
import { expect, it } from 'vitest';
import { deliver, Withdrawn, type Progress } from '../../src/web/exchange/delivery.ts';
import { NoAnswer, Refused } from '../../src/web/exchange/requests.ts';

const USED = 'Nonce already used';
const FAILING = Array.from({ length: 5 }, () => '500 fails');

/** `ok`, `lost`, or a status with an optional message. */
function answerOf(row: string): string {
  const [word = '', ...message] = row.split(' ');
  if (word === 'lost') throw new NoAnswer('timeout');
  if (/^\d+$/.test(word)) throw new Refused(Number(word), message.join(' ') || 'refused');
  return word;
}

interface Run {
  readonly outcome: string;
  readonly sent: number;
  readonly states: readonly Progress[];
}

async function run(answers: readonly string[], found: readonly string[] = []): Promise<Run> {
  const [left, looked] = [[...answers], [...found]];
  const states: Progress[] = [];
  const end = new AbortController();
  const outcome = await deliver<string>({
    attempt: () => Promise.resolve().then(() => answerOf(left.shift() ?? 'no more')),
    settle: () =>
      Promise.resolve().then(() => {
        const answer = answerOf(looked.shift() ?? 'unexpected');
        return answer === 'absent' ? null : answer;
      }),
    report: (state) => {
      states.push(state);
      if (state !== 'sending' && left.length === 0 && looked.length === 0) end.abort();
    },
    login: () => Promise.resolve(),
    withdrawn: end.signal,
    pause: () => Promise.resolve(),
  }).catch((error: unknown) => String(error));
  return { outcome, sent: answers.length - left.length, states };
}

it.each<[string, string[], string[], string]>([
  ['an answer', ['ok'], [], 'ok'],
  ['a refusal', ['400 bad'], [], 'Refused: bad'],
  ['a refusal of a first nonce', [`409 ${USED}`], [], `Refused: ${USED}`],
  ['a lost answer, repeated', ['lost', 'ok'], [], 'ok'],
  ['a timeout at the server', ['408', `409 ${USED}`], ['done'], 'done'],
  ['a fault of a proxy', ['502', `409 ${USED}`], ['done'], 'done'],
  ['a fault of the server', ['500', '503', `409 ${USED}`], ['done'], 'done'],
  ['a request that expired in between', ['504', '400 expired'], ['done'], 'done'],
  ['one that expired and was never done', ['504', '400 expired'], ['absent'], 'Refused: expired'],
  ['a look-up that is lost at first', ['lost', `409 ${USED}`], ['lost', '503', 'done'], 'done'],
  [
    'a look-up that is refused, as for the login of another account',
    ['lost', '403 no'],
    ['403 no'],
    'Unsettled: no; it may have been carried out: see the account',
  ],
  ['a session that ended', ['401', 'ok'], [], 'ok'],
  ['a session that ended at the look-up', ['lost', `409 ${USED}`], ['401', 'done'], 'done'],
  ['too many requests, which is certain', ['429', '400 bad'], [], 'Refused: bad'],
  ['a server that fails on and on', [...FAILING], ['absent'], 'Refused: fails'],
  ['a server that failed after the work', [...FAILING], ['done'], 'done'],
  [
    'a server whose look-up fails too',
    [...FAILING],
    [...FAILING],
    'Unsettled: fails; it may have been carried out: see the account',
  ],
  ['a restart between failures', ['500', '500', '500', '500', '503', '500', 'ok'], [], 'ok'],
  ['what the server does not offer', ['501 no'], [], 'Refused: no'],
])('settles %s', async (_, answers, found, outcome) => {
  const result = await run(answers, found);
  expect(result.outcome).toBe(outcome);
  expect(result.sent).toBe(answers.length);
});

it('can be withdrawn while it waits, and says whether it may have been carried out', async () => {
  expect((await run(['lost'])).outcome).toContain(new Withdrawn(true).message);
  expect((await run(['502'])).outcome).toContain(new Withdrawn(true).message);
  expect((await run(['429'])).outcome).toContain(new Withdrawn(false).message);
  expect((await run(['401'])).outcome).toContain(new Withdrawn(false).message);
  expect((await run(['lost', `409 ${USED}`], ['lost'])).outcome).toContain('may have been');
});

it('reports that it waits between two attempts', async () => {
  expect((await run(['lost', '401', 'ok'])).states).toEqual([
    'sending',
    'waiting',
    'sending',
    'login',
    'sending',
  ]);
});

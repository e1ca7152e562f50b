/** A what-if in the worker: edits as text become commands, both runs advance in slices. */
import { absBig } from '../../num/arithmetic.ts';
import { quanta, type SubaccountId } from '../../num/units.ts';
import { parseCommand } from '../../journal/format/command-json.ts';
import { TimelineError, type Timeline } from '../../time-machine/timeline.ts';
import { Branch, type BranchComparison } from '../../time-machine/what-if/branch.ts';
import type { Edit } from '../../time-machine/what-if/edit.ts';
import { parameterEdits } from '../../time-machine/what-if/parameters.ts';
import type { EditText } from './edits.ts';
import { Slices } from './slices.ts';

const BATCH = 16;
const PPM = 1_000_000n;

/** Null when stopped. Throws an error for the reader if an edit is refused. */
export async function runBranch(
  timeline: Timeline,
  texts: readonly EditText[],
  isStopped: () => boolean,
): Promise<BranchComparison | null> {
  const changes = texts.flatMap((text) => (text.kind === 'parameter' ? [text.change] : []));
  const others = texts.filter((text) => text.kind !== 'parameter');
  const branch = new Branch(timeline, [
    ...parameterEdits(timeline, changes),
    ...others.map((text) => editOf(timeline, text)),
  ]);
  const slices = new Slices();
  while (!branch.run(BATCH)) if (!(await slices.next(isStopped))) return null;
  return branch.comparison();
}

function editOf(timeline: Timeline, text: Exclude<EditText, { kind: 'parameter' }>): Edit {
  switch (text.kind) {
    case 'replace':
      return { kind: 'replace', seq: text.seq, command: commandOf(timeline, text.json, text.seq) };
    case 'insert': {
      const { before, json } = text;
      return { kind: 'insert', before, command: commandOf(timeline, json, before) };
    }
    case 'collateral':
      return collateral(timeline, text);
    default:
      return text;
  }
}

function commandOf(timeline: Timeline, json: string, seq: number): ReturnType<typeof parseCommand> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new TimelineError(`not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  return parseCommand(value, timeline.seek(Math.max(timeline.baseSeq, seq - 1)).engine.nowUs);
}

function collateral(timeline: Timeline, text: Extract<EditText, { kind: 'collateral' }>): Edit {
  const { engine } = timeline.seek(Math.max(timeline.baseSeq, text.before - 1));
  if (text.subaccount >= engine.subaccountCount) {
    throw new TimelineError('the account does not exist before this command');
  }
  const id = text.subaccount as SubaccountId;
  const { account, index } = engine.subaccount(id);
  const equity = absBig(engine.margin(id).accountValueQuanta);
  return {
    kind: 'insert',
    before: text.before,
    command: {
      kind: 'deposit',
      timeUs: engine.nowUs,
      account: engine.addressOf(account),
      subaccountIndex: index,
      amount: quanta((equity * BigInt(text.sharePpm)) / PPM),
    },
  };
}

/**
 * The output folder of a search. It belongs to a search that has a log of trials there; files of
 * the same names without a log are of another program, a run or another search, and stay.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileError } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import { RunClaim } from '../../run-plan/run-claim.ts';

/**
 * Creates the folder, or takes one, for this process alone.
 *
 * @param log name of the first log that the search writes
 * @param results names of the files and folders that it writes at its end
 * @throws FileError if another process writes to the folder, or it has such files without a log
 */
export async function claimSearchFolder(
  out: string,
  log: string,
  results: readonly string[],
): Promise<RunClaim> {
  await makeFolder(out);
  const claim = RunClaim.take(out);
  const found = results.find((name) => existsSync(join(out, name)));
  if (found === undefined || existsSync(join(out, log))) return claim;
  claim.release();
  throw new FileError(
    `${join(out, found)}: exists, and the folder has no ${log} of this search; name another folder with --out`,
  );
}

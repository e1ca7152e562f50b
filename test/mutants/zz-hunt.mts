import { mkdtempSync } from 'node:fs'; import { tmpdir } from 'node:os'; import { join } from 'node:path'; import { pathToFileURL, fileURLToPath } from 'node:url';
import { bundle } from './build.ts'; import { MUTANTS } from './mutants.ts';
const scratch = mkdtempSync(join(tmpdir(), 'orrery-hunt-'));
for (const [id, profile] of [['batch-is-not-atomic','groups'],['any-parent-will-do','groups'],['client-id-free-at-once','matching'],['minimum-excludes-itself','matching'],['delegate-may-pay-any-originator-fee','money'],['quorum-beyond-signers','permissions'],['ratio-below-market','stress'],['lock-up-a-moment-long','money'],['equal-nonces-in-batch','groups'],['second-pair-in-batch','groups'],['iceberg-slices-unequal','groups'],['anyone-transfers','permissions']] as const) {
  const mutant = MUTANTS.find((m) => m.id === id)!;
  const file = join(scratch, `${id}.mjs`);
  await bundle(fileURLToPath(new URL('./hunters.ts', import.meta.url)), file, mutant);
  const built = await import(pathToFileURL(file).href);
  const t = Date.now();
  let kill = null; for (const h of ['invariants', 'oracle']) { kill = built.hunt(h, h === 'oracle' ? 120000 : 3000, profile); if (kill) break; }
  console.log(id, kill === null ? 'SURVIVES' : `${kill.hunter} ${kill.what}: ${kill.detail}`.slice(0, 140), `${Date.now() - t} ms`);
}

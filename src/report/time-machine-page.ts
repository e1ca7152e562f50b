/** The time machine as one HTML file: the page of the build, the journal and the engine. */
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync, gzip } from 'node:zlib';
import { makeFolder } from '../platform/make-folder.ts';
import { pageAsset } from '../platform/page-assets.ts';
import { writeWholeFile } from '../platform/whole-file.ts';
import { dataElements, escapeText, type About } from '../design/page-elements.ts';
import { GZIP_LEVEL } from './gzip-level.ts';

/** Element of the build's page that the data replace. */
const PLACE = '<!--journal-->\n';

export interface PageData {
  readonly about: About;
  readonly journal: Uint8Array;
  /** Snapshot before the first command of the journal; null if it has the first one. */
  readonly base: Uint8Array | null;
}

/** Throws `FileError`. */
export async function writeTimeMachine(path: string, data: PageData): Promise<void> {
  await writePacked(path, {
    about: data.about,
    journal: await base64Of(data.journal),
    base: data.base === null ? '' : await base64Of(data.base),
  });
}

/** As `writeTimeMachine`, of data that are compressed already. */
export async function writePacked(path: string, packed: PackedData): Promise<void> {
  const page = gunzipSync(await pageAsset('time-machine.html.gz')).toString('utf8');
  await makeFolder(dirname(path));
  await writeWholeFile(path, partsOf(page, packed));
}

/** Compressed data as base64. */
interface PackedData {
  readonly about: About;
  readonly journal: string;
  readonly base: string;
}

function* partsOf(page: string, { about, journal, base }: PackedData): Iterable<string> {
  const at = page.indexOf(PLACE);
  if (at < 0) throw new Error('dist/assets/time-machine.html.gz is of another version');
  const title = `<title>${escapeText(about.name)} · time machine · Orrery</title>`;
  yield page.slice(0, at).replace(/<title>[^<]*<\/title>/, () => title);
  yield* dataElements(about, journal, base);
  yield page.slice(at + PLACE.length);
}

/** In the thread pool, beside other work. */
async function base64Of(bytes: Uint8Array): Promise<string> {
  return (await promisify(gzip)(bytes, { level: GZIP_LEVEL })).toString('base64');
}

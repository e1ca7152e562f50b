/**
 * Instants that the reader kept with a note. The browser keeps those of all files by the name of
 * the journal, and several journals have one name; so a bookmark has the chain hash of its instant,
 * and a page shows, and shares, only those of its own journal.
 */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Bookmark } from '../../design/page-elements.ts';
import { keep, onKeptElsewhere, readKept } from '../kept.ts';
import type { HashedPlace } from './session.ts';
import { about, engine, opened, progress, scene, seq } from './store.ts';

interface KeptBookmark extends Bookmark, HashedPlace {}

/** Of the file itself, without those that the reader removed. */
const inFile = signal<readonly Bookmark[]>([]);
/** Kept by the browser, and of this journal. */
const own = signal<readonly KeptBookmark[]>([]);

/** One for each command, by command. */
export const bookmarks = computed<readonly Bookmark[]>(() => {
  const all = [...inFile.value, ...own.value];
  const bySeq = new Map(all.map(({ seq: at, note }) => [at, { seq: at, note }]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
});

const storageKey = (): string => `bookmarks:${about.value.name}`;

/** Of all journals with this name. */
function keptBookmarks(): KeptBookmark[] {
  const kept = readKept(storageKey());
  if (!Array.isArray(kept)) return [];
  return kept.filter(
    (one: unknown): one is KeptBookmark =>
      typeof one === 'object' &&
      one !== null &&
      Number.isSafeInteger((one as Partial<KeptBookmark>).seq) &&
      typeof (one as Partial<KeptBookmark>).note === 'string' &&
      typeof (one as Partial<KeptBookmark>).hash === 'string',
  );
}

async function readOwn(): Promise<void> {
  const kept = keptBookmarks();
  const journal = opened.value;
  const places = await engine.own(kept.map(({ seq: at, hash }) => ({ seq: at, hash })));
  if (journal !== opened.value) return;
  const hashes = new Map(places.map(({ seq: at, hash }) => [at, hash]));
  own.value = kept.filter(({ seq: at, hash }) => hashes.get(at) === hash);
}

const isSame = (a: HashedPlace, b: HashedPlace): boolean => a.seq === b.seq && a.hash === b.hash;

/** Marks the shown instant. A browser that refuses storage has it until the page is closed. */
export async function addBookmark(note: string): Promise<void> {
  const [at, shown, journal] = [seq.value, scene.value, opened.value];
  const hash = shown?.seq === at ? shown.chainHash : await engine.hashAt(at);
  if (journal !== opened.value) return;
  const added = { seq: at, note, hash };
  keep(storageKey(), [...keptBookmarks().filter((one) => !isSame(one, added)), added]);
  own.value = [...own.value.filter((one) => one.seq !== at), added];
}

export function removeBookmark(at: number): void {
  const removed = own.value.filter((one) => one.seq === at);
  keep(
    storageKey(),
    keptBookmarks().filter((one) => !removed.some((other) => isSame(one, other))),
  );
  inFile.value = inFile.value.filter((one) => one.seq !== at);
  own.value = own.value.filter((one) => one.seq !== at);
}

/** Those of a journal are known once it is executed. Other tabs of it are followed. */
export function followBookmarks(): void {
  effect(() => {
    const [journal, isComplete] = [opened.value, progress.value?.complete === true];
    untracked(() => {
      if (journal === null || !isComplete) {
        inFile.value = about.value.bookmarks;
        own.value = [];
        // Without storage, those that were added meanwhile stay.
      } else if (keptBookmarks().length > 0) void readOwn();
    });
  });
  onKeptElsewhere((key) => {
    const isExecuted = progress.value?.complete === true;
    if (opened.value !== null && isExecuted && key === storageKey()) void readOwn();
  });
}

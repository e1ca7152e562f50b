/** First page without a journal: files are dropped or chosen. Nothing leaves the machine. */
import { useSignal } from '@preact/signals';
import { NO_ABOUT } from '../../design/page-elements.ts';
import { openSource, problem } from './store.ts';

/** Files of a journal; `folder` names them if they are those of a folder. */
export function openFiles(files: readonly File[], folder = ''): void {
  const [first] = files;
  if (first === undefined) return;
  const named = files.find(({ name }) => name.endsWith('.orrery')) ?? first;
  const name = folder === '' ? named.name.replace(/\.orrery$/, '') : folder;
  void openSource({ kind: 'files', files: [...files] }, { ...NO_ABOUT, name });
}

/** Files of a drop; those of a dropped folder without its subfolders. */
export async function openDropped(transfer: DataTransfer | null): Promise<void> {
  // The list of entries is empty after the first wait.
  const entries = [...(transfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
  const files = [...(transfer?.files ?? [])];
  const [folder] = entries.flatMap((entry) => (entry?.isDirectory === true ? [entry] : []));
  if (folder === undefined) openFiles(files);
  else openFiles(await filesIn(folder as FileSystemDirectoryEntry), folder.name);
}

async function filesIn(folder: FileSystemDirectoryEntry): Promise<File[]> {
  const reader = folder.createReader();
  const files: File[] = [];
  for (;;) {
    // Each call returns a part of the entries, and the last one none.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (part.length === 0) return files;
    for (const entry of part) {
      if (!entry.isFile) continue;
      const one = entry as FileSystemFileEntry;
      files.push(await new Promise<File>((resolve, reject) => one.file(resolve, reject)));
    }
  }
}

/** An attribute that the types of elements lack. */
const OF_FOLDER = { webkitdirectory: true };

export function Opener() {
  const over = useSignal(false);
  return (
    <main class="open">
      <h1>Orrery · time machine</h1>
      <p>
        Opens a journal, executes it in this page, and shows the exchange at any instant. The files
        stay on this machine.
      </p>
      <div
        class={`drop${over.value ? ' over' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => {
          over.value = false;
        }}
        onDrop={(event) => {
          event.preventDefault();
          over.value = false;
          void openDropped(event.dataTransfer);
        }}
      >
        <label>
          Drop a journal or a folder here, or choose files:{' '}
          <input
            id="files"
            type="file"
            multiple
            onChange={({ currentTarget }) => {
              openFiles([...(currentTarget.files ?? [])]);
              // The same file can be chosen again.
              currentTarget.value = '';
            }}
          />
        </label>
        <label>
          … or a folder:{' '}
          <input
            id="folder"
            type="file"
            {...OF_FOLDER}
            onChange={({ currentTarget }) => {
              const all = [...(currentTarget.files ?? [])];
              const [folder = ''] = all[0]?.webkitRelativePath.split('/') ?? [];
              // Files of subfolders have longer paths.
              const own = all.filter((file) => file.webkitRelativePath.split('/').length === 2);
              openFiles(own, folder);
              currentTarget.value = '';
            }}
          />
        </label>
        <p class="small soft">
          <code>journal.orrery</code> of a run, or the folder of a served exchange: its files{' '}
          <code>journal-….orrery</code> and, if it was compacted, <code>snapshot-….bin</code>
        </p>
      </div>
      {problem.value === null ? null : (
        <p class="error" role="alert">
          {problem.value}
        </p>
      )}
    </main>
  );
}

/** Values that the browser keeps for the next visit; pages from a file may be refused storage. */

export function readKept(key: string): unknown {
  try {
    const text = localStorage.getItem(`orrery:${key}`);
    return text === null ? null : (JSON.parse(text) as unknown);
  } catch {
    return null;
  }
}

/** Calls back with the key when another tab keeps a value. */
export function onKeptElsewhere(listener: (key: string) => void): void {
  addEventListener('storage', ({ key }) => {
    if (key?.startsWith('orrery:') === true) listener(key.slice('orrery:'.length));
  });
}

/** Returns false if the browser refused. */
export function keep(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(`orrery:${key}`, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

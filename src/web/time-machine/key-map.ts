/** Keys of the time machine. None acts while the focus is in an input. */
export type KeyAction =
  | 'stepBack'
  | 'step'
  | 'jumpBack'
  | 'jump'
  | 'playBack'
  | 'pause'
  | 'play'
  | 'zoomIn'
  | 'zoomOut'
  | 'panBack'
  | 'pan'
  | 'runBack'
  | 'run'
  | 'addBreakpoint'
  | 'mark'
  | 'fork'
  | 'search'
  | 'kind'
  | 'why'
  | 'firstLiquidation'
  | 'lastFill'
  | 'firstRefusal'
  | 'firstViolation'
  | 'first'
  | 'last'
  | 'help'
  | 'clear';

/** Keys, action, description; in the order of the list of keys. */
export const KEYS: readonly (readonly [
  keys: readonly string[],
  action: KeyAction,
  text: string,
])[] = [
  [['ArrowLeft'], 'stepBack', 'one command back'],
  [['ArrowRight'], 'step', 'one command forward'],
  [['Shift+ArrowLeft'], 'jumpBack', 'previous of the chosen kind'],
  [['Shift+ArrowRight'], 'jump', 'next of the chosen kind'],
  [['j'], 'playBack', 'play backwards'],
  [['k', ' '], 'pause', 'pause'],
  [['l'], 'play', 'play'],
  [['w', '+'], 'zoomIn', 'zoom in'],
  [['s', '-'], 'zoomOut', 'zoom out'],
  [['a'], 'panBack', 'pan left'],
  [['d'], 'pan', 'pan right'],
  [['['], 'runBack', 'run back to a breakpoint'],
  [[']'], 'run', 'run on to a breakpoint'],
  [['b'], 'addBreakpoint', 'add a breakpoint'],
  [['m'], 'mark', 'bookmark this instant'],
  [['f'], 'fork', 'fork here'],
  [['e'], 'kind', 'choose the kind of event, Esc when done'],
  [['/'], 'search', 'search events, Esc when done'],
  [['y'], 'why', 'why: explain the selection'],
  [['1'], 'firstLiquidation', 'first liquidation'],
  [['2'], 'lastFill', 'last fill'],
  [['3'], 'firstRefusal', 'first refusal'],
  [['4'], 'firstViolation', 'first broken invariant'],
  [['Home'], 'first', 'before the first command'],
  [['End'], 'last', 'last command'],
  [['?'], 'help', 'this list'],
  [['Escape'], 'clear', 'clear the selection'],
];

const ACTIONS = new Map(KEYS.flatMap(([keys, action]) => keys.map((key) => [key, action])));
const NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ' ': 'Space',
  Escape: 'Esc',
};

/** Text of a key for the list. */
export function keyName(key: string): string {
  const [last = '', shift] = key === '+' ? ['+'] : key.split('+').reverse();
  const name = NAMES[last] ?? (last.length === 1 ? last.toUpperCase() : last);
  return shift === undefined ? name : `${shift} ${name}`;
}

/** null for keys without an action, and with a modifier that belongs to the browser. */
export function actionOf(event: KeyboardEvent): KeyAction | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (event.target instanceof Element) {
    const within = event.target.closest('input, textarea, select, dialog, [contenteditable]');
    if (within !== null) return null;
    // These keys press the focused button, or move between its tabs.
    const pressed = event.key === ' ' || event.key === 'Enter';
    if (pressed && event.target.closest('button, a, summary') !== null) return null;
    const moves = /^(Arrow|Home|End)/.test(event.key);
    if (moves && event.target.closest('[role=tablist]') !== null) return null;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const shifted = event.shiftKey && key.startsWith('Arrow') ? `Shift+${key}` : key;
  return ACTIONS.get(shifted) ?? null;
}

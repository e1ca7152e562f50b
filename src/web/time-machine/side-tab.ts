/** The chosen tab of the right pane. */
import { signal } from '@preact/signals';

export type SideTab = 'why' | 'account' | 'order' | 'request';
export const sideTab = signal<SideTab>('why');

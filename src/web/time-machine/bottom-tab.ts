/** The chosen table below the charts. */
import { signal } from '@preact/signals';

export type BottomTab = 'events' | 'orders' | 'accounts' | 'ledger' | 'funding' | 'fork';
export const bottomTab = signal<BottomTab>('events');

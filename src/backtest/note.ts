/** A heading and what stands under it: what was assumed, what the data are. */
export interface Note {
  readonly title: string;
  readonly text: string;
}

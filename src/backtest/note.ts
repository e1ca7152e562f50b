/** A titled paragraph of a report: an assumption or a fact about the data. */
export interface Note {
  readonly title: string;
  readonly text: string;
}

/** A titled paragraph of a report: an assumption or a fact about the data. */
export interface Note {
  readonly title: string;
  readonly text: string;
  /** Commands print it as well: figures of the run are doubtful. */
  readonly isWarning?: true;
}

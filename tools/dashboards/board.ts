/** A board of Grafana as a table: rows of panels, each with its expressions for Prometheus. */
export interface Board {
  /** In its address and the name of its file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Whether it shows one server, which is chosen beside the ensemble. */
  readonly isOfOneServer: boolean;
  readonly rows: readonly BoardRow[];
}

export interface BoardRow {
  readonly title: string;
  readonly panels: readonly BoardPanel[];
}

export interface BoardPanel {
  readonly title: string;
  /** The last value as a number, or all of them as lines. Default lines. */
  readonly shape?: "number" | "lines";
  /** By Grafana's identifier. Default a plain number. */
  readonly unit?: string;
  /** The name of each series, and its expression. */
  readonly queries: Readonly<Record<string, string>>;
  /** Values from which on the panel is yellow or red; below the first it is green. */
  readonly steps?: readonly (readonly [from: number, color: "green" | "yellow" | "red"])[];
  /** The shown value, where the title does not name it. */
  readonly shows?: string;
  /** Which values are bad, and what they mean. */
  readonly bad: string;
  /** The operator's remedy. */
  readonly remedy: string;
}

/** The labels of an ensemble's series, and of one server's. */
export const OF_ENSEMBLE = 'job="$job"';
export const OF_SERVER = 'job="$job",instance="$instance"';
/** Grafana makes it at least four scrapes long. */
export const WINDOW = "[$__rate_interval]";

/** Where the data of one server lies. */
export interface DataDirectories {
  readonly dataDir: string;
  /** Where its log lies, if apart from the state. */
  readonly logDir?: string | undefined;
}

/** The same, as the store names them. */
export function storeDirectories({ dataDir, logDir }: DataDirectories): {
  readonly directory: string;
  readonly logDirectory: string;
} {
  return { directory: dataDir, logDirectory: logDir ?? dataDir };
}

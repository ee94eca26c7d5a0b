/** A line of a configuration file. */
export interface Setting {
  readonly key: string;
  readonly value: string;
  /** From 1; undefined where the file is known without its lines. */
  readonly line?: number;
}

/** The configuration of one server. */
export interface ServerSettings {
  /** The file, or the server where only its settings are known. */
  readonly subject: string;
  /** As Java reads it: of settings with one key the last one counts. */
  readonly settings: readonly Setting[];
}

/** The line in force of a setting. */
export function settingOf({ settings }: ServerSettings, name: string): Setting | undefined {
  return settings.findLast(({ key }) => key === name);
}

/** `zoo.cfg, line 7`. */
export function placeOf({ subject }: ServerSettings, { line }: Setting): string {
  return line === undefined ? subject : `${subject}, line ${line}`;
}

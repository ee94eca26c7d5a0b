import { parseProperties } from "zooid-server/internal/configuration/properties";
import type { ConfigurationCase } from "./configuration-case.ts";

/** The settings of a case, as both servers split its files into keys and values. */
export interface CaseFacts {
  /** The lines of all files, in their order. */
  readonly settings: readonly { readonly key: string; readonly value: string }[];
  readonly values: ReadonlyMap<string, string>;
  readonly flags: ReadonlyMap<string, string>;
  readonly isContainer: boolean;
  readonly hasDynamicFile: boolean;
  readonly myid: string | undefined;
}

export function factsOf({ files, flags, environment }: ConfigurationCase): CaseFacts {
  const settings = Object.entries(files)
    .filter(([name]) => name.startsWith("zoo.cfg"))
    .flatMap(([, text]) => parseProperties(text));
  return {
    settings,
    values: new Map(settings.map(({ key, value }) => [key, value])),
    flags: new Map(flags.map((flag) => [flag.slice(0, flag.indexOf("=")), flag.slice(flag.indexOf("=") + 1)])),
    isContainer: environment !== undefined,
    hasDynamicFile: "zoo.cfg.dynamic" in files,
    myid: files["data/myid"],
  };
}

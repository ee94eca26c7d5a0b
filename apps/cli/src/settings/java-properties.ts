import { getProperties } from "properties-file";

/** The settings of a Java properties file, in the order of the file. */
export function parseProperties(text: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(getProperties(text)));
}

import { readdirSync } from "node:fs";
import { formatSegmentName, listSegments } from "../segments/segment-name.ts";

/** The file name of the newest segment in a directory. */
export function newestSegment(directory: string): string {
  const name = listSegments(readdirSync(directory)).at(-1);
  if (name === undefined) throw new Error(`${directory} holds no segment`);
  return formatSegmentName(name);
}

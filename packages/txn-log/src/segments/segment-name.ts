import type { Zxid } from "@zooid/model";

/**
 * The name of a segment: `log-<sequence>-<after>.db`. The sequence (8 decimal digits) orders the segments; `after` (16 hexadecimal
 * digits) is the zxid after which the segment continues. Neither changes while the file exists.
 */
export interface SegmentName {
  readonly sequence: number;
  readonly after: Zxid;
}

/** The segment that is kept ready. */
export const SPARE_FILE = "spare.db";

const PATTERN = /^log-(\d{8})-([0-9a-f]{16})\.db$/;

export function formatSegmentName({ sequence, after }: SegmentName): string {
  return `log-${String(sequence).padStart(8, "0")}-${after.toString(16).padStart(16, "0")}.db`;
}

/** Undefined for a file that is no segment, such as a segment's WAL. */
export function parseSegmentName(file: string): SegmentName | undefined {
  const match = PATTERN.exec(file);
  if (match === null) return undefined;
  return { sequence: Number(match[1]), after: Number.parseInt(match[2] as string, 16) as Zxid };
}

/** The segments among a directory's files, oldest first. */
export function listSegments(files: readonly string[]): SegmentName[] {
  return files
    .map(parseSegmentName)
    .filter((name) => name !== undefined)
    .sort((a, b) => a.sequence - b.sequence);
}

import type { Zxid } from "@zooid/model";

/**
 * The name of a segment: `log-<sequence>-<after>.db`. The sequence (8 decimal digits) orders the
 * segments; `after` (16 hexadecimal digits) is the zxid after which the segment continues. Neither
 * changes while the file exists.
 */
export interface SegmentName {
  readonly sequence: number;
  readonly after: Zxid;
}

/** The mark that names the log's format (`format-mark.ts`). */
export const FORMAT_MARK_FILE = "log.db";
/** The segment that is kept ready. */
export const SPARE_FILE = "spare.db";
/** Staged entries of a synchronization. */
export const STAGE_FILE = "stage.db";

const PATTERN = /^log-(\d{8})-([0-9a-f]{16})\.db$/;
const ANY_FILE = /^(?:log(?:-\d{8}-[0-9a-f]{16})?\.db|spare\.db|spare\.wal|stage\.db)/;

export function formatSegmentName({ sequence, after }: SegmentName): string {
  return `log-${String(sequence).padStart(8, "0")}-${after.toString(16).padStart(16, "0")}.db`;
}

/** Undefined for a file that is no segment, such as a segment's WAL, or the mark of the format. */
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

const OF_SEGMENT = /^log-(\d{8})-[0-9a-f]{16}\.db/;

/** Whether a file is one of a segment's with a smaller sequence: its main file, WAL or index. */
export function isSegmentBefore(file: string, sequence: number): boolean {
  const [, number] = OF_SEGMENT.exec(file) ?? [];
  return number !== undefined && Number(number) < sequence;
}

/** Whether a file of a data directory belongs to the log, and not to the state. */
export function isLogFile(file: string): boolean {
  return ANY_FILE.test(file);
}

import { existsSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Zxid } from "@zooid/model/storage";
import type { LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import type { EntrySink } from "./entry-sink.ts";
import { lockAsReader } from "./readers-lock.ts";
import { SealedSegments } from "./sealed-segments.ts";
import { inspectSegment } from "./segment-directory.ts";
import { formatSegmentName, parseSegmentName } from "./segment-name.ts";
import { SegmentReader } from "./segment-reader.ts";

const RUN_BYTES = 256 * 1024;

/** The content of one segment of a log. */
export interface SegmentSummary {
  readonly after: LogPosition;
  /** Its last entry that the log holds: a cut may have left later ones in the file. */
  readonly end: LogPosition;
  readonly entryCount: number;
  /** Empty for a server without an ensemble. */
  readonly ensembleId: string;
  /** On the disk. */
  readonly bytes: number;
  /** Whether it is written to no more, as the newest segment of its folder says. */
  readonly isSealed: boolean;
  /** Whether its last commit is not whole, as a power cut leaves it: it is not read. */
  readonly isTorn: boolean;
}

/**
 * Hands over the entries of one segment, of a running or a stopped server, each checked against the
 * chain. Nothing is written but the lock file of readers.
 *
 * @throws StoreError
 */
export function readSegment(file: string, sink: EntrySink): SegmentSummary {
  const [directory, name] = [dirname(file), parseSegmentName(basename(file))];
  if (name === undefined) throw damaged(file, "its name", "it is not that of a segment, log-SEQUENCE-ZXID.db");
  using _ = lockAsReader(directory);
  const found = inspectSegment(directory, name);
  if (found === undefined) throw damaged(file, "the first transaction", "it is not there");
  if (found.damage !== undefined) throw found.damage;
  using segments = new SealedSegments(directory);
  const sealed = segments.list().find((each) => each.file === formatSegmentName(name));
  using reader = new SegmentReader(file);
  if (sealed !== undefined) reader.assertEnd(sealed.end);
  const { after } = found.head;
  let [end, entryCount]: [LogPosition, number] = [after, 0];
  const upTo = sealed?.end.zxid ?? (Number.MAX_SAFE_INTEGER as Zxid);
  for (let isAtEnd = end.zxid >= upTo; !isAtEnd; ) {
    const walk = reader.walk(end.zxid, { bytesMax: RUN_BYTES, upTo, chain: end.chain }, sink);
    end = walk.last;
    entryCount += walk.count;
    isAtEnd = walk.count === 0 || end.zxid >= upTo;
  }
  const bytes = [file, `${file}-wal`].reduce((sum, each) => sum + (existsSync(each) ? statSync(each).size : 0), 0);
  const { ensembleId } = found.log.identity;
  const [isSealed, isTorn] = [sealed !== undefined, found.scan.tail === "torn"];
  return { after, end, entryCount, ensembleId, bytes, isSealed, isTorn };
}

function damaged(file: string, place: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place, found });
}

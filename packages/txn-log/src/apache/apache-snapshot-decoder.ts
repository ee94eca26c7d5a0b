import { type ApacheSnapshotParts, SnapshotFile } from "@zooid/wire/apache";
import { refused } from "../snapshots/snapshot-format.ts";

/** Takes a snapshot of Apache's apart; whatever is none is refused as a store refuses it. */
export class ApacheSnapshotDecoder extends SnapshotFile {
  constructor(parts: ApacheSnapshotParts) {
    super(parts, refused);
  }
}

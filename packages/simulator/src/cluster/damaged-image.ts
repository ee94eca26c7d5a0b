import { counterOf, type EpochRange, epochOf, type Zxid } from "@zooid/model";
import type { DiskImage } from "./disk.ts";

/** A disk whose log has lost its last entries, as it is after the server has found the damage. */
export function damagedImage({ log: { log, entries }, states }: DiskImage, keepShare: number): DiskImage {
  const state = states.get(log.stateFile)?.position.zxid ?? log.floor.zxid;
  const behindState = entries.filter(({ zxid }) => zxid > state).length;
  const kept = entries.slice(0, entries.length - behindState + Math.floor(behindState * keepShare));
  const tail = kept.at(-1) ?? log.floor;
  const position = { zxid: tail.zxid, chain: tail.chain };
  const commitHint = Math.min(log.commitHint, tail.zxid) as Zxid;
  const epochs = epochsThrough(log.epochs, tail.zxid);
  return { log: { log: { ...log, tail: position, commitHint, epochs, amnesiac: true }, entries: kept }, states };
}

function epochsThrough(epochs: readonly EpochRange[], zxid: Zxid): readonly EpochRange[] {
  return epochs
    .filter(({ epoch }) => epoch <= epochOf(zxid))
    .map((range) =>
      range.epoch === epochOf(zxid) ? { ...range, last: Math.min(range.last, counterOf(zxid)) } : range,
    );
}

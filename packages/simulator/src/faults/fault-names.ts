/**
 * Every kind of fault, and how often it happens in a run whose seed has drawn it: the mean time
 * between two of a kind, in virtual milliseconds. A plan draws them in this order.
 */
export const MEAN_MS = {
  crash: 3000,
  "crash-loop": 8000,
  "crash-all": 9000,
  "crash-at-install": 3000,
  pause: 4000,
  reset: 1500,
  partition: 5000,
  "one-way": 4000,
  bridge: 7000,
  ring: 7000,
  swizzle: 8000,
  "half-open": 4000,
  clog: 3000,
  "slow-disk": 4000,
  "sync-failure": 6000,
  "full-disk": 7000,
  wipe: 6000,
  checkpoint: 1200,
  "clock-step": 3000,
  "leadership-transfer": 4000,
  "cut-clients": 3000,
  "stale-leader": 7000,
  "crash-at-slice": 3000,
  "damaged-log": 6000,
  "wipe-beside-stale-leader": 7000,
  "late-answers": 7000,
  "wrong-election": 7000,
  "reset-behind-slow-disks": 7000,
  reconfig: 900,
  "crash-at-change": 2500,
  "disks-not-mounted": 6000,
  "edit-files": 1500,
  upgrade: 1500,
  "old-disk": 5000,
  restore: 1200,
  open: 2500,
  close: 4000,
  version: 1600,
  finalize: 700,
} as const;

/**
 * Not drawn like the others: earlier seeds keep their meaning. They happen where a plan says so.
 */
export const DRAWN_APART: readonly (keyof typeof MEAN_MS)[] = [
  "edit-files",
  "upgrade",
  "old-disk",
  "restore",
  "open",
  "close",
  "version",
  "finalize",
];

export type Fault = keyof typeof MEAN_MS;

export const FAULTS: readonly Fault[] = Object.keys(MEAN_MS) as Fault[];

/** Faults by their names, separated by commas. */
export function faultNames(text: string): readonly Fault[] {
  return text.split(",").map((name) => {
    const fault = FAULTS.find((each) => each === name);
    if (fault === undefined) throw new RangeError(`there is no fault "${name}", there are ${FAULTS.join(", ")}`);
    return fault;
  });
}

import { counted } from "@zooid/model";
import type { ScrubDamage, ScrubOptions, ScrubStatus } from "@zooid/txn-log/sqlite";
import { counter, gauge, type Metric, secondsGauge } from "../admin/metric.ts";
import type { LogFields } from "../operators/log-fields.ts";

/** How state file and sealed segments are checked while the server runs. */
export interface ScrubSettings {
  /** Bytes read a second; 0: they are not checked. Default 4 MiB. */
  readonly bytesPerSecond?: number;
  /** From the end of one round to the next, in milliseconds. Default an hour. */
  readonly everyMs?: number;
}

/** The parts that a scrub's reports need. */
export interface ScrubLog {
  error(text: string, fields: LogFields): void;
  info(text: string, fields: LogFields): void;
}

/** Undefined where nothing is to be checked. */
export function scrubOptionsOf(
  { bytesPerSecond, everyMs }: Required<ScrubSettings>,
  isAlone: boolean,
  log: ScrubLog,
): ScrubOptions | undefined {
  if (bytesPerSecond === 0) return undefined;
  return {
    bytesPerSecond,
    everyMs,
    damaged: (damage) => log.error(damageLine(damage, isAlone), { event: "file-damaged" }),
    healed: (file) => log.info(`${file} is damaged no longer, or no longer needed`, { event: "file-healed" }),
  };
}

function damageLine(damage: ScrubDamage, isAlone: boolean): string {
  const { file, place, found } = damage;
  return `${file} is damaged at ${place}: ${found}; ${effectOf(damage)}; ${remedyOf(damage, isAlone)}`;
}

function effectOf({ part, effect }: ScrubDamage): string {
  if (effect === "retired") return "the state file has its entries, and the log drops it";
  if (effect === "rewritten") return "it is rewritten from memory, and will be checked";
  if (part === "state") return "clients are served from memory, and the next start finds the damage";
  return "the state file lacks its entries: the server ends when the state file follows, and the next start finds the damage";
}

function remedyOf({ effect }: ScrubDamage, isAlone: boolean): string {
  if (effect !== "needed") return "nothing is to be done but to look at the disk";
  if (isAlone) return "copy the tree with a client while the server runs, or restore a backup, and look at the disk";
  return "restart this server with zooid.healDamage=true: it recovers from the others";
}

/** The remedy of damage that keeps a server from starting. */
export function startRemedyOf(isAlone: boolean, directories: readonly string[]): string {
  if (!isAlone) return "nothing was changed; start it with zooid.healDamage=true, and it recovers from the others";
  const move = directories.map((directory) => `mv ${directory} ${directory}.damaged`).join(" && ");
  return `nothing was changed; run "${move}", start the server, and restore a snapshot (docs/operations.md)`;
}

/** The check for people: undefined while nothing is damaged. */
export function damageFault({ damaged }: ScrubStatus): string | undefined {
  const [first] = damaged;
  if (first === undefined) return undefined;
  const others = damaged.length === 1 ? "" : `, and ${counted(damaged.length - 1, "more file")}`;
  return `${first.file} is damaged at ${first.place}: ${first.found}; ${effectOf(first)}${others}`;
}

export function* scrubMetrics(status: ScrubStatus | undefined): IterableIterator<Metric> {
  yield counter("zooid_scrub_rounds_total", status?.roundCount ?? 0);
  yield counter("zooid_scrub_bytes_total", status?.bytes ?? 0);
  yield secondsGauge("zooid_scrub_last_round_seconds", status?.lastRoundMs ?? 0);
  yield counter("zooid_scrub_unfinished_rounds_total", status?.unfinishedCount ?? 0);
  yield gauge("zooid_scrub_damaged_files", status?.damaged.length ?? 0);
}

import { statfs } from "node:fs/promises";
import type { DiskRoom } from "@zooid/model";
import type { LogFields } from "../operators/log-fields.ts";
import { type DiskLevel, type DiskOptions, type DiskSpace, diskLevelOf, diskMarksOf } from "./disk-marks.ts";

const LOOK_MS = 500;

/** The surroundings of a guard. */
export interface DiskHost {
  /** Directories of state and log; none for a server in memory. */
  readonly directories: readonly string[];
  readonly options: DiskOptions;
  /**
   * The room on the disk of a directory; rejects where the system does not report it. Default: the
   * system's `statfs`.
   */
  readonly spaceOf?: (directory: string) => Promise<DiskSpace>;
  /** The room for writes has changed. */
  roomChanged(room: DiskRoom): void;
  /** Whether the log keeps no more than it needs has changed. */
  lowChanged(isLow: boolean): void;
  /** There is room for the reserve that a full disk uses up. */
  keepReserve(): Promise<void>;
  info(text: string, fields: LogFields): void;
  warn(text: string, fields: LogFields): void;
}

/**
 * Looks at the free space of the data directories, twice a second, and turns it into what the
 * replica and the log need to know.
 */
export class DiskGuard {
  readonly #host: DiskHost;
  #options: DiskOptions;
  readonly #levels: Map<string, DiskLevel>;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  #isLogWaiting = false;
  #isLow = false;
  #room: DiskRoom = "enough";
  #isStopped = false;

  constructor(host: DiskHost) {
    this.#host = host;
    this.#options = host.options;
    this.#levels = new Map(host.directories.map((directory) => [directory, "roomy"]));
  }

  /** The room for writes. */
  get room(): DiskRoom {
    return this.#room;
  }

  /** Whether the log is to keep no more than it needs. */
  get isLow(): boolean {
    return this.#isLow;
  }

  /** Other limits, from the next look on. */
  change(options: DiskOptions): void {
    this.#options = options;
  }

  /** Looks once, and from then on twice a second. */
  async start(): Promise<void> {
    if (this.#levels.size === 0) return;
    await this.#look();
    if (this.#isStopped || this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  /**
   * A write of the log waits for room, for this reason; or, with `undefined`, it has found room.
   */
  logChanged(missing: string | undefined): void {
    this.#isLogWaiting = missing !== undefined;
    if (missing === undefined) this.#host.info("the log has room on its disk again", { event: "log-has-room" });
    else
      this.#host.warn(`the log waits for room on its disk (${missing}); nothing is acknowledged until there is room`, {
        event: "log-waits-for-room",
      });
    this.#update();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    for (const directory of this.#levels.keys()) await this.#lookAt(directory);
    if (!this.#isStopped) {
      this.#update();
      if (this.#worst === "roomy" && !this.#isLogWaiting) await this.#keepReserve();
    }
    this.#isLooking = false;
  }

  async #lookAt(directory: string): Promise<void> {
    let space: DiskSpace;
    try {
      space = await (this.#host.spaceOf ?? systemSpaceOf)(directory);
    } catch {
      // A disk whose room the system does not report is judged by its writes alone.
      return;
    }
    const before = this.#levels.get(directory) ?? "roomy";
    const level = diskLevelOf(space, before, this.#options);
    if (level === before || this.#isStopped) return;
    this.#levels.set(directory, level);
    this.#report(directory, level, space);
  }

  #report(directory: string, level: DiskLevel, space: DiskSpace): void {
    const { lowBytes, reserveBytes } = diskMarksOf(space.totalBytes, this.#options);
    const disk = `the disk of ${directory} has ${mebibytes(space.freeBytes)} MiB free`;
    switch (level) {
      case "roomy":
        this.#host.info(`${disk}: there is room again`, { event: "disk-has-room" });
        break;
      case "low":
        this.#host.warn(
          `${disk}, less than zooid.disk.lowBytes (${mebibytes(lowBytes)} MiB); the log keeps no more than it needs`,
          { event: "disk-low" },
        );
        break;
      case "reserve":
        this.#host.warn(
          `${disk}, less than zooid.disk.reserveBytes (${mebibytes(reserveBytes)} MiB): this server leads only while no other has ` +
            "room, and then refuses writes that add data; reads, deletes and sessions continue",
          { event: "disk-full" },
        );
        break;
    }
  }

  #update(): void {
    const isLow = this.#worst !== "roomy";
    if (isLow !== this.#isLow) {
      this.#isLow = isLow;
      this.#host.lowChanged(isLow);
    }
    const room = this.#isLogWaiting ? "full" : this.#worst === "reserve" ? "low" : "enough";
    if (room === this.#room) return;
    this.#room = room;
    this.#host.roomChanged(room);
  }

  get #worst(): DiskLevel {
    const levels = [...this.#levels.values()];
    if (levels.includes("reserve")) return "reserve";
    return levels.includes("low") ? "low" : "roomy";
  }

  async #keepReserve(): Promise<void> {
    try {
      await this.#host.keepReserve();
    } catch (error) {
      this.#host.warn(`no reserve is kept for a full disk: ${error instanceof Error ? error.message : String(error)}`, {
        event: "reserve-not-kept",
      });
    }
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

async function systemSpaceOf(directory: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

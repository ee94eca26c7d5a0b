import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { lastSettings } from "@zooid/model/testing/last-settings";
import { Ensemble, type EnsembleOptions, type EnsembleServer } from "../faults/ensemble-servers.ts";
import { BackupAdmin } from "./backup-admin.ts";

const POLL_MS = 200;

/** An ensemble whose members back up to one target, each with an admin port. */
export class BackedUpEnsemble {
  readonly ensemble: Ensemble;
  readonly #admins: ReadonlyMap<EnsembleServer, BackupAdmin>;

  private constructor(ensemble: Ensemble, admins: ReadonlyMap<EnsembleServer, BackupAdmin>) {
    this.ensemble = ensemble;
    this.#admins = admins;
  }

  static async create(options: EnsembleOptions): Promise<BackedUpEnsemble> {
    const ensemble = await Ensemble.create(options);
    const admins = new Map<EnsembleServer, BackupAdmin>();
    for (const server of ensemble.servers) {
      const admin = await BackupAdmin.atFreePort();
      const file = join(server.folder, "zoo.cfg");
      writeFileSync(file, lastSettings([...readFileSync(file, "utf8").split("\n"), ...admin.settings]));
      admins.set(server, admin);
    }
    return new BackedUpEnsemble(ensemble, admins);
  }

  /** Waits for a server that uploads, of those that run. */
  async uploader(deadlineMs: number): Promise<EnsembleServer> {
    const endMs = performance.now() + deadlineMs;
    for (;;) {
      for (const [server, admin] of this.#admins) {
        // One that starts does not answer yet.
        const status = server.isRunning ? await admin.status().catch(() => undefined) : undefined;
        if (status?.["is_uploading"] === true) return server;
      }
      if (performance.now() > endMs) throw new Error(`no server uploads after ${deadlineMs} ms`);
      await delay(POLL_MS);
    }
  }

  /** Asks the server that uploads for a base. */
  async askForBase(): Promise<void> {
    for (const [server, admin] of this.#admins) {
      const status = server.isRunning ? await admin.status().catch(() => undefined) : undefined;
      if (status?.["is_uploading"] === true) await admin.now().catch(() => {});
    }
  }

  /**
   * Has a base taken, by whichever server uploads, without a fault.
   *
   * @returns how long that took, in milliseconds
   */
  async untilComplete(deadlineMs: number): Promise<number> {
    const beginMs = performance.now();
    const admin = this.#admins.get(await this.uploader(deadlineMs));
    await admin?.untilComplete();
    return Math.round(performance.now() - beginMs);
  }
}

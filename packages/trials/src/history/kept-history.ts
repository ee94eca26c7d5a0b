import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { BackupError, openTarget, verifyBackup } from "@zooid/backup";
import {
  exportToApache,
  OfflineError,
  planRestore,
  printChanges,
  printPastNode,
  type RestorePlan,
  type RestoreTarget,
  readTree,
  StoreError,
  withStagedBackup,
} from "@zooid/embedded-server";
import { composeZxid, epochOf, type Zxid } from "@zooid/model";
import type { ApacheTree } from "@zooid/txn-log/sqlite";
import { inspectArchive, restorePlan } from "./restore-archive.ts";

export type RestoreOutcome =
  | {
      readonly kind: "restored";
      readonly tree: ApacheTree;
      /** Names of the log's files that it was made from, and its base's folder. */
      readonly needed: readonly string[];
      readonly base: string;
      readonly zxid: Zxid;
      readonly warnings: readonly string[];
    }
  | { readonly kind: "refused"; readonly message: string };

/** Where a history is kept: `log/` and `base/` below a folder. */
export abstract class KeptHistory {
  readonly folder: string;
  abstract readonly name: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The faults, a sentence each. */
  abstract check(): Promise<readonly string[]>;

  protected abstract withPlan<T>(
    moment: RestoreTarget | undefined,
    dataDir: string,
    warn: (text: string) => void,
    use: (plan: RestorePlan) => Promise<T>,
  ): Promise<T>;

  /**
   * Restores a moment, undefined for the newest one, to a directory that is not there; or exports
   * it as data of Apache ZooKeeper.
   */
  async restore(
    moment: RestoreTarget | undefined,
    dataDir: string,
    how: "restore" | "export" = "restore",
  ): Promise<RestoreOutcome> {
    const warnings: string[] = [];
    const warn = (text: string): unknown => warnings.push(text);
    try {
      const made = await this.withPlan(moment, dataDir, warn, async (plan) => {
        if (how === "restore") await restorePlan(plan, dataDir, warn);
        else await exportToApache({ plan }, { directory: dataDir, takesDamaged: false, warn });
        const needed = plan.files.map(({ file }) => `log/${basename(file)}`);
        return { base: `base/${basename(plan.base.folder)}/`, needed, zxid: plan.zxid };
      });
      return { kind: "restored", tree: await readTree({ path: dataDir }, warn), ...made, warnings };
    } catch (error) {
      if (!(error instanceof StoreError || error instanceof OfflineError || error instanceof BackupError)) throw error;
      return { kind: "refused", message: error.message };
    }
  }

  /** Its files, with their folders. */
  files(): readonly string[] {
    return readdirSync(this.folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /^(?:log|base)\//.test(name) && statSync(join(this.folder, name)).isFile())
      .sort();
  }

  /** First and last transaction of each file of the log, oldest first. */
  logRanges(): readonly { readonly first: Zxid; readonly last: Zxid }[] {
    return this.files().flatMap((name) => {
      const [after, last] = (/^log\/([0-9a-f]{16})-([0-9a-f]{16})$/.exec(name)?.slice(1) ?? []).map(
        (text) => Number.parseInt(text, 16) as Zxid,
      );
      if (after === undefined || last === undefined) return [];
      const firstOfEpoch = composeZxid(epochOf(last), 1);
      return [{ first: Math.max(after + 1, firstOfEpoch) as Zxid, last }];
    });
  }

  /**
   * Whether what is left shows that a file is missing: not where it was the newest of the log, nor
   * the oldest, which is removed with age.
   */
  isMissed(file: string): boolean {
    const logs = this.files().filter((name) => name.startsWith("log/"));
    return !file.startsWith("log/") || (logs.some((name) => name > file) && logs.some((name) => name < file));
  }
}

/** A backup in a directory. */
export class BackupPlace extends KeptHistory {
  override readonly name = "the backup";

  override async check(): Promise<readonly string[]> {
    const scratch = mkdtempSync(join(tmpdir(), "archive-damage-check-"));
    const { problems } = await verifyBackup(this.#target(), scratch);
    rmSync(scratch, { recursive: true });
    return problems;
  }

  protected override withPlan<T>(
    moment: RestoreTarget | undefined,
    dataDir: string,
    warn: (text: string) => void,
    use: (plan: RestorePlan) => Promise<T>,
  ): Promise<T> {
    return withStagedBackup({ target: this.#target(), moment, directories: { dataDir }, warn }, use);
  }

  #target() {
    return openTarget({ target: this.folder });
  }
}

/** Lines that were printed, and the sentence that ended them. */
export interface PrintedLines {
  readonly lines: readonly string[];
  readonly refusal: string | undefined;
}

/** The archive in a server's data directory. */
export class ArchivePlace extends KeptHistory {
  override readonly name = "the archive";

  /** The node at a moment of the past. */
  node(path: string, at: RestoreTarget): PrintedLines {
    return printed((output) => printPastNode(this.folder, { path, at, hasData: true }, output));
  }

  /** All changes, oldest first. */
  changes(): PrintedLines {
    const options = { path: "/", isRecursive: true, after: undefined, hasData: true };
    return printed((output) => printChanges(this.folder, options, output));
  }

  override async check(): Promise<readonly string[]> {
    const { damages, gaps } = inspectArchive(this.folder);
    return [...damages, ...gaps];
  }

  protected override async withPlan<T>(
    moment: RestoreTarget | undefined,
    _dataDir: string,
    _warn: (text: string) => void,
    use: (plan: RestorePlan) => Promise<T>,
  ): Promise<T> {
    return await use(planRestore(this.folder, moment));
  }
}

function printed(run: (output: { print(line: string): void; warn(text: string): void }) => void): PrintedLines {
  const lines: string[] = [];
  try {
    run({ print: (line) => void lines.push(line), warn: () => {} });
    return { lines, refusal: undefined };
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof OfflineError)) throw error;
    return { lines, refusal: error.message };
  }
}

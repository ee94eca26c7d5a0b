import {
  checkRoom,
  type Exported,
  exportToApache,
  planRestore,
  type RestorePlan,
  readSurvivor,
  withStagedBackup,
} from "@zooid/embedded-server";
import { counted, formatZxid } from "@zooid/model";
import { interruptible } from "./interruptible.ts";
import type { ExportCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";
import { progressLines, stateBytes } from "./restore.ts";
import { warnOfUncommitted } from "./snapshot.ts";
import { sourceArchive } from "./source-directory.ts";
import { openNamedTarget } from "./target-options.ts";

/** Apache's default of `jute.maxbuffer`: it loads no field of a snapshot that is longer. */
const APACHE_BUFFER_BYTES = 0xf_ffff;

/**
 * `zooid-server export`: makes a data directory of Apache ZooKeeper's from that of a stopped
 * server, from a history, or from a backup.
 *
 * @throws BackupError, OfflineError and StoreError; nothing is left behind then
 */
export function exportData({ source, to: directory, sessions }: ExportCommand, output: Output): Promise<void> {
  return interruptible("nothing was exported", async (signal) => {
    const { warn } = output;
    const options = { directory, takesDamaged: false, sessions, signal, warn };
    if (!("from" in source)) {
      const survivor = readSurvivor(source.directories);
      warnOfUncommitted(survivor, output);
      return report(
        await exportToApache({ survivor }, { ...options, takesDamaged: source.takesDamaged }),
        options,
        output,
      );
    }
    const use = async (plan: RestorePlan): Promise<void> => {
      checkRoom(directory, stateBytes(plan));
      report(await exportToApache({ plan }, options), options, output);
    };
    const { from, target: moment } = source;
    if (typeof from === "string") return await use(planRestore(sourceArchive(from, [directory]), moment));
    const target = openNamedTarget(from, signal);
    const directories = { dataDir: directory };
    const progress = progressLines(output, target.name);
    await withStagedBackup({ target, moment, directories, signal, warn, progress }, use);
  });
}

function report(
  exported: Exported,
  { directory, sessions }: Pick<ExportCommand, "sessions"> & { readonly directory: string },
  output: Output,
): void {
  const { leftOutCount, nodeCount, sessionCount, leftOutSessionCount, zxid } = exported;
  const leftOut = counted(leftOutCount, "ephemeral znode");
  output.print(`${directory} has ${counted(nodeCount, "znode")} up to ${formatZxid(zxid)}; ${leftOut} left out`);
  if (sessions === "keep")
    output.print(
      `${counted(sessionCount, "session")} kept; ${counted(leftOutSessionCount, "session")} with passwords that Apache does not know ended`,
    );
  for (const flag of flagsFor(exported)) output.warn(flag);
}

/** Flags with which Apache's server must start so as not to refuse or delete some of the data. */
function flagsFor({ dataBytesMax, ttlCount }: Exported): readonly string[] {
  const flags: string[] = [];
  if (ttlCount > 0) {
    flags.push(
      `start Apache ZooKeeper with -Dzookeeper.extendedTypesEnabled=true: ` +
        `without it, a server deletes ${counted(ttlCount, "znode")} with a time to live`,
    );
  }
  if (dataBytesMax > APACHE_BUFFER_BYTES) {
    flags.push(
      `start Apache ZooKeeper with -Djute.maxbuffer=${dataBytesMax} or more: ` +
        `the longest data has ${counted(dataBytesMax, "byte")}`,
    );
  }
  return flags;
}

import { type Exported, type ExportSource, exportToApache, planRestore, readSurvivor } from "@zooid/embedded-server";
import { counted, formatZxid } from "@zooid/model";
import type { ExportCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";
import { archiveOf } from "./restore.ts";
import { warnOfUncommitted } from "./snapshot.ts";

/** Apache's default of `jute.maxbuffer`: it loads no field of a snapshot that is longer. */
const APACHE_BUFFER_BYTES = 0xf_ffff;

/**
 * `zooid-server export`: makes a data directory of Apache ZooKeeper's from that of a stopped
 * server, or from a history.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function exportData({ source, to: directory }: ExportCommand, output: Output): Promise<void> {
  const { warn } = output;
  const takesDamaged = "takesDamaged" in source && source.takesDamaged;
  const exported = await exportToApache(sourceOf(source, output), { directory, takesDamaged, warn });
  const { leftOutCount, nodeCount, zxid } = exported;
  const leftOut = counted(leftOutCount, "ephemeral znode");
  output.print(`${directory} has ${counted(nodeCount, "znode")} up to ${formatZxid(zxid)}; ${leftOut} left out`);
  for (const flag of flagsFor(exported)) output.warn(flag);
}

function sourceOf(source: ExportCommand["source"], output: Output): ExportSource {
  if ("from" in source) return { plan: planRestore(archiveOf(source.from), source.target) };
  const survivor = readSurvivor(source.directories);
  warnOfUncommitted(survivor, output);
  return { survivor };
}

/** What Apache's server has to be started with, for data that it would refuse or delete. */
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

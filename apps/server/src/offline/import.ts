import { type ApacheState, importApache, readApache } from "@zooid/embedded-server";
import { counted } from "@zooid/model";
import type { ImportCommand } from "./offline-command.ts";
import type { Output } from "./recover.ts";

/**
 * `zooid-server import`: makes a data directory from that of a stopped Apache server, or says from
 * what it would.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function importFromApache(command: ImportCommand, output: Output): Promise<void> {
  const { directories, from, isPlan, line, member } = command;
  const { warn } = output;
  const state = await readApache(from, warn);
  if (isPlan) {
    for (const line of planLines(state)) output.print(line);
    return;
  }
  const { ensembleId, nodeCount } = await importApache(state, {
    command: line,
    directories,
    member,
    from: from.dataDir,
    warn,
  });
  const leftOut = counted(state.tree.ephemeralCount, "ephemeral znode");
  output.print(`${directories.dataDir} has ${counted(nodeCount, "znode")} up to ${lastOf(state)}; ${leftOut} left out`);
  if (member !== undefined) {
    output.print(
      `it is server ${member.sid} alone, of the new ensemble ${ensembleId}: all others join with empty directories`,
    );
  }
}

function planLines(state: ApacheState): readonly string[] {
  const { isDigestChecked, logFiles, snapshotFile, tree } = state;
  const { ephemeralCount } = tree;
  return [
    `snapshot: ${snapshotFile ?? "none"}`,
    ...logFiles.map((file) => `log: ${file}`),
    `last transaction: ${lastOf(state)}`,
    `digest: ${isDigestChecked ? "as the server noted it" : "not compared"}`,
    `${counted(tree.nodes.size - ephemeralCount, "znode")}; ${counted(ephemeralCount, "ephemeral znode")} left out`,
  ];
}

function lastOf({ timeMs, zxid }: ApacheState): string {
  const at = `0x${zxid.toString(16)}`;
  return timeMs === undefined ? at : `${at}, of ${timeText(timeMs)}`;
}

/** A clock that was set wrong may have given a time that is no date. */
function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? `${timeMs} ms` : date.toISOString();
}

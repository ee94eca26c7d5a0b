/**
 * Restores a history into new directories, of the state and of the log, below a folder, or exports
 * it to a directory of Apache's there:
 *
 *     node packages/trials/src/faults/power-cut/run-restore.ts restore|export ARCHIVE FOLDER
 */
import { exportToApache, planRestore, restoreHistory } from "@zooid/embedded-server";
import { exportedDirectory, restoredDirectories } from "./restored-directories.ts";

const [, , command = "", archive = "", folder = ""] = process.argv;
const plan = planRestore(archive);
const warn = (): void => {};
if (command === "export") {
  await exportToApache({ plan }, { directory: exportedDirectory(folder), takesDamaged: false, warn });
} else {
  const directories = restoredDirectories(folder);
  await restoreHistory(plan, { directories, command: "the command", member: undefined, keepsSessions: false, warn });
}

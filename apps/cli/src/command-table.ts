import type { Command } from "./command.ts";
import { addWatch } from "./commands/nodes/add-watch.ts";
import { changes } from "./commands/nodes/changes.ts";
import { create } from "./commands/nodes/create.ts";
import { deleteNode } from "./commands/nodes/delete.ts";
import { deleteall } from "./commands/nodes/deleteall.ts";
import { delquota } from "./commands/nodes/delquota.ts";
import { get } from "./commands/nodes/get.ts";
import { getAcl } from "./commands/nodes/get-acl.ts";
import { getAllChildrenNumber } from "./commands/nodes/get-all-children-number.ts";
import { getEphemerals } from "./commands/nodes/get-ephemerals.ts";
import { listquota } from "./commands/nodes/listquota.ts";
import { ls } from "./commands/nodes/ls.ts";
import { removewatches } from "./commands/nodes/removewatches.ts";
import { set } from "./commands/nodes/set.ts";
import { setAcl } from "./commands/nodes/set-acl.ts";
import { setquota } from "./commands/nodes/setquota.ts";
import { stat } from "./commands/nodes/stat.ts";
import { sync } from "./commands/nodes/sync.ts";
import { undo } from "./commands/nodes/undo.ts";
import { watch } from "./commands/nodes/watch.ts";
import { discover } from "./commands/recipes/discover.ts";
import { elect } from "./commands/recipes/elect.ts";
import { lock } from "./commands/recipes/lock.ts";
import { queue } from "./commands/recipes/queue.ts";
import { backup } from "./commands/servers/backup.ts";
import { config } from "./commands/servers/config.ts";
import { diagnose } from "./commands/servers/diagnose.ts";
import { doctor } from "./commands/servers/doctor.ts";
import { fourLetterWord } from "./commands/servers/four-letter-word.ts";
import { leader } from "./commands/servers/leader.ts";
import { loglevel } from "./commands/servers/loglevel.ts";
import { member } from "./commands/servers/member.ts";
import { migrate } from "./commands/servers/migrate.ts";
import { purgeHistory } from "./commands/servers/purge-history.ts";
import { reconfig } from "./commands/servers/reconfig.ts";
import { reload } from "./commands/servers/reload.ts";
import { restore } from "./commands/servers/restore.ts";
import { server } from "./commands/servers/server.ts";
import { status } from "./commands/servers/status.ts";
import { upgrade } from "./commands/servers/upgrade.ts";
import { whoami } from "./commands/servers/whoami.ts";
import { addauth } from "./commands/shell/addauth.ts";
import { close } from "./commands/shell/close.ts";
import { completion } from "./commands/shell/completion.ts";
import { connect } from "./commands/shell/connect.ts";
import { help } from "./commands/shell/help.ts";
import { history } from "./commands/shell/history.ts";
import { printwatches } from "./commands/shell/printwatches.ts";
import { quit } from "./commands/shell/quit.ts";
import { redo } from "./commands/shell/redo.ts";
import { version } from "./commands/shell/version.ts";
import { cp } from "./commands/trees/cp.ts";
import { diff } from "./commands/trees/diff.ts";
import { du } from "./commands/trees/du.ts";
import { edit } from "./commands/trees/edit.ts";
import { exportTree } from "./commands/trees/export.ts";
import { find } from "./commands/trees/find.ts";
import { grep } from "./commands/trees/grep.ts";
import { importTree } from "./commands/trees/import.ts";
import { tree } from "./commands/trees/tree.ts";
import { nearestOf } from "./nearest.ts";

/** All commands, in the order of the usage text. */
export const COMMANDS: readonly Command[] = [
  addWatch,
  addauth,
  backup,
  changes,
  close,
  completion,
  config,
  connect,
  cp,
  create,
  deleteNode,
  deleteall,
  delquota,
  diagnose,
  doctor,
  diff,
  discover,
  du,
  edit,
  elect,
  exportTree,
  find,
  fourLetterWord,
  get,
  getAcl,
  getAllChildrenNumber,
  getEphemerals,
  grep,
  help,
  history,
  importTree,
  listquota,
  lock,
  loglevel,
  ls,
  member,
  migrate,
  printwatches,
  purgeHistory,
  queue,
  quit,
  reconfig,
  redo,
  removewatches,
  reload,
  restore,
  set,
  setAcl,
  setquota,
  stat,
  status,
  leader,
  server,
  sync,
  tree,
  undo,
  upgrade,
  version,
  watch,
  whoami,
];

/** Words of other shells, and zkCli's of earlier versions. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ["cat", "get"],
  ["dir", "ls"],
  ["exit", "quit"],
  ["mkdir", "create"],
  ["rm", "delete"],
  ["rmr", "deleteall"],
  ["touch", "create"],
]);

/**
 * The command that a mistyped name was probably meant to be, or the one for a word of another
 * shell.
 */
export function nearestCommand(name: string): string | undefined {
  const known = OTHER_WORDS.get(name);
  if (known !== undefined) return known;
  return nearestOf(
    COMMANDS.map((command) => command.name),
    name,
  );
}

export const COMMAND_BY_NAME: ReadonlyMap<string, Command> = new Map(
  COMMANDS.map((command) => [command.name, command]),
);

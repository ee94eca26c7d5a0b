import { distance } from "fastest-levenshtein";
import type { Command } from "./command.ts";
import { addWatch } from "./commands/add-watch.ts";
import { addauth } from "./commands/addauth.ts";
import { close } from "./commands/close.ts";
import { completion } from "./commands/completion.ts";
import { config } from "./commands/config.ts";
import { connect } from "./commands/connect.ts";
import { cp } from "./commands/cp.ts";
import { create } from "./commands/create.ts";
import { deleteNode } from "./commands/delete.ts";
import { deleteall } from "./commands/deleteall.ts";
import { delquota } from "./commands/delquota.ts";
import { diff } from "./commands/diff.ts";
import { discover } from "./commands/discover.ts";
import { du } from "./commands/du.ts";
import { edit } from "./commands/edit.ts";
import { elect } from "./commands/elect.ts";
import { find } from "./commands/find.ts";
import { fourLetterWord } from "./commands/four-letter-word.ts";
import { get } from "./commands/get.ts";
import { getAcl } from "./commands/get-acl.ts";
import { getAllChildrenNumber } from "./commands/get-all-children-number.ts";
import { getEphemerals } from "./commands/get-ephemerals.ts";
import { grep } from "./commands/grep.ts";
import { help } from "./commands/help.ts";
import { history } from "./commands/history.ts";
import { listquota } from "./commands/listquota.ts";
import { lock } from "./commands/lock.ts";
import { ls } from "./commands/ls.ts";
import { printwatches } from "./commands/printwatches.ts";
import { queue } from "./commands/queue.ts";
import { quit } from "./commands/quit.ts";
import { reconfig } from "./commands/reconfig.ts";
import { redo } from "./commands/redo.ts";
import { removewatches } from "./commands/removewatches.ts";
import { set } from "./commands/set.ts";
import { setAcl } from "./commands/set-acl.ts";
import { setquota } from "./commands/setquota.ts";
import { stat } from "./commands/stat.ts";
import { status } from "./commands/status.ts";
import { sync } from "./commands/sync.ts";
import { tree } from "./commands/tree.ts";
import { version } from "./commands/version.ts";
import { watch } from "./commands/watch.ts";
import { whoami } from "./commands/whoami.ts";

/** All commands, in the order of the usage text. */
export const COMMANDS: readonly Command[] = [
  addWatch,
  addauth,
  close,
  completion,
  config,
  connect,
  cp,
  create,
  deleteNode,
  deleteall,
  delquota,
  diff,
  discover,
  du,
  edit,
  elect,
  find,
  fourLetterWord,
  get,
  getAcl,
  getAllChildrenNumber,
  getEphemerals,
  grep,
  help,
  history,
  listquota,
  lock,
  ls,
  printwatches,
  queue,
  quit,
  reconfig,
  redo,
  removewatches,
  set,
  setAcl,
  setquota,
  stat,
  status,
  sync,
  tree,
  version,
  watch,
  whoami,
];

/** The command that a mistyped name was probably meant to be. */
export function nearestCommand(name: string): string | undefined {
  const typed = name.toLowerCase();
  const steps = (known: string): number => {
    const lower = known.toLowerCase();
    return typed.length > 1 && lower.startsWith(typed) ? 0 : distance(typed, lower);
  };
  const lengthsApart = (known: string): number => Math.abs(known.length - name.length);
  const [nearest] = COMMANDS.map((command) => command.name).toSorted(
    (a, b) => steps(a) - steps(b) || lengthsApart(a) - lengthsApart(b),
  );
  return nearest !== undefined && steps(nearest) <= Math.min(2, Math.ceil(typed.length / 2)) ? nearest : undefined;
}

export const COMMAND_BY_NAME: ReadonlyMap<string, Command> = new Map(
  COMMANDS.map((command) => [command.name, command]),
);

import { formatZxid, isSameVotes, type Member, type Members, memberLines } from "@zooid/model";

/**
 * The notice where the files of a server list other servers than the configuration that is kept
 * with its data, which is the one in force.
 *
 * @param isChangeable clients change the members (`reconfigEnabled`): the files are not used then.
 *   Otherwise the files say what the configuration is to become
 */
export function keptMembersNotice(
  kept: Members,
  files: readonly Member[],
  isChangeable: boolean,
): { readonly level: "info" | "warn"; readonly text: string } | undefined {
  const version = formatZxid(kept.version);
  if (!isChangeable) {
    if (isSameVotes(kept, { servers: files })) return undefined;
    const text =
      `the list in force (${version}) is kept with the data, and the file of this server lists other servers: ` +
      "it changes when a quorum of both lists has the new one in its files";
    return { level: "info", text };
  }
  if (memberLines(kept.servers).join() === memberLines(files).join()) return undefined;
  const text =
    `the ensemble's servers are those of its last configuration (${version}), which is kept with the data; ` +
    "the files list others, which are not used: reconfig changes them";
  return { level: "warn", text };
}

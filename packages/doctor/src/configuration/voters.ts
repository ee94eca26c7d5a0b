import { hasGroups, type Members } from "@zooid/model";
import { type CliCall, cliCommand, newMember } from "../cli-call.ts";
import { type Finding, finding } from "../finding.ts";

/**
 * Whether a list of servers survives as many failures as its size allows.
 *
 * @param cli undefined where the list is changed by the members' files alone
 */
export function voterFindings(
  subject: string,
  members: Pick<Members, "servers">,
  cli: CliCall | undefined,
): readonly Finding[] {
  // A group may be even by intent: its weights are what counts.
  if (hasGroups(members)) return [];
  const voters = members.servers.filter(({ isObserver }) => !isObserver).map(({ sid }) => sid);
  const count = voters.length;
  if (count % 2 === 1 || count === 0) return [];
  const found =
    count === 2
      ? "2 voters, both of which are needed: none may fail, as with 1"
      : `${count} voters, ${count / 2 + 1} of which are needed: ${count / 2 - 1} may fail, as with ${count - 1}`;
  const last = Math.max(...voters);
  const remedy =
    cli === undefined
      ? `add a voter, or make server ${last} an observer, by the lines server.N in the file of each member, and restart one member after another`
      : `add a voter: ${cliCommand(cli, `member add ${newMember(last + 1)}`)}, or make one an observer: ${cliCommand(cli, `member demote ${last}`)}`;
  return [finding("even-voters", subject, found, remedy)];
}

import type { EstateFile } from "zooid-server/testing/estate-files";

/**
 * Where a member of a file is tried: on this machine, at an address of its own, with ports that are
 * free.
 */
export interface MemberPlace {
  readonly sid: number;
  readonly host: string;
  readonly quorumPort: number;
  readonly electionPort: number;
  readonly clientPort: number;
}

const MEMBER = /^([ \t]*(?:# \| )?server\.(\d+)[ \t]*[=:][ \t]*)(.*)$/gm;
/** A host with or without brackets, and two ports. */
const PEER_ADDRESS = /(?:\[[^\]]*\]|[^\s:|;[\]]+):\d+:\d+/g;

/** The numbers of the servers that the file, or another one that belongs to it, lists. */
export function listedMembers({ text, others }: EstateFile): readonly number[] {
  const lists = [text, ...others.values()].flatMap((each) => [...each.matchAll(MEMBER)]);
  return [...new Set(lists.map(([, , sid]) => Number(sid)))].toSorted((a, b) => a - b);
}

/**
 * The file as one member has it, with the hosts and ports of all members moved to their places: all
 * else, such as roles, groups, several addresses and the address for clients, stays as it is
 * written.
 */
export function movedEstate(file: EstateFile, own: number, places: readonly MemberPlace[]): EstateFile {
  const move = (text: string): string => movedText(text, own, places);
  return {
    ...file,
    text: move(file.text),
    others: new Map([...file.others].map(([name, text]) => [name, move(text)])),
    myid: file.myid === undefined && places.length === 1 ? undefined : String(own),
  };
}

function movedText(text: string, own: number, places: readonly MemberPlace[]): string {
  const clientPort = places.find(({ sid }) => sid === own)?.clientPort ?? 0;
  return text
    .replace(MEMBER, (line, head: string, sid: string, value: string) => {
      const place = places.find((each) => each.sid === Number(sid));
      return place === undefined ? line : head + movedLine(value, place);
    })
    .replace(/^([ \t]*clientPort[ \t]*[=:][ \t]*)\d+/gm, `$1${clientPort}`);
}

function movedLine(value: string, { host, quorumPort, electionPort, clientPort }: MemberPlace): string {
  const [peers = "", client] = value.split(";");
  const moved = peers.replace(PEER_ADDRESS, `${host}:${quorumPort}:${electionPort}`);
  return client === undefined ? moved : `${moved};${client.replace(/\d+(?=\s*$)/, String(clientPort))}`;
}

import { assert } from "../errors/assert.ts";
import { keepCode } from "../errors/cloned-error.ts";
import { errorJson } from "../errors/error-json.ts";
import { parseZxid, ZXID_NONE, type Zxid } from "../protocol/zxid.ts";
import { CLIENTS_LINE, type ClientAccess, DISK_LINE, type Member, type Members, membersOf } from "./members.ts";
import type { ServerId } from "./server-id.ts";
import { parseServerLine } from "./server-line.ts";

/** Reading configurations: those that servers send each other, and those that clients ask for. */

/**
 * Characters of a configuration: as many bytes as a znode has by default. Every line costs work, so
 * a longer text is refused unread.
 */
export const CONFIGURATION_CHARS_MAX: number = 1024 * 1024;
const SID_MAX = 254;
const WEIGHT_MAX = 1_000_000;

/**
 * Where the number of a server is to stand, something else stands: clients of Apache's server get
 * another code for it.
 */
export class ServerNumberError extends RangeError {
  override readonly name = "ServerNumberError";
  readonly code = "SERVER_NUMBER";

  constructor(message: string) {
    super(message);
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

/**
 * @throws RangeError that names the first line that is none of a configuration, or says that the
 *   text is too long
 */
export function parseMembers(text: string): Members {
  if (text.length > CONFIGURATION_CHARS_MAX) {
    throw new RangeError(
      `a configuration has at most ${CONFIGURATION_CHARS_MAX} characters, and this text has ${text.length}`,
    );
  }
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const draft = new MembersDraft();
  for (const line of lines) draft.take(line);
  return draft.members();
}

/** The change that a client requests: a new list of all members, or servers that join and leave. */
export type MembersChange =
  | { readonly kind: "bulk"; readonly members: string }
  | { readonly kind: "incremental"; readonly joining: string | undefined; readonly leaving: string | undefined };

/**
 * The configuration after a change, in the forms of Apache's `reconfig`: lists are separated by
 * commas.
 *
 * @param version of the new configuration
 * @throws RangeError that says what is wrong with the change
 */
export function changedMembers(current: Members, change: MembersChange, version: Zxid): Members {
  const servers = change.kind === "bulk" ? bulk(change.members) : incremental(current, change);
  checkPlaces(servers);
  return membersOf(servers, version, { clients: current.clients });
}

function bulk(text: string): readonly Member[] {
  const lines = text.replaceAll(",", "\n").split("\n");
  // Those of a client mean nothing.
  const { servers } = parseMembers(lines.filter((line) => !line.startsWith("#")).join("\n"));
  return servers;
}

function incremental(
  { servers }: Members,
  { joining, leaving }: Extract<MembersChange, { kind: "incremental" }>,
): readonly Member[] {
  if (servers.some(({ group }) => group !== undefined)) {
    throw new RangeError("an ensemble with groups is changed as a whole: name all of its members");
  }
  const next = new Map<ServerId, Member>(servers.map((server) => [server.sid, server]));
  for (const text of listed(leaving)) {
    if (!/^\d{1,19}$/.test(text))
      throw new ServerNumberError(`a leaving server is named by its number, found "${text}"`);
    next.delete(Number(text) as ServerId);
  }
  for (const text of listed(joining)) {
    const member = joiningMember(text);
    next.set(member.sid, member);
  }
  return [...next.values()];
}

/**
 * `N=…`, as the usage of Apache's zkCli has it, or `server.N=…`. Apache's server reads the number
 * behind the last dot of the name, whatever stands before it.
 */
function joiningMember(text: string): Member {
  const [name, value, ...more] = listed(text, "=");
  if (name === undefined || value === undefined || more.length > 0) {
    throw new RangeError(`a joining server is a line server.N=…, found "${text}"`);
  }
  const number = name.slice(name.lastIndexOf(".") + 1);
  if (!/^\d{1,19}$/.test(number)) throw new ServerNumberError(`${name} names no number`);
  const draft = new MembersDraft();
  draft.server(Number(number), value);
  const [member] = draft.servers();
  assert(member !== undefined, "a line of a server makes a member");
  if (member.clientAddress === undefined) {
    throw new RangeError(`server.${member.sid} names no client port; it stands behind a ";"`);
  }
  return member;
}

function listed(text: string | undefined, separator = ","): readonly string[] {
  return (text ?? "")
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** No two servers listen at one place. */
function checkPlaces(servers: readonly Member[]): void {
  const holders = new Map<string, string>();
  for (const { sid, host, quorumPort, electionPort, clientAddress } of servers) {
    const places: [string, string][] = [
      [`${host.toLowerCase()}:${quorumPort}`, `the quorum port of server.${sid}`],
      [`${host.toLowerCase()}:${electionPort}`, `the election port of server.${sid}`],
    ];
    if (clientAddress !== undefined && clientAddress.host !== undefined && !isWildcard(clientAddress.host)) {
      places.push([`${clientAddress.host.toLowerCase()}:${clientAddress.port}`, `the client port of server.${sid}`]);
    }
    for (const [place, what] of places) {
      const holder = holders.get(place);
      if (holder !== undefined) throw new RangeError(`${place} is ${holder} and ${what}`);
      holders.set(place, what);
    }
  }
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/**
 * A line `name=value` of a configuration, without the blanks around both; undefined for any other
 * line.
 */
export function configurationSetting(line: string): { readonly name: string; readonly value: string } | undefined {
  const equals = line.indexOf("=");
  const name = line.slice(0, Math.max(equals, 0)).trim();
  const value = line.slice(equals + 1).trim();
  return name === "" || /\s/.test(name) || /[\r\u2028\u2029]/.test(value) ? undefined : { name, value };
}

/** Gathers the lines of a configuration. */
class MembersDraft {
  readonly #lines = new Map<ServerId, ReturnType<typeof parseServerLine>>();
  readonly #groups = new Map<ServerId, number>();
  readonly #weights = new Map<ServerId, number>();
  readonly #disks = new Map<ServerId, string>();
  #version: Zxid = ZXID_NONE;
  #clients: ClientAccess = "open";

  take(line: string): void {
    if (line === `${CLIENTS_LINE}closed`) this.#clients = "closed";
    if (line === `${CLIENTS_LINE}closed-again`) this.#clients = "closed-again";
    const isDisk = line.startsWith(DISK_LINE);
    if (line.startsWith("#") && !isDisk) return;
    const { name, value } = configurationSetting(line) ?? { name: "", value: "" };
    const [, kind, number] = /^(server|group|weight)\.(\d{1,9})$/.exec(name) ?? [];
    if (kind === "server") this.server(Number(number), value);
    else if (kind === "group") this.#group(Number(number), value);
    else if (kind === "weight") this.#weight(Number(number), value);
    else if (isDisk) this.#disk(name.slice(DISK_LINE.length), value);
    else if (name === "version") this.#version = parseZxid(value);
    else if (/^(server|group|weight)\./.test(name)) throw new ServerNumberError(`${name} names no number`);
    else throw new RangeError(`a line of a configuration begins with server.N, group.N or weight.N, found "${line}"`);
  }

  members(): Members {
    return membersOf(this.servers(), this.#version, { disks: this.#disks, clients: this.#clients });
  }

  servers(): readonly Member[] {
    const hasGroups = this.#groups.size > 0 || this.#weights.size > 0;
    for (const [what, sids] of [
      ["group", this.#groups.keys()],
      ["weight", this.#weights.keys()],
    ] as const) {
      for (const sid of sids) {
        if (!this.#lines.has(sid)) throw new RangeError(`a ${what} names server ${sid}, which has no line`);
      }
    }
    const servers = [...this.#lines].map(([sid, line]): Member => {
      if (typeof line === "string") throw new RangeError(`server.${sid} ${line}`);
      const { host, quorumPort, electionPort, isObserver, clientAddress } = line;
      const group = this.#groups.get(sid);
      if (hasGroups && !isObserver && group === undefined) throw new RangeError(`server.${sid} is in no group`);
      return {
        sid,
        host,
        quorumPort,
        electionPort,
        isObserver,
        clientAddress: clientAddress === undefined ? undefined : { host: clientAddress.host, port: clientAddress.port },
        group: isObserver ? undefined : group,
        weight: this.#weights.get(sid) ?? 1,
      };
    });
    if (hasGroups && servers.every(({ isObserver, weight }) => isObserver || weight === 0)) {
      throw new RangeError("every vote has the weight 0, so that none counts");
    }
    return servers;
  }

  server(number: number, value: string): void {
    const sid = sidOf(number);
    if (this.#lines.has(sid)) throw new RangeError(`server.${sid} is listed twice`);
    const line = parseServerLine(value);
    if (typeof line === "string") throw new RangeError(`server.${sid} ${line}`);
    for (const port of [line.quorumPort, line.electionPort, line.clientAddress?.port ?? 1]) {
      if (port > 65_535) throw new RangeError(`server.${sid} names the port ${port}, and ports end at 65535`);
    }
    this.#lines.set(sid, line);
  }

  #group(group: number, value: string): void {
    if (!/^\d{1,3}(:\d{1,3})*$/.test(value)) {
      throw new RangeError(`group.${group} names servers by their numbers, like 1:2:3, found "${value}"`);
    }
    for (const text of value.split(":")) {
      const sid = sidOf(Number(text));
      if (this.#groups.has(sid)) throw new RangeError(`server ${sid} is in two groups`);
      this.#groups.set(sid, group);
    }
  }

  /** The server may have no line: an operator may have edited the list. */
  #disk(number: string, value: string): void {
    if (!/^\d{1,3}$/.test(number)) throw new RangeError(`${DISK_LINE}${number} names no number`);
    if (!/^[0-9a-f]{1,32}$/.test(value)) {
      throw new RangeError(`${DISK_LINE}${number} is an id of up to 32 hexadecimal digits, found "${value}"`);
    }
    this.#disks.set(sidOf(Number(number)), value);
  }

  #weight(number: number, value: string): void {
    if (!/^\d{1,7}$/.test(value) || Number(value) > WEIGHT_MAX) {
      throw new RangeError(`weight.${number} is a whole number up to ${WEIGHT_MAX}, found "${value}"`);
    }
    this.#weights.set(sidOf(number), Number(value));
  }
}

function sidOf(number: number): ServerId {
  if (number > SID_MAX) throw new RangeError(`a server's number is 0 to ${SID_MAX}, found ${number}`);
  return number as ServerId;
}

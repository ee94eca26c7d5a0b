/** Facts out of the answers of Apache's servers to four-letter words and at admin ports. */
import type { ApacheLimits, ApacheSession, Setting } from "@zooid/doctor";
import { type AdminFields, adminFields } from "@zooid/model";
import { parseProperties } from "../../settings/java-properties.ts";

/** `conf`, or `/commands/configuration`. */
export interface ServerConfiguration {
  readonly sid: number | undefined;
  readonly clientPort: number | undefined;
  readonly limits: ApacheLimits | undefined;
}

/** Undefined for the answer of a server that does not admit the word. */
export function parseConf(text: string): ServerConfiguration | undefined {
  const number = (name: string): number | undefined => wholeOf(new RegExp(`^${name}=(-?\\d+)$`, "m").exec(text)?.[1]);
  if (number("tickTime") === undefined) return undefined;
  return {
    sid: number("serverId"),
    clientPort: number("clientPort"),
    limits: limitsOf({
      tickMs: number("tickTime"),
      timeoutMsMin: number("minSessionTimeout"),
      timeoutMsMax: number("maxSessionTimeout"),
      connectionsPerAddressMax: number("maxClientCnxns"),
    }),
  };
}

export function configurationOf(fields: AdminFields): ServerConfiguration {
  const number = (name: string): number | undefined => {
    const value = fields[name];
    return typeof value === "number" ? value : undefined;
  };
  return {
    sid: number("server_id"),
    clientPort: number("client_port"),
    limits: limitsOf({
      tickMs: number("tick_time"),
      timeoutMsMin: number("min_session_timeout"),
      timeoutMsMax: number("max_session_timeout"),
      connectionsPerAddressMax: number("max_client_cnxns"),
    }),
  };
}

/** All of them, or nothing that a finding could be made of. */
function limitsOf(found: { readonly [K in keyof ApacheLimits]: number | undefined }): ApacheLimits | undefined {
  const { tickMs, timeoutMsMin, timeoutMsMax, connectionsPerAddressMax } = found;
  if (tickMs === undefined || timeoutMsMin === undefined || timeoutMsMax === undefined) return undefined;
  if (connectionsPerAddressMax === undefined) return undefined;
  return { tickMs, timeoutMsMin, timeoutMsMax, connectionsPerAddressMax };
}

function wholeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

/** A file's settings; of two with one key the last one counts. */
export function settingsOf({ initial_configuration: text }: AdminFields): readonly Setting[] | undefined {
  if (typeof text !== "string") return undefined;
  return [...parseProperties(text)].map(([key, value]) => ({ key, value }));
}

/** Java system properties; undefined where the server does not know the command. */
export function propertiesOf(fields: AdminFields): ReadonlyMap<string, string> | undefined {
  if (typeof fields["java.version"] !== "string") return undefined;
  return new Map(Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Ids of sessions have 64 bits, which are exact as text only. */
const LONG_FIELDS = /("session_id"\s*:\s*)(-?\d+)/g;

/** The answer of `/commands/connections`; undefined for another one. */
export function parseConnections(text: string): readonly ApacheSession[] | undefined {
  const fields = adminFields(text.replaceAll(LONG_FIELDS, '$1"$2"'));
  if (fields === undefined || !Array.isArray(fields["connections"])) return undefined;
  const secure = fields["secure_connections"];
  const rows: readonly unknown[] = [...fields["connections"], ...(Array.isArray(secure) ? secure : [])];
  return rows.flatMap((row) => {
    if (typeof row !== "object" || row === null) return [];
    const { session_id: id, session_timeout: timeoutMs, remote_socket_address: address } = row as AdminFields;
    if (typeof id !== "string" || !/^-?\d{1,19}$/.test(id) || typeof timeoutMs !== "number") return [];
    const session = { id: BigInt.asIntN(64, BigInt(id)), timeoutMs, address: addressOf(address) };
    return session.id === 0n ? [] : [session];
  });
}

/** ` /10.0.0.1:41234[1](queued=0,…,sid=0x1000…,…,to=30000,…)`, one line for each connection. */
export function parseCons(text: string): readonly ApacheSession[] | undefined {
  const lines = text.split("\n").filter((line) => /^ ?\/?\S+\[\d+\]\(/.test(line));
  // Our own connection is always there.
  if (lines.length === 0) return undefined;
  return lines.flatMap((line) => {
    const [, address] = /^ ?\/?(\S+)\[\d+\]\(/.exec(line) ?? [];
    const [, id] = /[(,]sid=0x([0-9a-f]{1,16})[,)]/.exec(line) ?? [];
    const [, timeoutMs] = /[(,]to=(\d+)[,)]/.exec(line) ?? [];
    if (address === undefined || id === undefined || timeoutMs === undefined) return [];
    return [{ id: BigInt.asIntN(64, BigInt(`0x${id}`)), address, timeoutMs: Number(timeoutMs) }];
  });
}

function addressOf(value: unknown): string {
  return typeof value === "string" ? value.replace(/^\//, "") : "an unknown address";
}

/** The number of open local sessions; undefined for versions that do not say it. */
export function parseLocalSessions(mntr: string): number | undefined {
  return wholeOf(/^zk_local_sessions\t(\d+)/m.exec(mntr)?.[1]);
}

/** Epoch of a zxid as `srvr` prints it. */
export function epochOf(zxid: string | undefined): number | undefined {
  if (zxid === undefined || !/^0x[0-9a-f]{1,16}$/.test(zxid)) return undefined;
  return Number(BigInt(zxid) >> 32n);
}
